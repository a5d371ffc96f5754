"""Slides, OpenDocument, books, rich text and old formats."""

import time
from pathlib import Path

import pytest
from support.documents import (
    OFFICE,
    derived,
    drafts,
    outcome,
    quote_of,
    read,
    relations,
    zipped,
)

from muniment.adapters.formats.visible_text import visible_text
from muniment.adapters.ports import Limits, TimeClaim
from muniment.store.errors import InputError
from muniment.store.records import CellLocator, CharLocator, MemberLocator, PageLocator

P = "http://schemas.openxmlformats.org/presentationml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 40
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
)


def shape(text: str, kind: str = "body") -> str:
    return (
        f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def slide(shapes: str, root: str = "sld", attributes: str = "") -> str:
    return (
        f'<p:{root} xmlns:p="{P}" xmlns:a="{A}" {attributes}><p:cSld><p:spTree>{shapes}'
        f"</p:spTree></p:cSld></p:{root}>"
    )


def pptx(*slides: str, parts: dict[str, bytes | str] | None = None) -> bytes:
    ids = "".join(f'<p:sldId r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    targets = [("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)]
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{P}" xmlns:r="{OFFICE}">'
            f"<p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(*targets),
            **{f"ppt/slides/slide{n}.xml": text for n, text in enumerate(slides, 1)},
            **(parts or {}),
        }
    )


def odf(kind: str, body: str, parts: dict[str, bytes | str] | None = None) -> bytes:
    content = f"<office:document-content {ODF}><office:body><office:{kind}>{body}</office:{kind}>"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{content}</office:body></office:document-content>",
            **(parts or {}),
        },
        packed=False,
    )


def test_a_slide_is_a_page_with_its_title_first_and_its_notes_beside_it() -> None:
    notes = slide(shape("Say hello.") + shape("7", "sldNum"), "notes")
    data = pptx(
        slide(shape("Body") + shape("Title", "title")),
        slide(shape("Hidden"), attributes='show="0"'),
        parts={
            "ppt/slides/_rels/slide1.xml.rels": relations(
                ("notesSlide", "../notesSlides/notesSlide1.xml"), ("image", "../media/image1.png")
            ),
            "ppt/notesSlides/notesSlide1.xml": notes,
            "ppt/media/image1.png": PNG,
        },
    )

    found = read(data)

    first, beside, second = drafts(found)
    assert (first.text, first.attributes) == ("Title\n\nBody", {"heading": "Title"})
    assert first.locator == beside.locator == PageLocator(page=1)
    assert (beside.text, beside.attributes["part"], beside.occurrence) == ("Say hello.", "notes", 1)
    assert (second.locator, second.attributes) == (PageLocator(page=2), {"hidden": "slide"})
    assert all(quote_of(data, draft) == draft.text for draft in drafts(found))
    assert [picture.locator for picture in derived(found)] == [PageLocator(page=1)]


def test_slides_over_the_limit_and_broken_ones_are_said() -> None:
    data = pptx(slide(shape("One")), slide(shape("Two")))
    limited = outcome(read(data, limits=Limits(max_pages=1)))
    broken = outcome(read(pptx(slide(shape("One")), "<sld")))

    assert limited
    assert (limited.status, limited.code) == ("partial", "page_limit")
    assert broken
    assert (broken.status, broken.code) == ("partial", "slides_unread")


@pytest.mark.corpus
def test_presentations_of_the_corpus_have_their_words(corpus: Path) -> None:
    data = (corpus / "docs" / "pptx" / "markitdown_test.pptx").read_bytes()
    text = "\n".join(draft.text for draft in drafts(read(data)))

    for words in (
        "2cdda5c8-e50e-4db4-b5f0-9722a649f455",
        "04191ea8-5c73-4215-a1d3-1cfb43aaaf12",
        "44bf7d06-5e7a-4a40-a2e1-a2e42ef28c8a",
        "1b92870d-e3b5-4e65-8153-919f4ff45592",
    ):
        assert words in text


def test_an_opendocument_text_keeps_order_lists_tables_and_notes() -> None:
    body = (
        '<text:h text:outline-level="1">Soup</text:h>'
        "<text:p>Boil<text:s text:c='2'/>water<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>Hot.</text:p></text:note-body></text:note> now.</text:p>"
        "<text:list><text:list-item><text:p>salt</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    data = odf("text", body)

    found = drafts(read(data))

    text = "\n\n".join(draft.text for draft in found)
    assert text.split("\n\n") == ["Soup", "Boil  water now.", "Hot.", "- salt", "a | b"]
    assert {draft.attributes["heading"] for draft in found} == {"Soup"}
    assert isinstance(found[0].locator, MemberLocator)
    assert all(quote_of(data, draft) == draft.text for draft in found)


def test_repeated_cells_and_rows_of_a_sheet_are_bounded() -> None:
    body = (
        '<table:table table:name="S"><table:table-row>'
        '<table:table-cell table:number-columns-repeated="2"/>'
        '<table:table-cell office:date-value="2024-05-01T00:00:00"><text:p>1 May</text:p>'
        "</table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="9999999">'
        "<table:table-cell/></table:table-row></table:table>"
    )
    data = odf("spreadsheet", body)

    (draft,) = drafts(read(data))

    assert (draft.text, draft.locator) == ("2024-05-01", CellLocator(sheet="S", range="C1"))
    assert quote_of(data, draft) == draft.text


def test_an_encrypted_opendocument_asks_for_a_password() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        "<m:file-entry><m:encryption-data/></m:file-entry></m:manifest>"
    )
    with pytest.raises(InputError) as raised:
        read(odf("text", "", {"META-INF/manifest.xml": manifest}))

    assert (raised.value.code, raised.value.status) == ("password", "encrypted")


