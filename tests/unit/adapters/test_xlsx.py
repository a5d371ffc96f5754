from pathlib import Path

import pytest
from support.documents import cell, derived, drafts, outcome, quote_of, read, xlsx

from muniment.adapters.formats.office.numbers import date_text, is_date_format, number_text
from muniment.adapters.formats.office.sheets import Area, area_of, column_of, letters
from muniment.adapters.ports import Limits
from muniment.store.errors import InputError
from muniment.store.records import CellLocator

S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STYLES = (
    f'<styleSheet xmlns="{S}"><numFmts><numFmt numFmtId="200" formatCode="yyyy\\-mm\\-dd hh:mm"/>'
    '</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="200"/></cellXfs>'
    "</styleSheet>"
)


def row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def test_a_table_is_one_passage_with_its_range() -> None:
    rows = row(2, cell("B2", "Year"), cell("C2", "Ducks")) + row(3, cell("C3", "12"))
    data = xlsx({"Birds": rows})

    (draft,) = drafts(read(data))

    assert draft.text == "Year | Ducks\n | 12"
    assert draft.locator == CellLocator(sheet="Birds", range="B2:C3")
    assert quote_of(data, draft) == draft.text


def test_a_blank_row_sets_tables_apart() -> None:
    rows = row(1, cell("A1", "One")) + row(2) + row(3, cell("A3", "Two"))

    assert [draft.locator for draft in drafts(read(xlsx({"S": rows})))] == [
        CellLocator(sheet="S", range="A1"),
        CellLocator(sheet="S", range="A3"),
    ]


def test_a_long_table_is_cut_between_rows_and_its_parts_know_the_header() -> None:
    rows = row(1, cell("A1", "Name")) + "".join(
        row(n, cell(f"A{n}", f"somebody with a long name {n}")) for n in range(2, 200)
    )
    data = xlsx({"S": rows})

    first, *others = drafts(read(data))

    assert len(others) > 2
    assert "header" not in first.attributes
    assert {draft.attributes["header"] for draft in others} == {"Name"}
    assert all(quote_of(data, draft) == draft.text for draft in (first, *others))


def test_cells_show_what_people_see() -> None:
    rows = row(
        1,
        '<c r="A1" s="1"><v>45413</v></c>',
        '<c r="B1" s="2"><v>45413.5</v></c>',
        '<c r="C1"><v>0.30000000000000004</v></c>',
        '<c r="D1"><v>12</v></c>',
        '<c r="E1" t="b"><v>1</v></c>',
        '<c r="F1" t="e"><v>#DIV/0!</v></c>',
        '<c r="G1"><f>SUM(A1:B1)</f><v>7</v></c>',
        '<c r="H1"><f>NOW()</f></c>',
        '<c r="I1" t="s"><v>0</v></c>',
        '<c r="J1" t="s"><v>99</v></c>',
    )
    strings = f'<sst xmlns="{S}"><si><r><t>Ri</t></r><r><t>ch</t></r><rPh><t>x</t></rPh></si></sst>'

    (draft,) = drafts(
        read(xlsx({"S": rows}, {"xl/styles.xml": STYLES, "xl/sharedStrings.xml": strings}))
    )

    assert draft.text == (
        "2024-05-01 | 2024-05-01 12:00 | 0.3 | 12 | TRUE | #DIV/0! | 7 | =NOW() | Rich"
    )


def test_a_sheet_that_claims_to_be_wide_costs_only_its_cells() -> None:
    rows = row(1, cell("A1", "left"), cell("XFD1", "right")) + row(1048576, cell("A1048576", "end"))
    data = xlsx({"S": rows})

    found = drafts(read(data))

    assert [draft.text for draft in found] == ["left | … | right", "end"]
    assert all(quote_of(data, draft) == draft.text for draft in found)


def test_cells_over_the_budget_are_left_out_and_said() -> None:
    rows = "".join(row(n, cell(f"A{n}", "x"), cell(f"B{n}", "y")) for n in range(1, 9))

    found = read(xlsx({"S": rows, "T": rows}), limits=Limits(max_cells=6))

    assert [draft.text for draft in drafts(found)] == ["x | y\nx | y\nx | y"]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "cell_limit")


def test_a_broken_sheet_takes_no_other_with_it() -> None:
    data = xlsx({"A": row(1, cell("A1", "fine")), "B": "<row"})

    found = read(data)

    assert [draft.text for draft in drafts(found)] == ["fine"]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "sheets_unread")


def test_pictures_come_out() -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    (picture,) = derived(read(xlsx({"S": ""}, {"xl/media/image1.png": png})))

    assert picture.relation == "embedded_image"


def test_a_workbook_that_is_broken_all_over_is_unreadable() -> None:
    with pytest.raises(InputError) as raised:
        read(xlsx({"A": "<row"}))

    assert raised.value.code == "unreadable"


@pytest.mark.parametrize(("number", "name"), [(1, "A"), (26, "Z"), (27, "AA"), (16384, "XFD")])
def test_columns_have_names(number: int, name: str) -> None:
    assert (letters(number), column_of(name)) == (name, number)


def test_ranges_are_read_back() -> None:
    assert area_of("B2:D9") == Area(2, 2, 9, 4)
    assert str(area_of("C3")) == "C3"
    with pytest.raises(InputError):
        area_of("nowhere")


@pytest.mark.parametrize(
    ("code", "is_date"),
    [
        ("yyyy-mm-dd", True),
        ("h:mm AM/PM", True),
        ("[h]:mm", True),
        ("0.00", False),
        ("General", False),
        ('#,##0 "days"', False),
        ("[Red]0.0", False),
        ("yyyy年m月d日", True),
    ],
)
def test_formats_tell_dates_from_numbers(code: str, is_date: bool) -> None:
    assert is_date_format(code) is is_date


def test_serial_days_are_dates() -> None:
    assert date_text(1) == "1900-01-01"
    assert date_text(61) == "1900-03-01"
    assert date_text(0.75) == "18:00"
    assert date_text(0, since_1904=True) == "1904-01-01"
    assert date_text(-1) is None
    assert date_text(10**9) is None
    assert number_text(1e300) == "1e+300"


@pytest.mark.corpus
def test_workbooks_of_the_corpus_have_their_cells(corpus: Path) -> None:
    folder = corpus / "docs"
    for file in (folder / "xlsx" / "markitdown_test.xlsx", folder / "xls" / "markitdown_test.xls"):
        data = file.read_bytes()
        found = drafts(read(data), "page_text")
        text = "\n".join(draft.text for draft in found)
        assert "6ff4173b-42a5-4784-9b19-f49caff4d93d" in text
        assert "affc7dad-52dc-4b98-9b5d-51e65d8a8ad0" in text
        assert all(quote_of(data, draft) == draft.text for draft in found)
