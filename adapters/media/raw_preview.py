"""The picture that a camera put into its raw photo, found by the structure of the container."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from muniment.adapters.formats.raw_kinds import CR3, RAF
from muniment.adapters.formats.tiff_tags import directories
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

_MOST_BYTES = 128 * 1024 * 1024
_TAGS_BYTES = 4 * 1024 * 1024
_STRIP, _STRIP_LENGTH, _PREVIEW, _PREVIEW_LENGTH = 0x0111, 0x0117, 0x0201, 0x0202
_JPEG_FROM_RAW = 0x002E
_RAF_PREVIEW = 84
_CONTAINERS = frozenset((b"moov", b"trak", b"mdia", b"minf", b"stbl"))
_CANON_TAGS = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_CANON_PREVIEW = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")
_MOST_BOXES = 2_000
_UUID = 16
_EXIF, _GPS, _XMP = 0x8769, 0x8825, 0x02BC
# Baseline, extended and progressive: lossless JPEG is what the sensor's own data is kept as.
_FRAMES = (0xC0, 0xC1, 0xC2)
_ALONE = (0x01, *range(0xD0, 0xD9))


class Span(NamedTuple):
    """Where bytes stand in a file."""

    offset: int
    length: int


def preview_of(stream: BinaryIO, media_type: str) -> bytes:
    """Return the largest JPEG picture in a raw photo.

    Raises ``InputError`` ``no_preview`` when there is none that can be shown.
    """
    best, area = b"", 0
    for span in dict.fromkeys(_candidates(stream, media_type)):
        if not 0 < span.length <= _MOST_BYTES or span.offset <= 0:
            continue
        stream.seek(span.offset)
        data = stream.read(span.length)
        if (size := _pixels(data)) > area:
            best, area = data, size
    if not best:
        raise InputError(
            "a raw photo without a preview",
            code="no_preview",
            status="unsupported",
            hint="ingest a developed copy",
        )
    return best


def with_tags(preview: "Image.Image", stream: BinaryIO, media_type: str) -> "Image.Image":
    """Give a preview the tags that the camera wrote outside of it; broken ones are left out."""
    own = preview.getexif()
    if media_type == CR3:
        blocks = _canon_tags(stream)
        parts = {0: blocks.get(b"CMT1"), _EXIF: blocks.get(b"CMT2"), _GPS: blocks.get(b"CMT4")}
        for number, block in parts.items():
            (own.get_ifd(number) if number else own).update(_tags(block or b""))
    elif media_type != RAF:
        stream.seek(0)
        head = stream.read(_TAGS_BYTES)
        # Two makers write a number of their own where the standard has 42.
        mark = b"II*\x00" if head[:2] == b"II" else b"MM\x00*"
        found = _tags(mark + head[4:])
        for number in (_EXIF, _GPS):
            with suppress(Exception):  # as below
                own.get_ifd(number).update(found.get_ifd(number))
        own.update({tag: value for tag, value in found.items() if tag not in (_EXIF, _GPS)})
        if _XMP in own:
            preview.info.setdefault("xmp", own[_XMP])
    return preview


def _tags(data: bytes) -> "Image.Exif":
    from PIL import Image

    exif = Image.Exif()
    with suppress(Exception):  # the parser raises whatever a broken tag makes it raise
        exif.load(b"Exif\x00\x00" + data)
    return exif


def _candidates(stream: BinaryIO, media_type: str) -> Iterator[Span]:
    if media_type == CR3:
        yield from _canon_pictures(stream)
    elif media_type == RAF:
        stream.seek(_RAF_PREVIEW)
        yield Span(_whole(stream.read(4)), _whole(stream.read(4)))
    else:
        yield from _in_directories(stream)


def _in_directories(stream: BinaryIO) -> Iterator[Span]:
    for tags in directories(stream):
        for at, length in ((_PREVIEW, _PREVIEW_LENGTH), (_STRIP, _STRIP_LENGTH)):
            if at in tags and length in tags:
                offsets, lengths = tags[at].numbers, tags[length].numbers
                if len(offsets) == len(lengths) == 1:
                    yield Span(offsets[0], lengths[0])
        if _JPEG_FROM_RAW in tags:
            yield Span(tags[_JPEG_FROM_RAW].offset, tags[_JPEG_FROM_RAW].length)


class _Box(NamedTuple):
    kind: bytes
    uuid: bytes
    start: int
    end: int


def _boxes(stream: BinaryIO, start: int, end: int) -> Iterator[_Box]:
    """Yield the boxes of a span, those inside of containers, too, up to a number of them."""
    waiting, seen = [(start, end)], 0
    while waiting and seen < _MOST_BOXES:
        at, last = waiting.pop(0)
        if at + 8 > last:
            continue
        seen += 1
        stream.seek(at)
        head = stream.read(32)
        size, kind, skip = _whole(head[:4]), head[4:8], 8
        if size == 1:
            size, skip = _whole(head[8:16]), 16
        size = size or last - at
        if size < skip or at + size > last:
            continue
        uuid = head[skip : skip + _UUID] if kind == b"uuid" else b""
        inner = at + skip + len(uuid)
        waiting.append((at + size, last))
        if kind in _CONTAINERS or uuid == _CANON_TAGS:
            waiting.append((inner, at + size))
        yield _Box(kind, uuid, inner, at + size)


def _canon_tags(stream: BinaryIO) -> dict[bytes, bytes]:
    found = {}
    for box in _boxes(stream, 0, _end(stream)):
        if box.kind.startswith(b"CMT"):
            stream.seek(box.start)
            found[box.kind] = stream.read(min(box.end - box.start, _TAGS_BYTES))
    return found


def _canon_pictures(stream: BinaryIO) -> Iterator[Span]:
    """Yield the first sample of each track (one is a JPEG of full size), and the preview box."""
    offsets, lengths = [], []
    for box in _boxes(stream, 0, _end(stream)):
        stream.seek(box.start)
        head = stream.read(32)
        if box.kind == b"co64":
            offsets.append(_whole(head[8:16]))
        elif box.kind == b"stsz":
            lengths.append(_whole(head[4:8]) or _whole(head[12:16]))
        elif box.uuid == _CANON_PREVIEW:
            # Eight bytes, then a box of its own: its length stands behind its size in pixels.
            yield Span(box.start + 32, box.end - box.start - 32)
    yield from map(Span, offsets, lengths)


def _end(stream: BinaryIO) -> int:
    return stream.seek(0, 2)


def _pixels(data: bytes) -> int:
    """Return how many pixels a JPEG has that anything can show; 0 for other bytes."""
    at = 2
    if not data.startswith(b"\xff\xd8"):
        return 0
    while at + 9 < len(data):
        if data[at] != 0xFF:  # noqa: PLR2004 (the byte that every marker begins with)
            return 0
        marker = data[at + 1]
        if marker in _FRAMES:
            return _whole(data[at + 5 : at + 7]) * _whole(data[at + 7 : at + 9])
        if marker in _ALONE or marker == 0xFF:  # noqa: PLR2004 (a fill byte)
            at += 1 if marker == 0xFF else 2  # noqa: PLR2004
            continue
        if 0xC3 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # noqa: PLR2004
            return 0
        at += 2 + _whole(data[at + 2 : at + 4])
    return 0


def _whole(data: bytes) -> int:
    return int.from_bytes(data, "big")
