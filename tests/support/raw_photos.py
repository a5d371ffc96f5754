"""Raw photos as cameras build them: a preview, tags, and a sensor's data that nobody can show."""

import io
import struct
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from PIL import Image

Value: TypeAlias = int | str | bytes | Sequence[int]
TAKEN: dict[int, Value] = {0x9003: "2024:05:06 07:08:09", 0x9011: "+09:00"}
SENSOR = b"\xff\xd8\xff\xc3" + b"\x11" * 600
_HEADER = 8


def jpeg(image: Image.Image) -> bytes:
    """Return a picture as a JPEG without tags."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


class RawPhoto:
    """Collects blobs and directories of a TIFF structure; offsets count from its beginning."""

    def __init__(self, head: bytes = b"II*\0", extra: bytes = b"") -> None:
        self._order = "<" if head[:2] == b"II" else ">"
        self._head = head
        self._data = bytearray(extra)

    def blob(self, data: bytes) -> int:
        """Add bytes; return where they stand."""
        self._data += b"\0" * (len(self._data) % 2)
        self._data += data
        return _HEADER + len(self._data) - len(data)

    def directory(self, tags: Mapping[int, Value], following: int = 0) -> int:
        """Add a directory; return where it stands."""
        entries = b"".join(self._entry(tag, tags[tag]) for tag in sorted(tags))
        count = struct.pack(f"{self._order}H", len(tags))
        return self.blob(count + entries + struct.pack(f"{self._order}I", following))

    def finish(self, first: int) -> bytes:
        """Return the file whose first directory stands at an offset."""
        return self._head + struct.pack(f"{self._order}I", first) + bytes(self._data)

    def _entry(self, tag: int, value: Value) -> bytes:
        kind, count, data = self._packed(value)
        if len(data) > 4:
            data = struct.pack(f"{self._order}I", self.blob(data))
        return struct.pack(f"{self._order}HHI", tag, kind, count) + data.ljust(4, b"\0")

    def _packed(self, value: Value) -> tuple[int, int, bytes]:
        if isinstance(value, str):
            return 2, len(value) + 1, value.encode() + b"\0"
        if isinstance(value, bytes):
            return 7, len(value), value
        numbers = [value] if isinstance(value, int) else list(value)
        return 4, len(numbers), struct.pack(f"{self._order}{len(numbers)}I", *numbers)


def nef(preview: bytes, orientation: int = 1, order: bytes = b"MM\0*") -> bytes:
    """Return a photo whose preview and sensor have directories below that of the thumbnail."""
    raw = RawPhoto(order)
    shown = raw.directory({0x201: raw.blob(preview), 0x202: len(preview)})
    sensor = raw.directory({0x106: 32803, 0x111: raw.blob(SENSOR), 0x117: len(SENSOR)})
    shot = raw.directory(TAKEN)
    thumbnail = raw.blob(bytes(160 * 120 * 3))
    tags: dict[int, Value] = {
        0xFE: 1, 0x100: 160, 0x101: 120, 0x102: [8, 8, 8], 0x103: 1, 0x106: 2, 0x111: thumbnail,
        0x115: 3, 0x116: 120, 0x117: 160 * 120 * 3, 0x10F: "NIKON CORPORATION",
        0x110: "NIKON D850", 0x112: orientation, 0x14A: [shown, sensor], 0x8769: shot,
    }  # fmt: skip
    return raw.finish(raw.directory(tags))


def dng(preview: bytes, orientation: int = 1) -> bytes:
    """Return a photo whose preview is the one strip of the first directory."""
    raw = RawPhoto()
    sensor = raw.directory({0x106: 32803, 0x103: 7, 0x111: raw.blob(SENSOR), 0x117: len(SENSOR)})
    shot = raw.directory(TAKEN)
    return raw.finish(
        raw.directory(
            {
                0xFE: 1,
                0x103: 7,
                0x111: raw.blob(preview),
                0x117: len(preview),
                0x14A: sensor,
                0x10F: "Apple",
                0x110: "iPhone",
                0x112: orientation,
                0xC612: b"\1\4\0\0",
                0x8769: shot,
            }
        )
    )


def cr2(preview: bytes, orientation: int = 1) -> bytes:
    """Return a photo of which the first and last directories hold JPEG data."""
    raw = RawPhoto(extra=b"CR\2\0" + bytes(4))
    sensor = raw.directory({0x103: 6, 0x111: raw.blob(SENSOR), 0x117: len(SENSOR)})
    shot = raw.directory(TAKEN)
    return raw.finish(
        raw.directory(
            {
                0x103: 6,
                0x111: raw.blob(preview),
                0x117: len(preview),
                0x10F: "Canon",
                0x110: "Canon EOS 80D",
                0x112: orientation,
                0x8769: shot,
            },
            following=sensor,
        )
    )


def rw2(preview: bytes, orientation: int = 1) -> bytes:
    """Return a photo whose preview is the value of a tag."""
    raw = RawPhoto(b"IIU\0")
    shot = raw.directory(TAKEN)
    return raw.finish(
        raw.directory(
            {0x2E: preview, 0x10F: "Panasonic", 0x110: "DMC-GH5", 0x112: orientation, 0x8769: shot}
        )
    )


def arw(preview: bytes, orientation: int = 1) -> bytes:
    """Return a photo whose first directory names its preview beside a smaller thumbnail."""
    raw = RawPhoto()
    small = jpeg(Image.new("RGB", (16, 12), "grey"))
    thumbnail = raw.directory({0x103: 6, 0x201: raw.blob(small), 0x202: len(small)})
    sensor = raw.directory({0x106: 32803, 0x111: raw.blob(SENSOR), 0x117: len(SENSOR)})
    shot = raw.directory(TAKEN)
    return raw.finish(
        raw.directory(
            {
                0xFE: 1,
                0x201: raw.blob(preview),
                0x202: len(preview),
                0x14A: sensor,
                0x10F: "SONY",
                0x110: "ILCE-7M3",
                0x112: orientation,
                0x8769: shot,
            },
            following=thumbnail,
        )
    )


def raf(preview: bytes, orientation: int = 1) -> bytes:
    """Return a photo whose preview, named in the header, has its tags itself."""
    with Image.open(io.BytesIO(preview)) as image:
        exif = Image.Exif()
        exif[0x112], exif[0x110] = orientation, "X-T3"
        exif.get_ifd(0x8769).update(TAKEN)
        tagged = io.BytesIO()
        image.save(tagged, "JPEG", quality=95, exif=exif.tobytes())
    data = tagged.getvalue()
    head = b"FUJIFILMCCD-RAW 0201FF389501X-T3".ljust(84, b"\0") + struct.pack(">II", 160, len(data))
    return head.ljust(160, b"\0") + data + SENSOR


def cr3(preview: bytes, orientation: int = 1) -> bytes:
    """Return a photo in boxes, its tags in three of them and the preview in a track."""
    first = RawPhoto()
    cmt1 = first.finish(
        first.directory({0x10F: "Canon", 0x110: "Canon EOS R6", 0x112: orientation})
    )
    second = RawPhoto()
    cmt2 = second.finish(second.directory(TAKEN))
    tags = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    tags += _box(b"CMT1", cmt1) + _box(b"CMT2", cmt2)
    brand = _box(b"ftyp", b"crx \0\0\0\1crx isom")
    sizes = _box(b"stsz", struct.pack(">III", 0, len(preview), 1))
    place = len(brand) + len(_moov(tags, sizes, 0)) + 8
    return brand + _moov(tags, sizes, place) + _box(b"mdat", preview + SENSOR)


def _moov(tags: bytes, sizes: bytes, place: int) -> bytes:
    offsets = _box(b"co64", struct.pack(">IIQ", 0, 1, place))
    table = _box(b"minf", _box(b"stbl", sizes + offsets))
    return _box(b"moov", _box(b"uuid", tags) + _box(b"trak", _box(b"mdia", table)))


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


CAMERAS = {"nef": nef, "dng": dng, "cr2": cr2, "rw2": rw2, "arw": arw, "raf": raf, "cr3": cr3}
