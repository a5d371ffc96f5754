from typing import Any

import pytest

from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.rules import RulesProposer

WEDNESDAY: dict[str, Any] = {
    "utc": "2026-05-06T02:00:00.000000Z",
    "local": "2026-05-06T10:00:00.000000",
    "offset": "+08:00",
}


def said(text: str, **other: Any) -> list[CandidateDraft]:
    fields = {"kind": "message", "origin": "user", "role": "user", "occurred": WEDNESDAY} | other
    return list(RulesProposer().propose([Passage("obs_1", text, **fields)]))


def facts(text: str, **other: Any) -> list[tuple[str | None, str | None]]:
    return [(draft.key, draft.value) for draft in said(text, **other)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("以后叫我小明吧。", [("form_of_address", "小明")]),
        ("请叫我王老师", [("form_of_address", "王老师")]),
        ("你可以叫我“阿杰”", [("form_of_address", "阿杰")]),
        ("請稱呼我為李博士。", [("form_of_address", "李博士")]),
        ("叫我Bob就行", [("form_of_address", "Bob")]),
        ("请记住，我叫李雷", [("name", "李雷")]),
        ("我喜欢喝咖啡。", [("preference:喝咖啡", "like")]),
        ("其实我特别喜欢爬山！", [("preference:爬山", "like")]),
        ("我不喜欢香菜", [("preference:香菜", "dislike")]),
        ("我討厭下雨天", [("preference:下雨天", "dislike")]),
        ("比起茶，我更喜欢咖啡", [("preference:咖啡", "prefer")]),
        ("我最喜欢的颜色是蓝色", [("favourite:颜色", "蓝色")]),
        ("我对花生过敏", [("allergy", "花生")]),
        (
            "我对花生、海鲜和牛奶都过敏。",
            [("allergy", "花生"), ("allergy", "海鲜"), ("allergy", "牛奶")],
        ),
        ("我花粉过敏", [("allergy", "花粉")]),
        ("我有青霉素过敏", [("allergy", "青霉素")]),
        ("我的生日是1990年5月4日", [("birthday", "1990-05-04")]),
        ("我生日是五月四号", [("birthday", "--05-04")]),
        ("我的生日是农历八月十五", [("birthday", "农历八月十五")]),
        ("我1990年5月4日出生", [("birthday", "1990-05-04")]),
        ("我住在上海。", [("home", "上海")]),
        ("我现在住在北京朝阳区", [("home", "北京朝阳区")]),
        ("我家在成都", [("home", "成都")]),
        ("我搬到深圳了", [("home", "深圳")]),
        ("我在华为工作", [("employer", "华为")]),
        ("我是一名软件工程师", [("job", "软件工程师")]),
        ("我的职业是律师", [("job", "律师")]),
        ("我住在上海，我喜欢吃辣", [("home", "上海"), ("preference:吃辣", "like")]),
        ("請記住我對花生過敏", [("allergy", "花生")]),
    ],
)
def test_an_explicit_statement_gives_its_key_and_value(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # negated
        "我对花生不过敏",
        "我不对花生过敏",
        "我没有花粉过敏",
        "我不是医生",
        "我不住在上海",
        "别叫我小明",
        # asked
        "我对花生过敏吗？",
        "我会不会对花生过敏",
        "我是不是住在上海",
        "你还记得我住在上海吗",
        "我喜欢咖啡吗",
        # supposed
        "如果我对花生过敏，就要小心",
        "要是我住在上海就好了",
        "假如我是医生",
        "我也许喜欢咖啡",
        "比如我住在上海",
        # others' words and lives
        "他说我住在上海",
        "他说，我喜欢咖啡",
        "医生告诉我，我对花生过敏",
        "我妈妈对花生过敏",
        "我朋友住在北京",
        "我儿子喜欢恐龙",
        "“我住在上海”是他的台词",
        "小明：我住在上海",
        "大家都说叫我小明",
        # past
        "我以前住在北京",
        "以前，我喜欢喝酒",
        "小时候我喜欢画画",
        # not what it looks like
        "叫我起床",
        "有事叫我一声",
        "叫我怎么办",
        "我叫李雷",
        "我喜欢你",
        "我爱人在上海",
        "我住院了",
        "我住在酒店",
        "我在家工作",
        "我在努力工作",
        "我记得那天",
        "记得上次我们去的地方吗",
        "他提醒我带伞",
        "不用提醒我开会",
        "明天要下雨",
        "我昨天把文件发给你了",
        "以后会好的",
        # nothing said
        "你好",
        "嗯嗯",
        "哈哈哈哈",
        "好的，谢谢！",
        "。。。",
    ],
)
def test_what_is_not_stated_of_oneself_gives_nothing(text: str) -> None:
    assert said(text) == []


def test_the_quote_is_the_exact_words_at_their_offsets() -> None:
    text = "早上好！對了，我對花生過敏。再見"
    (draft,) = said(text)

    assert draft.evidence.quote == "我對花生過敏"
    assert text[draft.evidence.start : draft.evidence.end] == draft.evidence.quote
    assert (draft.basis, draft.subject, draft.rule) == ("user_statement", "user", "zh.allergy")


@pytest.mark.parametrize("text", ["请记住：备用钥匙在蓝色花盆下面。", "帮我记一下，车停在地下二层"])
def test_remember_keeps_what_no_other_rule_knows(text: str) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind, draft.key, draft.instructed) == ("semantic", "fact", None, True)
    assert draft.text == text.rstrip("。")


@pytest.mark.parametrize(
    ("text", "value", "due"),
    [
        ("明天下午三点提醒我开会", "开会", "2026-05-07T15:00"),
        ("提醒我周五交房租", "周五交房租", "2026-05-08"),
        ("记得买牛奶", "买牛奶", None),
        ("明天记得带伞", "带伞", "2026-05-07"),
        ("明天要交报告", "交报告", "2026-05-07"),
        ("我下周一要去体检", "去体检", "2026-05-11"),
        ("你能不能明天提醒我吃药？", "吃药", "2026-05-07"),
    ],
)
def test_a_reminder_is_a_task_with_its_due_time(text: str, value: str, due: str | None) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind, draft.value) == ("prospective", "task", value)
    assert (draft.due_at or {}).get("local") == due


@pytest.mark.parametrize(
    "text", ["我会在周五之前把报告发给你", "我周五前交稿", "我保证周五完成", "我周五把文件发给你"]
)
def test_a_promise_is_an_agreement_with_its_due_time(text: str) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind) == ("prospective", "agreement")
    assert (draft.due_at or {})["local"] == "2026-05-08"


@pytest.mark.parametrize(
    "text",
    [
        "以后回答请用中文。",
        "以后写代码的时候，请先写测试",
        "永远不要用表情符号",
        "回答我的问题时，请用简短的句子",
        "每次写邮件都要用敬语",
    ],
)
def test_a_lesson_for_the_assistant_is_procedural(text: str) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind) == ("procedural", "lesson")
    assert said(text, role=None) == []


def test_a_third_party_speaks_of_itself_alone() -> None:
    (draft,) = said("我住在上海。叫我小红。", origin="third_party", author="小红", role=None)

    assert (draft.subject, draft.key, draft.basis) == ("小红", "home", "third_party")
