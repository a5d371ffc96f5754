"""What the first and last bytes of a binary file say it is."""

import re
from collections.abc import Callable
from typing import NamedTuple

from muniment.adapters.formats.raw_kinds import raw_type


class Sniffed(NamedTuple):
    """A media type and the family of readers that it belongs to."""

    media_type: str
    family: str


_PREFIXES: tuple[tuple[bytes, Sniffed], ...] = (
    (b"\xff\xd8\xff", Sniffed("image/jpeg", "image")),
    (b"\x89PNG\r\n\x1a\n", Sniffed("image/png", "image")),
    (b"GIF87a", Sniffed("image/gif", "image")),
    (b"GIF89a", Sniffed("image/gif", "image")),
    (b"II*\x00", Sniffed("image/tiff", "image")),
    (b"MM\x00*", Sniffed("image/tiff", "image")),
    (b"II+\x00", Sniffed("image/tiff", "image")),
    (b"MM\x00+", Sniffed("image/tiff", "image")),
    (b"8BPS\x00", Sniffed("image/vnd.adobe.photoshop", "image")),
    (b"\x00\x00\x01\x00", Sniffed("image/x-icon", "image")),
    (b"\x00\x00\x00\x0cjP  \r\n", Sniffed("image/jp2", "image")),
    (b"\x00\x00\x00\x0cJXL \r\n", Sniffed("image/jxl", "image")),
    (b"%PDF-", Sniffed("application/pdf", "pdf")),
    (b"ID3\x02", Sniffed("audio/mpeg", "audio")),
    (b"ID3\x03", Sniffed("audio/mpeg", "audio")),
    (b"ID3\x04", Sniffed("audio/mpeg", "audio")),
    (b"fLaC", Sniffed("audio/flac", "audio")),
    (b"#!AMR", Sniffed("audio/amr", "audio")),
    (b"caff\x00", Sniffed("audio/x-caf", "audio")),
    (b".snd\x00", Sniffed("audio/basic", "audio")),
    (b"wvpk", Sniffed("audio/x-wavpack", "audio")),
    (b"MAC \x96", Sniffed("audio/x-ape", "audio")),
    (b"MPCK", Sniffed("audio/x-musepack", "audio")),
    (b"MP+\x07", Sniffed("audio/x-musepack", "audio")),
    (b"TTA1", Sniffed("audio/x-tta", "audio")),
    (b"DSD \x1c", Sniffed("audio/x-dsf", "audio")),
    (b"\x0b\x77", Sniffed("audio/ac3", "audio")),
    (b"\x7f\xfe\x80\x01", Sniffed("audio/vnd.dts", "audio")),
    (b"FLV\x01", Sniffed("video/x-flv", "video")),
    (b".RMF\x00", Sniffed("application/vnd.rn-realmedia", "video")),
    (b"\x00\x00\x01\xba", Sniffed("video/mpeg", "video")),
    (b"\x00\x00\x01\xb3", Sniffed("video/mpeg", "video")),
    (b"\x1f\x8b\x08", Sniffed("application/gzip", "archive")),
    (b"\xfd7zXZ\x00", Sniffed("application/x-xz", "archive")),
    (b"7z\xbc\xaf\x27\x1c", Sniffed("application/x-7z-compressed", "archive")),
    (b"Rar!\x1a\x07", Sniffed("application/vnd.rar", "archive")),
    (b"\x28\xb5\x2f\xfd", Sniffed("application/zstd", "archive")),
    (b"SQLite format 3\x00", Sniffed("application/vnd.sqlite3", "database")),
    (b"OTTO\x00", Sniffed("font/otf", "font")),
    (b"\x00\x01\x00\x00\x00", Sniffed("font/ttf", "font")),
    (b"ttcf\x00", Sniffed("font/collection", "font")),
    (b"wOFF\x00", Sniffed("font/woff", "font")),
    (b"wOF2\x00", Sniffed("font/woff2", "font")),
    (b"\x7fELF", Sniffed("application/x-elf", "binary")),
    (b"MZ\x90\x00", Sniffed("application/vnd.microsoft.portable-executable", "binary")),
    (b"MThd\x00\x00\x00\x06", Sniffed("audio/midi", "binary")),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = (
    ("EncryptedPackage", "x-ole-encrypted-package"),
    ("WordDocument", "msword"),
    ("Workbook", "vnd.ms-excel"),
    ("PowerPoint Document", "vnd.ms-powerpoint"),
)
_ASF = b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"
_ASF_VIDEO = b"\xc0\xef\x19\xbc\x4d\x5b\xcf\x11"
_ASF_AUDIO = b"\x40\x9e\x69\xf8\x4d\x5b\xcf\x11"
_RIFF = {
    b"WAVE": Sniffed("audio/wav", "audio"),
    b"AVI ": Sniffed("video/x-msvideo", "video"),
    b"WEBP": Sniffed("image/webp", "image"),
}
_HEIF_BRANDS = frozenset((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"))
_AUDIO_BRANDS = frozenset((b"M4A ", b"M4B ", b"M4P ", b"F4A ", b"F4B ", b"aax ", b"aaxc"))
_BMP_HEADER_SIZES = frozenset((12, 16, 40, 52, 56, 64, 108, 124))
_OGG_VIDEO = (b"\x80theora", b"BBCD\x00", b"OVP80", b"\x01video")
_OFFICE = {
    b"word": ("wordprocessingml.document", "office.docx"),
    b"ppt": ("presentationml.presentation", "office.pptx"),
    b"xl": ("spreadsheetml.sheet", "office.xlsx"),
}
_OFFICE_MEMBER = re.compile(rb"PK(?:\x03\x04.{26}|\x01\x02.{42})(word|ppt|xl)/", re.DOTALL)
_CONTENT_TYPES = b"[Content_Types].xml"
_SLACK_DAY = re.compile(rb"/\d{4}-\d\d-\d\d\.json")
_MIMETYPE_MEMBER = re.compile(rb"PK\x03\x04.{26}mimetype(application/[a-z0-9.+-]+)", re.DOTALL)

# Frame headers: no byte order mark passes, nor a reserved version, layer, bit rate or sample rate.
_MPEG_RATES = b"".join(b"\\x%x0-\\x%xb" % (n, n) for n in range(1, 15))
_PATTERNS = (
    (re.compile(rb"\xff[\xf0\xf1\xf8\xf9]"), Sniffed("audio/aac", "audio")),
    (
        re.compile(rb"\xff[\xe2-\xe7\xf2-\xf7\xfa-\xfd][" + _MPEG_RATES + b"]"),
        Sniffed("audio/mpeg", "audio"),
    ),
    (re.compile(rb"(?s)(?:G.{187}){3}G|.{4}(?:G.{191}){3}G"), Sniffed("video/mp2t", "video")),
    (
        re.compile(rb"(?s)\x00.{3}(?:moov|mdat|wide|pnot|skip|free)."),
        Sniffed("video/quicktime", "video"),
    ),
    (re.compile(rb"BZh[1-9]1AY&SY"), Sniffed("application/x-bzip2", "archive")),
)


def _prefix(head: bytes, _tail: bytes) -> Sniffed | None:
    for prefix, sniffed in _PREFIXES:
        if head.startswith(prefix):
            return sniffed
    return None


def _raw_photo(head: bytes, _tail: bytes) -> Sniffed | None:
    found = raw_type(head)
    return None if found is None else Sniffed(found, "image")


def _riff(head: bytes, _tail: bytes) -> Sniffed | None:
    if head[:4] in (b"RIFF", b"RF64", b"RIFX"):
        return _RIFF.get(head[8:12])
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return Sniffed("audio/aiff", "audio")
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADER_SIZES:
        return Sniffed("image/bmp", "image")
    return None


def _iso_media(head: bytes, tail: bytes) -> Sniffed | None:
    if head[4:8] != b"ftyp":
        return None
    length = min(int.from_bytes(head[:4], "big"), 4096)
    major, compatible = head[8:12], {head[at : at + 4] for at in range(16, length, 4)}
    if major in (b"avif", b"avis"):
        return Sniffed("image/avif", "image")
    if major in _HEIF_BRANDS:
        return Sniffed("image/avif" if b"avif" in compatible else "image/heic", "image")
    if major in _AUDIO_BRANDS or _sound_only(head + tail):
        return Sniffed("audio/mp4", "audio")
    if major[:3] in (b"3gp", b"3g2"):
        return Sniffed("video/3gpp", "video")
    return Sniffed("video/quicktime" if major == b"qt  " else "video/mp4", "video")


def _sound_only(view: bytes) -> bool:
    """Whether the track handlers in view name sound and no picture."""
    handlers = {view[m.end() + 8 : m.end() + 12] for m in re.finditer(b"hdlr", view)}
    return b"soun" in handlers and b"vide" not in handlers


def _matroska(head: bytes, _tail: bytes) -> Sniffed | None:
    if head[:4] != b"\x1a\x45\xdf\xa3":
        return None
    kind = "webm" if b"webm" in head[:64] else "x-matroska"
    sound = b"V_" not in head and re.search(rb"A_(?:OPUS|VORBIS|AAC|FLAC|MPEG|PCM|AC3)", head)
    return Sniffed(f"audio/{kind}", "audio") if sound else Sniffed(f"video/{kind}", "video")


def _ogg(head: bytes, _tail: bytes) -> Sniffed | None:
    if head[:4] != b"OggS":
        return None
    if any(mark in head[:4096] for mark in _OGG_VIDEO):
        return Sniffed("video/ogg", "video")
    return Sniffed("audio/ogg", "audio")


def _asf(head: bytes, _tail: bytes) -> Sniffed | None:
    if not head.startswith(_ASF):
        return None
    if _ASF_AUDIO in head and _ASF_VIDEO not in head:
        return Sniffed("audio/x-ms-wma", "audio")
    return Sniffed("video/x-ms-wmv", "video")


def _pattern(head: bytes, _tail: bytes) -> Sniffed | None:
    for pattern, sniffed in _PATTERNS:
        if pattern.match(head):
            return sniffed
    return None


def _zip(head: bytes, tail: bytes) -> Sniffed | None:
    if head[:4] not in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"):
        return None
    if member := _MIMETYPE_MEMBER.match(head[:200]):
        declared = member[1].decode()
        if declared.startswith("application/epub+zip"):
            return Sniffed("application/epub+zip", "epub")
        if "opendocument" in declared:
            return Sniffed(declared.removesuffix("PK"), "opendocument")
    is_package = _CONTENT_TYPES in head or _CONTENT_TYPES in tail
    member = _OFFICE_MEMBER.search(head) or _OFFICE_MEMBER.search(tail)
    if is_package and member:
        kind, family = _OFFICE[member[1]]
        return Sniffed(f"application/vnd.openxmlformats-officedocument.{kind}", family)
    if _SLACK_DAY.search(tail) and b"channels.json" in tail and b"users.json" in tail:
        return Sniffed("application/x-slack+zip", "slack")
    return Sniffed("application/zip", "archive")


def _compound(head: bytes, tail: bytes) -> Sniffed | None:
    if not head.startswith(_OLE):
        return None
    message = "__substg1.0_".encode("utf-16-le")
    if message in head or message in tail:
        return Sniffed("application/vnd.ms-outlook", "mail")
    for mark, kind in _OLE_STREAMS:
        if mark.encode("utf-16-le") in head or mark.encode("utf-16-le") in tail:
            return Sniffed(f"application/{kind}", "office.legacy")
    return Sniffed("application/x-ole-storage", "office.legacy")


def _tar_or_ebook(head: bytes, _tail: bytes) -> Sniffed | None:
    if head[257:262] == b"ustar":
        return Sniffed("application/x-tar", "archive")
    if head[60:68] in (b"BOOKMOBI", b"TEXtREAd"):
        return Sniffed("application/x-mobipocket-ebook", "ebook")
    return None


_RULES: tuple[Callable[[bytes, bytes], Sniffed | None], ...] = (
    _raw_photo,
    _prefix,
    _riff,
    _iso_media,
    _matroska,
    _ogg,
    _asf,
    _zip,
    _compound,
    _tar_or_ebook,
    _pattern,
)


def by_magic(head: bytes, tail: bytes) -> Sniffed | None:
    """Name a binary format from its first and last bytes, or null."""
    for rule in _RULES:
        if sniffed := rule(head, tail):
            return sniffed
    return None
