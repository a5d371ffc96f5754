import pytest

from muniment.pipeline.recall.query import as_asked, shortened, understand

NOW = "2026-03-10T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("the photo of the whiteboard", "image"),
        ("那张照片", "image"),
        ("find the screenshot with the error", "image"),
        ("截图里的密码", "image"),
        ("the voice memo about the budget", "audio"),
        ("录音里说了什么", "audio"),
        ("the video from the beach", "video"),
        ("扫描的合同", "document"),
    ],
)
def test_a_word_for_a_medium_is_a_hint(text: str, family: str) -> None:
    assert family in understand(text, NOW).families


def test_a_word_inside_another_is_no_hint() -> None:
    assert understand("the pictureque audiophile", NOW).families == ()


@pytest.mark.parametrize(
    "text",
    [
        "What did you suggest for dinner?",
        "what the assistant said",
        "你之前建议我吃什么",
        "助手说过什么",
    ],
)
def test_a_question_about_the_assistant_is_recognised(text: str) -> None:
    assert understand(text, NOW).asks_assistant


@pytest.mark.parametrize("text", ["What did Ann suggest?", "Did I agree?", "小明说过什么"])
def test_a_question_about_people_is_not_about_the_assistant(text: str) -> None:
    assert not understand(text, NOW).asks_assistant


def test_framing_words_need_no_echo() -> None:
    query = understand("How many photos did Ann take last week?", NOW)

    assert {"mani", "photo", "week"} <= query.frame
    assert "ann" not in query.frame


def test_capitals_inside_a_sentence_and_numbers_are_names() -> None:
    query = understand("What did Ann pay for 17 chairs?", NOW)

    assert query.names == {"ann", "17"}


def test_an_echo_is_one_short_line() -> None:
    assert shortened("a\nb  c") == "a b c"
    assert len(shortened("x" * 1000)) == 120


def test_missing_words_are_named_as_they_were_asked() -> None:
    text = "Which invoices did 张三 dispute?"

    assert as_asked(text, ["disput", "invoic", "张三"]) == ["invoices", "dispute", "张三"]


@pytest.mark.parametrize("text", ["Where is Doctor Harper's clinic?", "Where is Dr. Harper?"])
def test_a_title_before_a_name_need_not_come_back(text: str) -> None:
    query = understand(text, NOW)
    assert query.frame & {"doctor", "dr"}
    assert "harper" in query.names
