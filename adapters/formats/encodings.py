"""Find the encoding of a text and decode it, whole or in blocks.

The order: byte order mark, wide encodings by their NULs, strict UTF-8, the encoding that the text
declares, the configured list by plausibility, a statistical detector, Latin-1. Offsets elsewhere
are code points of the text decoded here: no newline translation, the byte order mark left out.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from muniment.adapters.formats.plausibility import plausibility
from muniment.adapters.formats.wide import wide_encoding

DEFAULT_ENCODINGS: tuple[str, ...] = ("gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1252")
BLOCK_BYTES = 1 << 20
SAMPLE_BYTES = 4 * 1024
_ENOUGH = 0.55
_FIRST_CHOICE = 0.1
_CERTAIN = 1.05
_DETECTOR_BYTES = 24
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_DECLARED = re.compile(rb"(?:charset|encoding|coding)\s*[=:]\s*[\"']?([A-Za-z0-9_.:-]{2,24})")
_NO_CHARSETS = frozenset(("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"))
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
}


@dataclass(frozen=True, slots=True)
class Encoding:
    """How to decode a text: a Python codec, how sure that is (0..1), and mark bytes to skip.

    ``had_errors``: some bytes do not decode and stand as U+FFFD.
    """

    name: str
    confidence: float = 1.0
    bom_bytes: int = 0
    had_errors: bool = False


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was decoded."""

    text: str
    encoding: str
    confidence: float
    had_errors: bool


def decode(data: bytes, preferred: Sequence[str] = DEFAULT_ENCODINGS) -> Decoded:
    """Decode bytes in memory."""
    encoding = identify(data, preferred=preferred)
    text = data[encoding.bom_bytes :].decode(encoding.name, "replace")
    return Decoded(text, encoding.name, encoding.confidence, encoding.had_errors)


def identify(
    data: bytes, *, preferred: Sequence[str] = DEFAULT_ENCODINGS, whole: bool = True
) -> Encoding:
    """Name the encoding of bytes; ``whole`` false says that they may end inside a character."""
    if marked := _marked(data):
        return replace(
            marked, had_errors=not _decodes(data[marked.bom_bytes :], marked.name, whole)
        )
    if b"\x00" in data and (wide := wide_encoding(data)):
        return Encoding(wide, 0.9, had_errors=not _decodes(data, wide, whole))
    if b"\x1b$" in data and _decodes(data, "iso2022_jp", whole):
        return Encoding("iso2022_jp", 0.9)
    if _decodes(data, "utf-8", whole):
        return Encoding("utf-8")
    legacy = _legacy(_sample(data), preferred)
    return replace(legacy, had_errors=not _decodes(data, legacy.name, whole))


def detect(
    stream: BinaryIO, limit_bytes: int, preferred: Sequence[str] = DEFAULT_ENCODINGS
) -> Encoding:
    """Name the encoding of a stream of any size, reading up to a limit in blocks.

    One pass checks UTF-8; where that fails, the block with the first fault is judged. Errors in
    later blocks of another encoding show as U+FFFD when it is decoded.
    """
    head = stream.read(min(BLOCK_BYTES, limit_bytes))
    whole = len(head) < min(BLOCK_BYTES, limit_bytes)
    encoding = identify(head, preferred=preferred, whole=whole)
    if whole or encoding.name != "utf-8" or encoding.had_errors:
        return encoding
    check, left = codecs.getincrementaldecoder("utf-8")(), limit_bytes - len(head)
    check.decode(head)
    while left > 0 and (block := stream.read(min(BLOCK_BYTES, left))):
        left -= len(block)
        try:
            check.decode(block)
        except UnicodeDecodeError:
            if encoding.bom_bytes:
                return replace(encoding, had_errors=True)
            pending = check.getstate()[0]
            judged = _legacy(_sample(pending + block), preferred)
            return replace(judged, had_errors=judged.name == "utf-8")
    return encoding


def blocks(stream: BinaryIO, encoding: Encoding, limit_bytes: int) -> Iterator[str]:
    """Yield the decoded text in blocks, up to a limit of bytes; undecodable ones as U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding.name)("replace")
    stream.read(encoding.bom_bytes)
    left = limit_bytes - encoding.bom_bytes
    while left > 0 and (block := stream.read(min(BLOCK_BYTES, left))):
        left -= len(block)
        if text := decoder.decode(block):
            yield text
    if not stream.read(1) and (rest := decoder.decode(b"", final=True)):
        yield rest


def _marked(data: bytes) -> Encoding | None:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return Encoding(name, bom_bytes=len(mark))
    return None


def _decodes(data: bytes, name: str, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(name)().decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def _sample(data: bytes) -> bytes:
    """Cut out whole lines around the first byte that is not ASCII."""
    first = re.search(rb"[\x80-\xff]", data)
    at = max(0, (first.start() if first else 0) - 512)
    start = data.rfind(b"\n", 0, at) + 1
    if len(data) - start <= SAMPLE_BYTES:
        return data[start:]
    end = data.rfind(b"\n", start, start + SAMPLE_BYTES)
    return data[start : end + 1 if end > start else start + SAMPLE_BYTES]


def _legacy(sample: bytes, preferred: Sequence[str]) -> Encoding:
    if _mostly_utf8(sample):
        return Encoding("utf-8", 0.9)
    if (declared := _declared(sample)) and _text_of(sample, declared) is not None:
        return Encoding(declared, 0.9)
    best, best_score = _most_plausible(sample, preferred)
    if best and best_score >= _ENOUGH:
        return Encoding(best, round(min(0.95, best_score), 2))
    return _detected(sample) or Encoding("latin-1", 0.0)


def _most_plausible(sample: bytes, preferred: Sequence[str]) -> tuple[str, float]:
    scored = [("", 0.0)]
    for rank, name in enumerate(preferred):
        text = _text_of(sample, name)
        if text is not None:
            score = plausibility(text, name) + (_FIRST_CHOICE if rank == 0 else 0.0)
            scored.append((name, score))
            if rank == 0 and score > _CERTAIN:
                break
    return max(scored, key=lambda pair: pair[1])


def _text_of(sample: bytes, name: str) -> str | None:
    """Decode a sample strictly; a cut character at the end of a long one is forgiven."""
    try:
        return codecs.getincrementaldecoder(name)().decode(sample, len(sample) < SAMPLE_BYTES)
    except UnicodeDecodeError:
        return None


def _mostly_utf8(sample: bytes) -> bool:
    """Whether the text is UTF-8 with a few broken bytes."""
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return sum(c > "\x7f" for c in text) - broken >= 8 * broken


def text_codec(name: str) -> str | None:
    """Return the codec for the name of an encoding of text; null when there is none.

    Python calls base64, zip and escapes encodings, too: they are none of text.
    """
    try:
        b"a".decode(name, "replace")
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return None if found in _NO_CHARSETS else found


def _declared(sample: bytes) -> str | None:
    found = _DECLARED.search(sample[:1024])
    if found is None:
        return None
    name = text_codec(found[1].decode("ascii"))
    return None if name is None or name.startswith("utf") else _SUPERSETS.get(name, name)


def _detected(sample: bytes) -> Encoding | None:
    """Ask the statistical detector, which is no use on a few characters."""
    if sum(byte > 0x7F for byte in sample[:1024]) < _DETECTOR_BYTES:  # noqa: PLR2004 (ASCII)
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(sample[:8192]).best()
    if best is None or best.encoding.startswith("utf"):
        return None
    name = codecs.lookup(best.encoding).name
    return Encoding(_SUPERSETS.get(name, name), round(max(0.1, 0.7 - best.chaos), 2))
