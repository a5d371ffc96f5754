import pytest

from muniment.pipeline.recall.neutral import inline, lines


def quoted(text: str) -> str:
    return "\n".join(lines(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [c1]", "see (c1)"),
        ("see [ C12 ]", "see (C12)"),
        ("see 【c1】", "see (c1)"),
        ("[\u200bc1\u200b]", "(c1)"),
        ("## records", "\\## records"),
        ("```python", "'''python"),
        ("~~~", "'''"),
        ("> quoted", "\\> quoted"),
        ("- item", "\\- item"),
        ("1. item", "\\1. item"),
        ("![x](http://e.example/p.png)", "![x] (http://e.example/p.png)"),
        ("<img src=x>", "< img src=x>"),
        ("a\x1b[31mred\x07", "a[31mred"),
        ("abc\u202egnp.exe", "abcgnp.exe"),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("a\ud800b", "ab"),
    ],
)
def test_text_can_not_act_or_forge(text: str, shown: str) -> None:
    assert quoted(text) == shown


@pytest.mark.parametrize(
    "newline", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]
)
def test_every_line_end_starts_a_line_of_its_own(newline: str) -> None:
    assert list(lines(f"one{newline}## two")) == ["one", "\\## two"]
    assert inline(f"one{newline}two") == "one two"


def test_plain_text_in_any_script_stays_as_it_is() -> None:
    for text in ("Ann's “note” (3.5 %)", "小明：《周三》搬家！", "Привет, мир", "👩\u200d🚀 ok"):
        assert quoted(text) == text
