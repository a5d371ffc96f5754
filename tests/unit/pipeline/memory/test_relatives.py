"""Relatives and other names in talk: evidence of relations, never facts about the user."""

import pytest
from support.remembering import Talk

from muniment.pipeline.entities.documents import listing
from muniment.pipeline.entities.relations import Relations
from muniment.pipeline.memory.review import approve
from muniment.pipeline.policy import OFFERED_RULES, Policy, judge
from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.rules import RulesProposer


def read(
    text: str, origin: str = "user", role: str = "user", author: str | None = None
) -> list[CandidateDraft]:
    passage = Passage("obs_1", text, "message", origin=origin, role=role, author=author)
    return list(RulesProposer().propose([passage]))


@pytest.mark.parametrize(
    ("text", "subject", "key", "value"),
    [
        ("My sister Anna is visiting.", "user", "sister", "Anna"),
        ("I had dinner with my younger brother Tom Hill.", "user", "brother", "Tom Hill"),
        ("My wife's name is Carla.", "user", "wife", "Carla"),
        ("my son Max's school is far", "user", "son", "Max"),
        ("Bob is also called Robert.", "Bob", "also_called", "Robert"),
        ("Robert Hill, also known as Bob, called.", "Robert Hill", "also_called", "Bob"),
        ("我妹妹小梅明天来。", "user", "sister", "小梅"),
        ("我跟我妹妹小梅去了杭州。", "user", "sister", "小梅"),
        ("我的大哥名叫李强。", "user", "brother", "李强"),
        ("我妈妈的名字是王芳。", "user", "mother", "王芳"),
        ("王伟也叫老王。", "王伟", "also_called", "老王"),
        ("王伟的英文名叫Victor。", "王伟", "also_called", "Victor"),
    ],
)  # fmt: skip
def test_who_somebody_is_and_what_else_they_are_called_is_read(
    text: str, subject: str, key: str, value: str
) -> None:
    (draft,) = read(text)

    assert (draft.subject, draft.key, draft.value) == (subject, key, value)
    assert draft.kind == "relation"
    assert draft.evidence.quote == draft.text


@pytest.mark.parametrize(
    "text",
    [
        "That is not my sister Anna.", "I never met my uncle Bob.", "Is Bob also called Robert?",
        "If my sister Anna comes, fine.", "Tom said my sister Anna is late.",
        'He wrote "my sister Anna" on it.', "Her sister Anna lives here.",
        "The mall is also called Galleria.", "My sister Friday night was late.",
        "Bob isn't also called Robert.", "My mother tongue is Dutch.",
        "Imagine my sister Anna as a pilot.", "She is also called Robert.",
        "老王又叫王伟吗？", "如果我妹妹小梅来就好了。", "他说我妹妹小梅来了。", "他妹妹小梅来了。",
        "我没有妹妹小梅。", "王伟不叫老王。", "我妹妹小时候很胖。", "我弟弟老是迟到。",
        "北京也叫京城。", "“我妹妹小梅”是书名。", "我哥叫什么？", "我妹妹叫我起床。",
    ],
)  # fmt: skip
def test_what_is_denied_asked_supposed_quoted_or_of_others_relates_nobody(text: str) -> None:
    assert read(text) == []


def test_a_relation_said_by_the_way_waits_and_what_is_asked_to_be_kept_does_not() -> None:
    passage = Passage("obs_1", "My sister Anna is here.", "message", "user", "user")
    (said,) = read(passage.text)

    assert judge(said, passage, Policy()).status == "pending"
    assert judge(said, passage, Policy(rules=OFFERED_RULES)).status == "active"
    kept = {draft.kind for draft in read("Remember that my sister Anna is allergic to nuts.")}
    assert kept == {"relation", "fact"}


def test_another_persons_sister_is_theirs() -> None:
    (draft,) = read("My sister Anna is here.", origin="third_party", author="Bob")

    assert (draft.subject, draft.basis) == ("Bob", "third_party")


def test_an_approved_statement_relates_entities_and_another_name_names_one(talk: Talk) -> None:
    talk.say("My sister Anna is visiting.", "2024-05-01")
    talk.say("Anna is also called Annie.", "2024-05-02")
    with talk.ledger.unit():
        Relations(talk.ledger).read()
    assert [row["status"] for row in talk.ledger.relations.all()] == ["pending"]

    with talk.ledger.unit():
        for row in list(talk.memory.candidates("c.status = 'pending'")):
            assert not approve(talk.ledger, row).refused

    (relation,) = talk.ledger.relations.all()
    assert (relation["relation"], relation["status"]) == ("sister", "active")
    names = {name["name"] for one in listing(talk.ledger) for name in one["names"]}
    assert {"Anna", "Annie"} <= names
