import re
from pathlib import Path

import pytest
from support.documents import (
    derived,
    docx,
    drafts,
    outcome,
    paragraph,
    quote_of,
    read,
    relations,
    source_of,
    zipped,
)

from muniment.adapters.ports import TimeClaim
from muniment.store.errors import InputError
from muniment.store.records import CharLocator, MemberLocator

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 40
HEADING = '<w:pStyle w:val="Heading1"/>'
STYLES = (
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>'
)
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Plan</dc:title><dc:creator>Ann'
    "</dc:creator><dcterms:created>2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>"
)


def words(body: str) -> str:
    return "\n".join(draft.text for draft in drafts(read(docx(body)), "page_text"))


def test_a_passage_knows_its_part_its_span_and_its_heading() -> None:
    data = docx(
        paragraph("Trip", HEADING) + paragraph("We sail on Monday."),
        {
            "word/styles.xml": STYLES,
            "word/_rels/document.xml.rels": relations(("styles", "styles.xml")),
        },
    )

    (draft,) = drafts(read(data))

    assert draft.text == "Trip\n\nWe sail on Monday."
    assert draft.locator == MemberLocator(
        path="word/document.xml",
        inner=CharLocator(start=0, end=24, line_start=1, line_end=3),
    )
    assert draft.attributes == {"heading": "Trip"}
    assert quote_of(data, draft) == draft.text


def test_a_table_is_read_by_rows_and_a_table_in_a_cell_once() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{paragraph('in')}</w:tc></w:tr></w:tbl>"
    row = f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}{inner}</w:tc></w:tr>"

    assert words(f"<w:tbl>{row}</w:tbl>") == "a | b in"


def test_text_boxes_are_read_once_though_they_are_written_twice() -> None:
    box = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    body = (
        f'<w:p><w:r><w:t>Around</w:t><mc:AlternateContent xmlns:mc="{mc}"><mc:Choice>{box}'
        f"</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )

    assert words(body).split() == ["Around", "boxed"]


def test_deleted_text_and_codes_of_fields_are_not_read() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:ins><w:r><w:t>kept</w:t></w:r></w:ins></w:p>"
    )

    assert words(body) == "kept"


def test_pages_are_known_where_word_drew_them() -> None:
    body = paragraph("First page says this at some length.") + (
        "<w:p><w:r><w:lastRenderedPageBreak/><w:t>Second page says that.</w:t></w:r></w:p>"
    )

    assert [draft.attributes["page"] for draft in drafts(read(docx(body)))] == [1, 2]


def test_notes_comments_headers_and_pictures_are_found() -> None:
    namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    data = docx(
        paragraph("Body."),
        {
            "word/_rels/document.xml.rels": relations(
                ("comments", "comments.xml"),
                ("footnotes", "footnotes.xml"),
                ("header", "header1.xml"),
                ("image", "media/image1.png"),
            ),
            "word/comments.xml": f'<w:comments {namespace}><w:comment w:author="Bo">'
            f"{paragraph('Really?')}</w:comment></w:comments>",
            "word/footnotes.xml": f"<w:footnotes {namespace}><w:footnote>{paragraph('Foot.')}"
            "</w:footnote></w:footnotes>",
            "word/header1.xml": f"<w:hdr {namespace}>{paragraph('Head.')}</w:hdr>",
            "word/media/image1.png": PNG,
            "word/media/image2.emf": b"nobody reads this",
        },
    )

    found = read(data)

    parts = {draft.attributes.get("part", "body"): draft.text for draft in drafts(found)}
    assert parts == {
        "body": "Body.",
        "header": "Head.",
        "footnotes": "Foot.",
        "comments": "Comment by Bo:\n\nReally?",
    }
    assert all(quote_of(data, draft) == draft.text for draft in drafts(found))
    (picture,) = derived(found)
    assert (picture.relation, picture.name, picture.data) == ("embedded_image", "image1.png", PNG)
    assert picture.observe


def test_properties_are_metadata_and_a_claim_of_time() -> None:
    found = read(docx(paragraph("Body."), {"docProps/core.xml": CORE}))

    (about,) = drafts(found, "metadata")
    (claim,) = (finding for finding in found if isinstance(finding, TimeClaim))
    assert about.text == "Title: Plan\nAuthor: Ann"
    assert (claim.moment.utc, claim.source) == ("2024-05-06T07:08:09.000000Z", "container")


def test_a_broken_note_takes_nothing_from_the_body() -> None:
    data = docx(
        paragraph("Body."),
        {
            "word/_rels/document.xml.rels": relations(("footnotes", "footnotes.xml")),
            "word/footnotes.xml": "<not xml",
        },
    )

    found = read(data)

    assert [draft.text for draft in drafts(found)] == ["Body."]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "parts_unread")


def test_a_document_without_words_is_empty() -> None:
    ending = outcome(read(docx(paragraph(" "))))

    assert ending
    assert ending.status == "empty"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<w:p>", "unreadable"),
        ("<w:p><w:r><w:t>\x01</w:t></w:r></w:p>", "unreadable"),
    ],
)
def test_broken_xml_is_unreadable(body: str, code: str) -> None:
    with pytest.raises(InputError) as raised:
        read(docx(body))

    assert (raised.value.code, raised.value.status) == (code, "failed")


def test_entities_are_refused_before_they_grow() -> None:
    bomb = (
        '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY c "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        "<document>&c;</document>"
    )

    with pytest.raises(InputError) as raised:
        read(docx("", {"word/document.xml": bomb}))

    assert raised.value.code == "xml_entities"


def test_an_external_entity_is_not_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    body = f'<!DOCTYPE b [<!ENTITY x SYSTEM "{secret.as_uri()}">]><document>&x;</document>'

    with pytest.raises(InputError) as raised:
        read(docx("", {"word/document.xml": body}))

    assert raised.value.code == "xml_entities"


def test_elements_nested_without_end_end() -> None:
    depth = 20_000
    body = "<w:sdt>" * depth + paragraph("deep") + "</w:sdt>" * depth

    assert outcome(read(docx(body)))


def test_half_a_document_is_unreadable() -> None:
    data = docx(paragraph("Body. " * 400))

    with pytest.raises(InputError) as raised:
        read(data[: len(data) // 2])

    assert raised.value.code == "unreadable"


def test_a_locked_member_asks_for_a_password() -> None:
    data = bytearray(docx(paragraph("Body.")))
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 4)

    with pytest.raises(InputError) as raised:
        read(bytes(data))

    assert (raised.value.code, raised.value.status) == ("password", "encrypted")


def test_a_folder_named_word_in_a_zip_is_no_document() -> None:
    assert source_of(zipped({"word/list.txt": "words"})).family == "archive"


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["docx_comments", "lorem_ipsum", "tablecell", "textbox", "unit_test_formatting"]
)
def test_documents_of_the_corpus_have_the_words_that_are_expected(corpus: Path, name: str) -> None:
    file = corpus / "docs" / "docx" / f"{name}.docx"
    expected = file.with_name(f"{name}.docx.expected.md").read_text("utf-8")
    data = file.read_bytes()
    found = drafts(read(data), "page_text")

    text = " ".join(draft.text for draft in found).split()
    plain = [word.strip("*_|#<>") for word in re.sub(r"\\|<!--.*?-->", "", expected).split()]
    wanted = [word for word in plain if any(map(str.isalpha, word)) and "](" not in word]
    missing = [word for word in wanted if word not in text]
    assert len(missing) <= len(wanted) * 0.05, missing
    assert all(quote_of(data, draft) == draft.text for draft in found)
