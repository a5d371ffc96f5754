"""``quote(extract(locator)) == quote`` for pages, messages and cues: read again, not remembered."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.documents import drafts, quote_of, read, scratch, source_of
from support.media import BlindTools, findings, source
from support.pdf_builder import build, text

from muniment.adapters.extract import Cited, extract
from muniment.adapters.ports import Draft, Limits
from muniment.store.errors import InputError
from muniment.store.records import PageLocator

WORDS = st.text("abcdefghij KLMNO.,;!?0123456789", min_size=1, max_size=30).filter(str.strip)
LINE = st.tuples(WORDS, st.integers(20, 400), st.integers(20, 760), st.sampled_from([9, 12, 24]))
TURNED = st.sampled_from(["", "/Rotate 90", "/Rotate 180", "/Rotate 270"])
BOX = st.sampled_from(["/MediaBox [0 0 612 792]", "/MediaBox [0 0 612 792] /CropBox [9 9 600 780]"])
SAID = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)


def told(page: Draft, data: bytes, path: Path) -> str:
    """Return what the locator of a page's passage is resolved to when its words are asked for."""
    path.write_bytes(data)
    cited = Cited(page.locator.model_dump(), page.text, as_text=True)
    target = path.with_suffix(".words")
    assert extract(source(path, path.parent / "s"), cited, target, Limits()) == "text/plain"
    return target.read_text("utf-8")


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(LINE, max_size=6), TURNED, BOX), min_size=1, max_size=3))
def test_a_passage_of_a_page_reads_as_it_was_quoted(
    pages: list[tuple[list[tuple[str, int, int, int]], str, str]],
) -> None:
    data = build(
        *((f"{box} {turn}", "".join(text(*line) for line in lines)) for lines, turn, box in pages),
        info="/Title (About pages)",
    )
    path = scratch() / "pages.pdf"
    path.write_bytes(data)

    found = [one for one in findings("pdf", path, BlindTools()) if isinstance(one, Draft)]

    assert [one.text for one in found if one.kind == "metadata"] == ["Title: About pages"]
    for passage in found:
        assert told(passage, data, path) == passage.text


def test_words_are_read_from_the_page_and_not_from_what_was_recorded(tmp_path: Path) -> None:
    data = build(("/MediaBox [0 0 612 792]", text("The blue pot.", 72, 700)))
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    (passage,) = [one for one in findings("pdf", path) if isinstance(one, Draft)]

    forged = Draft("page_text", "The red pot.", passage.locator)
    whole = Draft("page_text", "anything", PageLocator(page=1))

    assert told(forged, data, path) == "The blue pot."
    assert told(whole, data, path) == "The blue pot."
    with pytest.raises(InputError) as caught:
        told(Draft("page_text", "x", PageLocator(page=2)), data, path)
    assert caught.value.code == "not_extractable"


def test_what_is_only_seen_has_no_words_to_extract(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (60, 40), "red").save(tmp_path / "a.png")
    cited = Cited({"type": "bbox", "x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0}, "EXIT", as_text=True)

    with pytest.raises(InputError) as caught:
        extract(source(tmp_path / "a.png", tmp_path / "s"), cited, tmp_path / "o.txt", Limits())

    assert caught.value.code == "not_extractable"


@given(st.lists(st.tuples(SAID, SAID), min_size=1, max_size=6))
def test_a_message_of_an_export_reads_as_it_was_quoted(talk: list[tuple[str, str]]) -> None:
    messages = [
        {"id": number, "type": "message", "date": f"2024-05-06T07:08:{number:02d}",
         "from": author, "text": said}
        for number, (author, said) in enumerate(talk)
    ]  # fmt: skip
    export = {"name": "Ana", "type": "personal_chat", "id": 7, "messages": messages}
    data = json.dumps(export, ensure_ascii=False).encode()

    found = drafts(read(data, "result.json"))

    assert all(one.kind == "message" for one in found)
    for message in found:
        assert quote_of(data, message, "result.json") == message.text


@given(st.lists(st.tuples(st.integers(0, 90_000), st.integers(1, 9_000), SAID), max_size=8))
def test_a_cue_reads_as_it_was_quoted(cues: list[tuple[int, int, str]]) -> None:
    data = "".join(
        f"{number}\n{clock(start)} --> {clock(start + length)}\n{said}\n\n"
        for number, (start, length, said) in enumerate(cues, 1)
    ).encode()
    if source_of(data, "a.srt").family != "subtitle":
        assert not cues or not cues[0][2].strip()
        return

    for cue in drafts(read(data, "a.srt")):
        assert quote_of(data, cue, "a.srt") == cue.text


def clock(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d},{rest:03d}"
