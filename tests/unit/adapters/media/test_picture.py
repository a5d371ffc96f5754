"""What a picture file yields: text in place, tags' words, claims, honest endings."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from PIL import Image

from muniment.adapters.media.picture import PictureReader, ordered, shrink
from muniment.adapters.ports import (
    Draft,
    Finding,
    Label,
    Limits,
    OcrLine,
    Outcome,
    PlaceClaim,
    Source,
    TimeClaim,
)
from muniment.store.records import BboxLocator

SourceOf = Callable[..., Source]


def written(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def line(text: str, *box: float, confidence: float = 0.9) -> OcrLine:
    left, top, right, bottom = box
    return OcrLine(text, confidence, ((left, top), (right, top), (right, bottom), (left, bottom)))


def read(source: Source, tools: Any) -> list[Finding]:
    return list(PictureReader().read(source, tools))


def drafts(findings: list[Finding], kind: str = "ocr") -> list[Draft]:
    return [one for one in findings if isinstance(one, Draft) and one.kind == kind]


def test_a_line_is_placed_on_the_upright_picture(source_of: SourceOf, fakes: Any) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    source = source_of(written(Image.new("RGB", (100, 200)), "JPEG", exif=exif), "image")
    ocr = fakes.Ocr(lambda image: [line("hello", 20, 10, 120, 30)])

    (draft,) = drafts(read(source, fakes.Tools(ocr=ocr)))

    assert ocr.seen[0].size == (200, 100)
    assert draft.locator == BboxLocator(x=0.1, y=0.1, w=0.5, h=0.2)
    assert (draft.confidence, draft.producer) == (0.9, ocr.producer)


def test_a_line_that_runs_askew_keeps_its_corners(source_of: SourceOf, fakes: Any) -> None:
    quad = ((10.0, 10.0), (90.0, 20.0), (88.0, 40.0), (8.0, 30.0))
    ocr = fakes.Ocr(lambda image: [OcrLine("hello", 0.9, quad)])

    (draft,) = drafts(
        read(source_of(written(Image.new("RGB", (100, 100))), "image"), fakes.Tools(ocr=ocr))
    )

    assert isinstance(draft.locator, BboxLocator)
    assert draft.locator.quad == ((0.1, 0.1), (0.9, 0.2), (0.88, 0.4), (0.08, 0.3))


def test_a_box_never_leaves_the_picture(source_of: SourceOf, fakes: Any) -> None:
    ocr = fakes.Ocr(lambda image: [line("hello", -5, -5, 120, 130)])

    (draft,) = drafts(
        read(source_of(written(Image.new("RGB", (100, 100))), "image"), fakes.Tools(ocr=ocr))
    )

    assert draft.locator == BboxLocator(x=0, y=0, w=1, h=1)


def test_spaces_between_han_characters_are_taken_out(source_of: SourceOf, fakes: Any) -> None:
    ocr = fakes.Ocr(lambda image: [line("部 署 方 案 plan B", 0, 0, 90, 20)])

    (draft,) = drafts(
        read(source_of(written(Image.new("RGB", (100, 100))), "image"), fakes.Tools(ocr=ocr))
    )

    assert draft.text == "部署方案 plan B"


def test_marks_that_are_no_words_are_left_out(source_of: SourceOf, fakes: Any) -> None:
    lines = [
        line("——", 0, 0, 90, 20),
        line("i", 0, 30, 9, 40, confidence=0.6),
        line("西", 0, 50, 9, 60, confidence=0.99),
    ]

    findings = read(
        source_of(written(Image.new("RGB", (100, 100))), "image"),
        fakes.Tools(ocr=fakes.Ocr(lambda image: lines)),
    )

    assert [one.text for one in drafts(findings)] == ["西"]


def test_tags_become_claims_and_one_readable_text(source_of: SourceOf, tools: Any) -> None:
    exif = Image.Exif()
    exif[0x010E] = "Our bridge"
    exif[0x0110] = "Pixel 4"
    exif.get_ifd(0x8769)[0x9003] = "2024:05:06 12:00:00"
    exif.get_ifd(0x8769)[0x9011] = "+08:00"
    exif.get_ifd(0x8825).update({1: "N", 2: (31.0, 13.0, 49.0), 3: "E", 4: (121.0, 28.0, 25.0)})
    source = source_of(written(Image.new("RGB", (100, 80)), "JPEG", exif=exif), "image")

    findings = read(source, tools)

    assert [one.source for one in findings if isinstance(one, TimeClaim)] == ["exif_offset"]
    assert len([one for one in findings if isinstance(one, PlaceClaim)]) == 1
    (about,) = drafts(findings, "metadata")
    assert about.text.splitlines() == [
        "Our bridge",
        "Taken: 2024-05-06T12:00:00+08:00",
        "Camera: Pixel 4",
        "Place: 31.2303, 121.4736",
        "Picture: 100×80 pixels",
    ]
    assert about.locator == BboxLocator(x=0, y=0, w=1, h=1)


def test_a_picture_with_nothing_in_it_is_empty(source_of: SourceOf, tools: Any) -> None:
    (outcome,) = read(source_of(written(Image.new("RGB", (9, 9))), "image"), tools)

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("empty", "no_text")


def test_pages_of_a_scan_carry_their_numbers(source_of: SourceOf, fakes: Any) -> None:
    pages = [Image.new("L", (50, 50), shade) for shade in (10, 90)]
    data = written(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    ocr = fakes.Ocr(lambda image: [line("page", 0, 0, 40, 10)])

    found = drafts(read(source_of(data, "image"), fakes.Tools(ocr=ocr)))

    assert [one.locator.page for one in found if isinstance(one.locator, BboxLocator)] == [1, 2]


def test_more_pages_than_allowed_is_said(source_of: SourceOf, fakes: Any) -> None:
    pages = [Image.new("L", (50, 50), shade) for shade in (10, 90, 150)]
    data = written(pages[0], "TIFF", save_all=True, append_images=pages[1:])

    outcome = read(source_of(data, "image"), fakes.Tools(limits=Limits(max_pages=2)))[-1]

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("partial", "page_limit")


def test_text_that_stays_in_an_animation_is_said_once(source_of: SourceOf, fakes: Any) -> None:
    shades = [Image.new("RGB", (32, 32), (shade, 0, 0)) for shade in (10, 90, 170)]
    data = written(shades[0], "GIF", save_all=True, append_images=shades[1:])
    ocr = fakes.Ocr(lambda image: [line("loop", 0, 0, 30, 10)])

    (draft,) = drafts(read(source_of(data, "image"), fakes.Tools(ocr=ocr)))

    assert isinstance(draft.locator, BboxLocator)
    assert draft.locator.page == 1


def test_a_describer_adds_what_is_seen(source_of: SourceOf, fakes: Any) -> None:
    tools = fakes.Tools(describer=fakes.Describer())

    (draft,) = drafts(read(source_of(written(Image.new("RGB", (9, 9))), "image"), tools), "visual")

    assert (draft.text, draft.attributes["labels"]) == ("a picture", ["thing"])


def test_labels_are_said_in_both_languages_as_a_guess(source_of: SourceOf, fakes: Any) -> None:
    labeller = fakes.Labeller(Label("pug", "巴哥犬", 0.6), Label("dog", "狗", 0.8))
    tools = fakes.Tools(ocr=fakes.Ocr(lambda image: [line("7 pm", 1, 1, 9, 5)]), labeller=labeller)

    picture = source_of(written(Image.new("RGB", (40, 30))), "image")
    (seen,) = drafts(read(picture, tools), "visual")

    assert seen.text == "Photo, seems to show: pug, dog. 照片，看起来像：巴哥犬、狗。"
    assert seen.confidence == 0.6
    assert seen.attributes == {"labels": ["pug", "dog"], "said_by": "classifier"}
    assert isinstance(seen.locator, BboxLocator)
    assert (seen.locator.x, seen.locator.y, seen.locator.w, seen.locator.h) == (0, 0, 1, 1)
    assert seen.producer is not None
    assert seen.producer.role == "label"
    assert labeller.seen == [((40, 30), ["7 pm"])]


def test_an_animation_is_labelled_once_and_a_labeller_may_say_nothing(
    source_of: SourceOf, fakes: Any
) -> None:
    shades = [Image.new("RGB", (32, 32), (shade, 0, 0)) for shade in (10, 90, 170)]
    data = written(shades[0], "GIF", save_all=True, append_images=shades[1:])
    labeller = fakes.Labeller()

    assert drafts(read(source_of(data, "image"), fakes.Tools(labeller=labeller)), "visual") == []
    assert len(labeller.seen) == 1


def test_huge_pictures_are_read_smaller_and_long_strips_keep_their_width() -> None:
    assert shrink(Image.new("1", (8000, 6000))).size == (4000, 3000)
    assert shrink(Image.new("1", (800, 9000))).size == (800, 9000)
    assert shrink(Image.new("1", (300, 200))).size == (300, 200)


def test_columns_of_an_askew_scan_are_still_columns() -> None:
    lines = []
    for row in range(8):
        for column, left in enumerate((100, 520)):
            # Two degrees: eight hundred pixels down, the gutter has moved by 28 to the left.
            shift = row * 100 * 0.035
            x, y = left - shift, 100 + row * 100 + left * 0.035
            quad = ((x, y), (x + 400, y + 14), (x + 399, y + 34), (x - 1, y + 20))
            lines.append(OcrLine(f"{column}{row}", 0.9, quad))

    texts = [one.text for one in ordered(lines, (1000, 1000))]

    assert texts == [f"{column}{row}" for column in (0, 1) for row in range(8)]


def test_lines_of_text_that_lies_on_its_side_keep_their_order() -> None:
    turned = [
        OcrLine("first", 0.9, ((90.0, 10.0), (90.0, 80.0), (80.0, 80.0), (80.0, 10.0))),
        OcrLine("second", 0.9, ((70.0, 10.0), (70.0, 80.0), (60.0, 80.0), (60.0, 10.0))),
    ]

    assert [one.text for one in ordered(turned, (100, 100))] == ["first", "second"]
