"""PDF pages: boxes where the pixels are, text or recognition page by page, honest endings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from support.pdf_builder import build, picture, text

from muniment.adapters.media.pdf import PdfReader, page_picture
from muniment.adapters.ports import (
    Derived,
    Draft,
    Finding,
    Limits,
    OcrLine,
    Outcome,
    Source,
    TimeClaim,
)
from muniment.store.errors import InputError
from muniment.store.records import Box, PageLocator

SourceOf = Callable[..., Source]
PAPER = "/MediaBox [0 0 400 600]"
PHOTO = Image.effect_noise((120, 120), 60)


def line(words: str, *box: float, confidence: float = 0.9) -> OcrLine:
    left, top, right, bottom = box
    quad = ((left, top), (right, top), (right, bottom), (left, bottom))
    return OcrLine(words, confidence, quad)


def read(data: bytes, source_of: SourceOf, tools: Any) -> list[Finding]:
    return list(PdfReader().read(source_of(data, "pdf"), tools))


def drafts(findings: list[Finding], kind: str) -> list[Draft]:
    return [one for one in findings if isinstance(one, Draft) and one.kind == kind]


def box_of(draft: Draft) -> Box:
    assert isinstance(draft.locator, PageLocator)
    assert draft.locator.bbox is not None
    return draft.locator.bbox


def inked(data: bytes) -> tuple[float, float, float, float]:
    """Return where the first page has ink when it is drawn: x, y, w, h in 0..1."""
    document = pypdfium2.PdfDocument(data)
    pixels = np.asarray(document[0].render(scale=3).to_pil().convert("L")) < 128
    document.close()
    down, across = np.flatnonzero(pixels.any(axis=1)), np.flatnonzero(pixels.any(axis=0))
    height, width = pixels.shape
    return (
        across[0] / width,
        down[0] / height,
        (across[-1] + 1 - across[0]) / width,
        (down[-1] + 1 - down[0]) / height,
    )


@pytest.mark.parametrize(
    "page",
    [
        PAPER,
        f"{PAPER} /Rotate 90",
        f"{PAPER} /Rotate 180",
        f"{PAPER} /Rotate 270",
        "/MediaBox [50 80 450 680]",
        f"{PAPER} /CropBox [60 300 360 500]",
        "/MediaBox [50 80 450 680] /CropBox [70 320 390 500] /Rotate 90",
    ],
)
def test_a_word_lies_where_the_drawn_page_shows_it(
    page: str, source_of: SourceOf, tools: Any
) -> None:
    data = build((page, text("INVOICE", 110, 400)))

    (draft,) = drafts(read(data, source_of, tools), "page_text")

    assert draft.text == "INVOICE"
    box = box_of(draft)
    for given, seen in zip((box.x, box.y, box.w, box.h), inked(data), strict=True):
        assert abs(given - seen) < 0.01


def test_recognised_lines_lie_on_the_displayed_page(source_of: SourceOf, fakes: Any) -> None:
    data = build((f"{PAPER} /Rotate 90", picture("Im", 0, 0, 400, 600)), images={"Im": PHOTO})

    def engine(image: Image.Image) -> list[OcrLine]:
        width, height = image.size
        return [line("SCAN", width * 0.5, height * 0.25, width * 0.75, height * 0.3)]

    ocr = fakes.Ocr(engine)
    (draft,) = drafts(read(data, source_of, fakes.Tools(ocr=ocr)), "ocr")

    assert ocr.seen[0].width > ocr.seen[0].height
    box = box_of(draft)
    assert np.allclose((box.x, box.y, box.w, box.h), (0.5, 0.25, 0.25, 0.05), atol=0.01)


def test_text_and_scanned_pages_are_told_apart_one_by_one(source_of: SourceOf, fakes: Any) -> None:
    data = build(
        (PAPER, text("Typed words", 50, 500)),
        (PAPER, picture("Im", 0, 0, 400, 600)),
        images={"Im": PHOTO},
    )
    ocr = fakes.Ocr(lambda image: [line("scanned words", 10, 10, 200, 40)])

    findings = read(data, source_of, fakes.Tools(ocr=ocr))

    assert [
        (one.kind, one.text, one.locator.page)
        for one in findings
        if isinstance(one, Draft) and isinstance(one.locator, PageLocator)
    ] == [
        ("page_text", "Typed words", 1),
        ("ocr", "scanned words", 2),
    ]
    assert len(ocr.seen) == 1


def test_a_large_picture_beside_text_is_read_too_without_saying_twice(
    source_of: SourceOf, fakes: Any
) -> None:
    data = build(
        (PAPER, text("Typed words", 50, 560) + picture("Im", 40, 40, 320, 320)),
        images={"Im": PHOTO},
    )

    def engine(image: Image.Image) -> list[OcrLine]:
        return [line("Typed words", 5, 5, 90, 20), line("on the sign", 5, 400, 200, 440)]

    ocr = fakes.Ocr(engine)
    findings = read(data, source_of, fakes.Tools(ocr=ocr))

    assert [one.text for one in drafts(findings, "page_text")] == ["Typed words"]
    (found,) = drafts(findings, "ocr")
    assert found.text == "on the sign"
    assert abs(ocr.seen[0].width - ocr.seen[0].height) < 4
    assert 0.1 < box_of(found).x < 0.2
    assert box_of(found).y > 0.4


def test_a_small_picture_is_not_worth_reading(source_of: SourceOf, fakes: Any) -> None:
    data = build(
        (PAPER, text("Typed words", 50, 500) + picture("Im", 40, 40, 60, 60)),
        images={"Im": PHOTO},
    )
    ocr = fakes.Ocr()

    read(data, source_of, fakes.Tools(ocr=ocr))

    assert ocr.seen == []


def test_a_hidden_layer_of_an_earlier_recognition_is_taken(source_of: SourceOf, fakes: Any) -> None:
    data = build(
        (PAPER, picture("Im", 0, 0, 400, 600) + "3 Tr " + text("found before", 50, 500)),
        images={"Im": PHOTO},
    )
    ocr = fakes.Ocr()

    (draft,) = drafts(read(data, source_of, fakes.Tools(ocr=ocr)), "page_text")

    assert draft.text == "found before"
    assert draft.confidence < 1
    assert ocr.seen == []


def test_letters_without_meaning_are_recognised_instead(source_of: SourceOf, fakes: Any) -> None:
    garbage = "(cid:12)(cid:7)(cid:44)".replace("(", r"\(").replace(")", r"\)")
    data = build((PAPER, text(garbage, 20, 500)))
    ocr = fakes.Ocr(lambda image: [line("Readable", 10, 10, 200, 40)])

    findings = read(data, source_of, fakes.Tools(ocr=ocr))

    assert [one.text for one in findings if isinstance(one, Draft)] == ["Readable"]


def test_lines_of_a_paragraph_are_joined_and_paragraphs_are_not(
    source_of: SourceOf, tools: Any
) -> None:
    content = (
        text("A first line that", 40, 560, 12)
        + text("goes on here.", 40, 545, 12)
        + text("Another paragraph.", 40, 500, 12)
    )

    found = drafts(read(build((PAPER, content)), source_of, tools), "page_text")

    assert [one.text for one in found] == ["A first line that goes on here.", "Another paragraph."]


def test_columns_are_read_one_after_the_other(source_of: SourceOf, tools: Any) -> None:
    content = "".join(
        text(f"left line number {row}", 30, 560 - 15 * row, 12)
        + text(f"right line number {row}", 230, 560 - 15 * row, 12)
        for row in range(6)
    )

    found = drafts(read(build((PAPER, content)), source_of, tools), "page_text")

    assert [one.text.split(" ")[0] for one in found] == ["left", "right"]


def test_a_blank_page_needs_no_recognition(source_of: SourceOf, fakes: Any) -> None:
    ocr = fakes.Ocr()

    (outcome,) = read(build((PAPER, "")), source_of, fakes.Tools(ocr=ocr))

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("empty", "no_text")
    assert ocr.seen == []


def test_text_off_the_paper_is_not_on_the_page(source_of: SourceOf, tools: Any) -> None:
    data = build((PAPER, text("seen", 40, 500) + text("hidden", 40, 5000)))

    assert [one.text for one in drafts(read(data, source_of, tools), "page_text")] == ["seen"]


def test_more_pages_than_allowed_is_said(source_of: SourceOf, fakes: Any) -> None:
    data = build(*[(PAPER, text(f"page {number}", 40, 500)) for number in range(3)])

    *found, outcome = read(data, source_of, fakes.Tools(limits=Limits(max_pages=2)))

    assert len(found) == 2
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("partial", "page_limit")


def test_a_page_that_fails_takes_no_other_with_it(source_of: SourceOf, fakes: Any) -> None:
    def engine(image: Image.Image) -> list[OcrLine]:
        raise RuntimeError("broken picture")

    data = build(
        (PAPER, picture("Im", 0, 0, 400, 600)),
        (PAPER, text("fine", 40, 500)),
        images={"Im": PHOTO},
    )

    found, outcome = read(data, source_of, fakes.Tools(ocr=fakes.Ocr(engine)))

    assert isinstance(found, Draft)
    assert found.text == "fine"
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("partial", "pages_unread")
    assert "page 1" in outcome.message


@pytest.mark.parametrize("data", [b"%PDF-1.7\nnothing", b"not a pdf at all", b""])
def test_a_broken_file_is_refused(data: bytes, source_of: SourceOf, tools: Any) -> None:
    with pytest.raises(InputError) as caught:
        read(data, source_of, tools)

    assert caught.value.code in {"unreadable", "empty_file"}


def test_titles_become_a_draft_and_the_files_date_a_weak_claim(
    source_of: SourceOf, tools: Any
) -> None:
    info = "/Title (Lease) /CreationDate (D:20240506070809+08'00')"
    findings = read(build((PAPER, text("x1", 40, 500)), info=info), source_of, tools)

    (claim,) = [one for one in findings if isinstance(one, TimeClaim)]
    assert (claim.moment.offset, claim.confidence) == ("+08:00", 0.3)
    assert [one.text for one in drafts(findings, "metadata")] == ["Title: Lease"]


def test_a_page_can_be_drawn_by_its_number(source_of: SourceOf) -> None:
    source = source_of(build((f"{PAPER} /Rotate 90", text("x1", 40, 500))), "pdf")

    width, height = page_picture(source, 1, Limits()).size
    assert abs(width / height - 1.5) < 0.01
    with pytest.raises(InputError) as caught:
        page_picture(source, 2, Limits())
    assert caught.value.code == "not_extractable"


def test_attached_files_come_out(source_of: SourceOf, tools: Any) -> None:
    document = pypdfium2.PdfDocument(build((PAPER, text("see attached", 40, 500))))
    document.new_attachment("note.txt").set_data(b"hello")
    from io import BytesIO

    buffer = BytesIO()
    document.save(buffer)
    document.close()

    (derived,) = [
        one for one in read(buffer.getvalue(), source_of, tools) if isinstance(one, Derived)
    ]

    assert (derived.relation, derived.name, derived.data, derived.observe) == (
        "attachment",
        "note.txt",
        b"hello",
        True,
    )
