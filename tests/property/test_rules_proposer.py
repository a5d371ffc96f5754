from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.pipeline.proposers.base import Passage
from muniment.pipeline.proposers.guards import reject_reason
from muniment.pipeline.proposers.rules import RulesProposer

WORDS = [
    *(
        "I ",
        "I'm ",
        "my ",
        "live in ",
        "Berlin",
        "allergic to ",
        "nuts",
        "like ",
        "hate ",
        "call me ",
    ),
    *(
        "remember ",
        "that ",
        "not ",
        "if ",
        "he said ",
        "Bob",
        "remind me to ",
        "by Friday",
        "always ",
    ),
    *("use ", "never ", ". ", ", ", "? ", "\n", "“", "”", '"', "> ", "```", "😀", "\ud800", "\x00"),
    *(
        "我",
        "住在",
        "上海",
        "对",
        "花生",
        "过敏",
        "喜欢",
        "不",
        "叫我",
        "小明",
        "请记住",
        "明天",
        "提醒我",
    ),
    *(
        "以后",
        "回答",
        "请用",
        "中文",
        "。",
        "，",
        "？",
        "如果",
        "他说",
        "的",
        "了",
        "记得",
        "會",
        "東",
    ),
]
SAID = {"utc": "9999-12-31T23:59:59.000000Z", "local": "9999-12-31T23:59:59", "offset": "+00:00"}
texts = st.one_of(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), st.text(max_size=200))


@given(texts, st.sampled_from(["user", None]), st.sampled_from(["message", "text", "asr"]))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_fault_and_quoted_exactly(
    text: str, role: str | None, kind: str
) -> None:
    passage = Passage("obs_1", text, kind, "user", role, occurred=SAID)
    drafts = list(RulesProposer().propose([passage]))

    for draft in drafts:
        assert text[draft.evidence.start : draft.evidence.end] == draft.evidence.quote
        assert reject_reason(draft, passage) not in ("quote_mismatch", "role_mismatch", "empty")
    assert len({draft.id for draft in drafts}) == len(drafts)


@given(texts)
@settings(max_examples=100, deadline=None)
def test_the_same_passage_gives_the_same_candidates(text: str) -> None:
    passage = Passage("obs_1", text, "message", "user", "user", occurred=SAID)

    assert list(RulesProposer().propose([passage])) == list(RulesProposer().propose([passage]))
