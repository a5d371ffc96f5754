"""Whatever documents, mails and archives hold: quotes are found again, damage is an InputError."""

import contextlib
from email.message import EmailMessage
from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st
from support.documents import (
    cell,
    derived,
    docx,
    drafts,
    outcome,
    paragraph,
    quote_of,
    read,
    relations,
    scratch,
    source_of,
    xlsx,
    zipped,
)

from muniment.adapters.extract import Cited, extract
from muniment.adapters.formats.office.sheets import letters
from muniment.adapters.ports import Limits
from muniment.store.errors import InputError

WORD = st.sampled_from(
    ["word", "One. Two!", "你好，", "é", "😀", "x" * 700, "好" * 300, " | ", "…"]
)
LINE = st.lists(WORD, min_size=1, max_size=6).map(" ".join) | st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), max_size=40
)
CELLS = st.dictionaries(
    st.tuples(st.integers(1, 60), st.integers(1, 40) | st.just(16384)), LINE, max_size=25
)
NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PARTS: dict[str, bytes | str] = {
    "word/_rels/document.xml.rels": relations(("footnotes", "footnotes.xml")),
    "word/footnotes.xml": f"<w:footnotes {NAMESPACE}>{paragraph('Foot.')}</w:footnotes>",
}
EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\nDTSTART;TZID=Asia/Tokyo:20240506T120000\n"
MAIL = (
    b"From: a@b\nDate: Mon, 6 May 2024 09:00:00 +0200\nSubject: =?utf-8?Q?caf=C3=A9?=\n"
    b'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/html; charset=gbk\n'
    b'\n<p>hi<td>\n--x\nContent-Disposition: attachment; filename="a.txt"\n\nfile\n--x--\n'
)
SEEDS = (
    docx(paragraph("Body.") + "<w:tbl><w:tr><w:tc/></w:tr></w:tbl>", PARTS),
    xlsx({"S": f'<row r="1">{cell("A1", "a")}<c r="B1"><v>1</v></c></row>'}),
    zipped({"mimetype": "application/epub+zip", "a.opf": "<p/>"}, packed=False),
    zipped({"a.txt": b"words", "b/c.txt": b"more words"}),
    MAIL,
    b"From a@b Mon May  6 09:00:00 2024\n" + MAIL,
    (EVENT + "RRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR\n").encode(),
    b"BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE:=E4=BD=A0\nTEL;CELL:1\nEND:VCARD\n",
    rb"{\rtf1\ansi{\fonttbl{\f0\fcharset134 A;}}\f0 \'c4\'e3 {\b b}\u-26085?\par \cell\row}",
)


@given(CELLS)
def test_a_range_of_cells_reads_as_it_was_quoted(cells: dict[tuple[int, int], str]) -> None:
    rows: dict[int, list[str]] = {}
    for (row, column), text in sorted(cells.items()):
        rows.setdefault(row, []).append(cell(f"{letters(column)}{row}", escape(text)))
    data = xlsx({"S": "".join(f'<row r="{n}">{"".join(row)}</row>' for n, row in rows.items())})

    for draft in drafts(read(data)):
        assert quote_of(data, draft) == draft.text


@given(st.lists(LINE, max_size=30))
def test_a_passage_of_a_document_reads_as_it_was_quoted(lines: list[str]) -> None:
    data = docx("".join(paragraph(escape(line)) for line in lines))

    found = drafts(read(data))

    for draft in found:
        assert quote_of(data, draft) == draft.text
    assert "".join("".join(lines).split()) == "".join("".join(d.text for d in found).split()) or (
        len(found) < len(lines)  # lines of nothing but invisible characters are left out
    )


@given(st.lists(st.tuples(LINE, LINE), min_size=1, max_size=4))
def test_a_message_of_a_box_reads_as_it_was_quoted(mails: list[tuple[str, str]]) -> None:
    box = b""
    for subject, body in mails:
        message = EmailMessage()
        message["From"], message["Subject"] = "a@example.com", " ".join(subject.split())
        message.set_content(body)
        box += b"From a@b Mon May  6 09:00:00 2024\n" + message.as_bytes() + b"\n\n"

    for draft in drafts(read(box)):
        assert quote_of(box, draft) == draft.text


@given(st.dictionaries(NAME, st.binary(max_size=200), max_size=8))
def test_a_member_is_the_bytes_that_were_packed(members: dict[str, bytes]) -> None:
    data = zipped(members)
    target = scratch() / "member"
    for item in derived(read(data)):
        assert item.locator is not None
        extract(source_of(data), Cited(item.locator.model_dump(), ""), target, Limits())
        assert target.read_bytes() == item.data


@settings(max_examples=300)
@given(st.sampled_from(SEEDS), st.data())
def test_damaged_bytes_are_findings_or_an_input_error(seed: bytes, data: st.DataObject) -> None:
    damaged = bytearray(seed)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        kind = data.draw(st.sampled_from(["flip", "cut", "put"]))
        if kind == "flip":
            damaged[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del damaged[at : at + data.draw(st.integers(1, 40))]
            damaged = damaged or bytearray(b"x")
        else:
            damaged[at:at] = data.draw(st.binary(max_size=8))
    with contextlib.suppress(InputError):
        found = read(bytes(damaged), like=seed)
        assert outcome(found) or drafts(found) or derived(found)


@given(st.sampled_from(["word/document.xml", "word/footnotes.xml"]), st.text(max_size=80))
def test_damaged_xml_is_findings_or_an_input_error(part: str, text: str) -> None:
    with contextlib.suppress(InputError):
        read(docx(paragraph("Body."), {**PARTS, part: text.encode("utf-8", "surrogatepass")}))
