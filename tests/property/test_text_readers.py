"""Whatever the text and its encoding: spans resolve to the words, blocks make no difference."""

from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from muniment.adapters.formats.chats import ChatReader
from muniment.adapters.formats.chats.whatsapp import MEDIA_TYPE as WHATSAPP
from muniment.adapters.formats.decoded import quote
from muniment.adapters.formats.encodings import blocks, decode, detect
from muniment.adapters.formats.passages import PASSAGE_UNITS, line_breaks, passages, units
from muniment.adapters.formats.plain_text import TextReader
from muniment.adapters.formats.sentences import sentences
from muniment.adapters.formats.sniff import sniff
from muniment.adapters.ports import Draft, Limits, Source, Tools
from muniment.store.errors import MissingToolError
from muniment.store.records import CharLocator


@dataclass
class FakeTools:
    limits: Limits = field(default_factory=lambda: Limits(max_text_bytes=1 << 20))

    def language_identifier(self) -> None:
        raise MissingToolError("no model here")


WORDS = st.sampled_from(
    (
        *("word", "One.", "Dr.", "3.5", "é", "你好", "今天天气很好。", "；", "😀", "\u200b"),
        *("\n", "\r\n", "\r", "\n\n", " ", "\t", "# Head\n", "- item\n", "```\n", "<p>", "</p>"),
        *("<b>", "x" * 900, "好" * 500),
    )
)
PROSE = st.lists(WORDS, max_size=60).map("".join)
TEXT = PROSE | st.text(max_size=400)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"])
MEDIA_TYPES = st.sampled_from(["text/plain", "text/markdown", "text/csv", "text/html"])


def source(data: bytes, media_type: str) -> Source:
    return Source("sha256:0", len(data), media_type, "text", "a.txt", Path(), data=data)


def drafts(reader: TextReader | ChatReader, asset: Source) -> list[Draft]:
    found = reader.read(asset, cast("Tools", FakeTools()))
    return [finding for finding in found if isinstance(finding, Draft)]


@given(TEXT, ENCODINGS, MEDIA_TYPES)
def test_a_span_resolves_to_the_text_that_was_quoted(text: str, codec: str, kind: str) -> None:
    asset = source(text.encode(codec, "ignore"), kind)
    decoded = decode(asset.data or b"").text
    for draft in drafts(TextReader(), asset):
        where = cast("CharLocator", draft.locator)
        assert decoded[where.start : where.end] == draft.text
        assert quote(asset, where.start, where.end, 1 << 20) == draft.text
        assert where.line_start == 1 + line_breaks(decoded[: where.start])
        assert where.line_end == where.line_start + line_breaks(draft.text)


@given(st.binary(max_size=300))
def test_any_bytes_are_sniffed_decoded_and_read_without_an_error(data: bytes) -> None:
    sniff(data, data, len(data), "a.txt")
    asset = source(data, "text/plain")
    decoded = decode(data).text
    for draft in drafts(TextReader(), asset):
        where = cast("CharLocator", draft.locator)
        assert decoded[where.start : where.end] == draft.text


@given(TEXT, st.booleans(), st.booleans())
def test_passages_are_ordered_small_and_lose_no_visible_character(
    text: str, prose: bool, markdown: bool
) -> None:
    found = list(passages([text], prose=prose, markdown=markdown))
    at = 0
    for passage in found:
        assert passage.start >= at
        assert passage.text == text[passage.start : passage.end]
        assert passage.text.strip()
        assert units(passage.text) <= PASSAGE_UNITS
        at = passage.end
    seen = "".join(c for p in found for c in p.text if c.isalnum())
    assert seen == "".join(c for c in text if c.isalnum())


@given(TEXT, st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_where_blocks_end_makes_no_difference(text: str, cuts: list[int], markdown: bool) -> None:
    edges = [0, *sorted(cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges) if a < b]
    whole = list(passages([text], markdown=markdown))

    assert list(passages(pieces, markdown=markdown)) == whole


@given(TEXT)
def test_sentences_are_ordered_and_lose_no_visible_character(text: str) -> None:
    spans = list(sentences(text))

    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


@given(TEXT, ENCODINGS)
def test_a_stream_decodes_like_the_bytes_in_memory(text: str, codec: str) -> None:
    data = text.encode(codec, "ignore")
    encoding = detect(BytesIO(data), 1 << 20)

    assert "".join(blocks(BytesIO(data), encoding, 1 << 20)) == decode(data).text


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_utf8_always_comes_back_as_it_was(text: str) -> None:
    decoded = decode(("x" + text).encode())

    if "\0" not in text and "\x1b$" not in text:
        assert decoded.text == "x" + text


LINE = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp", "Zs"]), min_size=1
)
NAME = st.text(st.characters(categories=["L"]), min_size=1, max_size=12)


@given(st.lists(st.tuples(NAME, LINE), min_size=1, max_size=12))
def test_a_chat_comes_back_as_it_was_said(talk: list[tuple[str, str]]) -> None:
    log = "".join(f"13/01/2024, 10:30 - {name}: {text}\n" for name, text in talk)
    asset = Source("sha256:0", 1, WHATSAPP, "chat", "a.txt", Path(), data=log.encode())
    found = drafts(ChatReader(), asset)

    assert [(draft.author, draft.text) for draft in found] == talk
    for draft in found:
        assert log[draft.attributes["start"] : draft.attributes["end"]] == draft.text
