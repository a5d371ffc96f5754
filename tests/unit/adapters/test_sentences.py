import pytest

from muniment.adapters.formats.passages import PASSAGE_UNITS, chunks, passages, units
from muniment.adapters.formats.sentences import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met J. Doe. They left.", ["Dr. Smith met J. Doe.", "They left."]),
        ("It costs $3.50 for v1.2.3. Cheap.", ["It costs $3.50 for v1.2.3.", "Cheap."]),
        ("See e.g. page 4. Then stop.", ["See e.g. page 4.", "Then stop."]),
        ("See No. 5 there. He said no. Fine.", ["See No. 5 there.", "He said no.", "Fine."]),
        ('"Really?" she asked. Yes.', ['"Really?"', "she asked.", "Yes."]),
        ("Well... maybe. Visit a.com/?q=1 now.", ["Well... maybe.", "Visit a.com/?q=1 now."]),
        ("今天很好。我们走吧！“好的。”走了", ["今天很好。", "我们走吧！", "“好的。”", "走了"]),
        ("他说；然后……没了", ["他说；", "然后……", "没了"]),
        ("one\n\ntwo", ["one", "two"]),
        ("1. first\n2. second", ["1. first\n2. second"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def cut(text: str, **rules: bool) -> list[str]:
    return [passage.text for passage in passages([text], **rules)]


def test_paragraphs_are_passages() -> None:
    text = "First paragraph, one line.\nAnd another.\n\nSecond paragraph.\n"

    assert cut(text) == ["First paragraph, one line.\nAnd another.", "Second paragraph."]


def test_a_heading_stays_with_what_follows() -> None:
    text = "# Title\n\n## Part\n\nWords follow here.\n\nMore words.\n"

    assert cut(text) == ["# Title\n\n## Part\n\nWords follow here.", "More words."]


def test_a_markdown_heading_starts_a_passage_without_a_blank_line() -> None:
    assert cut("Before.\n# Title\nAfter.", markdown=True) == ["Before.", "# Title\nAfter."]


def test_a_comment_in_a_code_block_is_no_heading() -> None:
    text = "```\nx = 1\n# not a heading\ny = 2\n```\n"

    assert cut(text, markdown=True) == [text.strip()]


def test_a_list_stays_together_with_its_lead_in() -> None:
    text = "Buy these things today:\n\n- milk\n\n- eggs\n\nThen call Bo.\n"

    assert cut(text) == ["Buy these things today:\n\n- milk\n\n- eggs", "Then call Bo."]


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    passages_of_it = cut("This sentence has some words in it. " * 200)

    assert len(passages_of_it) > 3
    assert all(units(text) <= PASSAGE_UNITS and text.endswith("it.") for text in passages_of_it)


def test_a_long_chinese_paragraph_holds_four_hundred_characters_a_passage() -> None:
    passages_of_it = cut("这是一个句子，说的是天气。" * 100)

    assert all(len(text) <= 400 and text.endswith("。") for text in passages_of_it)


def test_tables_are_cut_at_line_ends() -> None:
    rows = "".join(f"{n},some. value,other\n" for n in range(500))

    assert all(text.endswith("other") for text in cut(rows, prose=False))


def test_one_endless_line_is_cut_hard() -> None:
    text = "x" * 100_000

    assert "".join(cut(text)) == text


def test_nothing_visible_gives_nothing() -> None:
    assert list(chunks(" \n\t\r\n\u200b\ufeff \u3000\n")) == []


def test_lines_count_from_one_in_all_newline_styles() -> None:
    found = list(passages(["a.\r\n\r\nb.\r\rc.\n\nd\ne."]))

    assert [(p.line_start, p.line_end) for p in found] == [(1, 1), (3, 3), (5, 5), (7, 8)]


def test_a_newline_split_between_blocks_is_one_newline() -> None:
    assert list(passages(["a.\r", "\n\r", "\nb."])) == list(passages(["a.\r\n\r\nb."]))