BOOK = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/'
    '1.1/"><dc:title>Ponds</dc:title><dc:creator>Eve</dc:creator><dc:date>1999-04-01</dc:date>'
    '</metadata><manifest><item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="a" href="one%20x.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)


def book(parts: dict[str, bytes | str]) -> bytes:
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfile full-path="in/book.opf"/></c>',
            "in/book.opf": BOOK,
            **parts,
        },
        packed=False,
    )


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    data = book(
        {
            "in/two.xhtml": "<html><body><h1>Two</h1><p>Frogs&nbsp;sing.</p></body></html>",
            "in/one x.xhtml": "<html><head><title>no</title></head><p>Rain.</p></html>",
        }
    )

    found = read(data)

    first, second = drafts(found, "page_text")
    assert (first.text, first.attributes) == ("Rain.", {"chapter": 1})
    assert second.text == "Two\n\nFrogs sing."
    assert second.attributes == {"chapter": 2, "heading": "Two"}
    assert second.locator == MemberLocator(
        path="in/two.xhtml", inner=CharLocator(start=0, end=16, line_start=1, line_end=3)
    )
    assert quote_of(data, second) == second.text
    (about,) = drafts(found, "metadata")
    assert about.text == "Title: Ponds\nAuthor: Eve"
    (claim,) = (finding for finding in found if isinstance(finding, TimeClaim))
    assert (claim.moment.local, claim.moment.precision) == ("1999-04-01", "day")


def test_a_locked_book_says_so_but_scrambled_fonts_do_not_lock_it() -> None:
    lock = '<e xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="{}"/></e>'
    page = {"in/two.xhtml": "<p>Frogs.</p>", "in/one x.xhtml": "<p>Rain.</p>"}
    fonts = {"META-INF/encryption.xml": lock.format("http://www.idpf.org/2008/embedding")}
    content = {"META-INF/encryption.xml": lock.format("http://www.w3.org/2001/04/xmlenc#aes128")}

    assert drafts(read(book({**page, **fonts})))
    with pytest.raises(InputError) as raised:
        read(book({**page, **content}))
    assert raised.value.status == "encrypted"


def test_rich_text_is_words_by_their_place_without_markup() -> None:
    data = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset128 B;}}"
        rb"{\info{\title Plan}}{\*\generator X;}"
        rb"\pard\f0 Caf\'e9 {\b and} \u26085?\u-26085?\par {\f1 \'93\'fa\'96\'7b}\par "
        rb"{\pict 00ff00ff}\trowd\intbl a\cell b\cell\row\pard end\par}"
    )

    found = read(data)

    (about,) = drafts(found, "metadata")
    texts = drafts(found, "text")
    assert about.text == "Title: Plan"
    joined = "\n\n".join(draft.text for draft in texts)
    assert joined == "Café and 日餛\n\n日本\n\na | b\n\nend".replace("餛", chr(0x10000 - 26085))
    assert all(quote_of(data, draft) == draft.text for draft in texts)
    assert outcome(found) is None


def test_rich_text_that_ends_early_is_partial() -> None:
    ending = outcome(read(rb"{\rtf1 some words {\b more"))

    assert ending
    assert (ending.status, ending.code) == ("partial", "truncated")


def test_html_shows_blocks_lists_and_tables() -> None:
    page = (
        "<html><head><style>x</style></head><body><p>One<br>two <b>three</b></p>"
        "<ul><li>a</li><li>b</li></ul><table><tr><td>1</td><td>2</td></tr></table>"
        "<script>no()</script><p>end"
    )

    assert visible_text(page).text == "One\ntwo three\n\n- a\n- b\n\n1 | 2\n\nend"


@pytest.mark.corpus
def test_old_documents_are_unsupported_and_say_why(corpus: Path) -> None:
    with pytest.raises(InputError) as raised:
        read((corpus / "docs" / "doc" / "legacy_sample.doc").read_bytes())

    assert (raised.value.code, raised.value.status) == ("legacy_office", "unsupported")


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        "odf/odf_presentation_01.odp",
        "odf/simple.odt",
        "epub/markitdown_test.epub",
        "rtf/testRTFJapanese.rtf",
    ],
)
def test_quotes_of_the_corpus_are_found_again(corpus: Path, name: str) -> None:
    data = (corpus / "docs" / name).read_bytes()
    found = [draft for draft in drafts(read(data)) if draft.kind != "metadata"]

    assert found
    assert all(quote_of(data, draft) == draft.text for draft in found)


@pytest.mark.parametrize(
    "piece", ["<!--", "<head>", "<rt>", "<script>", "<a b='", "<![CDATA[", "&#"]
)
def test_hostile_pages_cost_no_more_than_others(piece: str) -> None:
    started = time.monotonic()
    visible_text(piece * 40_000)

    assert time.monotonic() - started < 10
