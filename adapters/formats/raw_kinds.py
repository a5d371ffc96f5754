"""Tell the raw photos of cameras from plain TIFF pictures."""

import io
from collections.abc import Mapping

from muniment.adapters.formats.tiff_tags import SUB_DIRECTORIES, Tag, directories

CR3 = "image/x-canon-cr3"
RAF = "image/x-fuji-raf"
_CR2, _DNG, _OTHER = "image/x-canon-cr2", "image/x-adobe-dng", "image/x-raw"
_FUJI, _FUJI_RAW = b"FUJI", b"FUJIFILMCCD-RAW "
_OPENINGS = {
    _FUJI: RAF,
    b"IIRO": "image/x-olympus-orf",
    b"IIRS": "image/x-olympus-orf",
    b"MMOR": "image/x-olympus-orf",
    b"IIU\x00": "image/x-panasonic-rw2",
}
_MAKERS = {
    "nikon": "image/x-nikon-nef",
    "sony": "image/x-sony-arw",
    "pentax": "image/x-pentax-pef",
    "ricoh": "image/x-pentax-pef",
    "samsung": "image/x-samsung-srw",
    "hasselblad": "image/x-hasselblad-3fr",
    "canon": _CR2,
}

_SMALLER_COPY, _PHOTOMETRIC, _MAKE, _DNG_VERSION = 0x00FE, 0x0106, 0x010F, 0xC612
_SENSOR = (32803, 34892)  # a colour filter array, or linear light


def raw_type(head: bytes) -> str | None:
    """Return the media type of a raw photo from the beginning of its file, or null."""
    if head[4:12] == b"ftypcrx ":
        return CR3
    if head[:4] in _OPENINGS:
        return _OPENINGS[head[:4]] if head[:4] != _FUJI or head.startswith(_FUJI_RAW) else None
    if head[:4] in (b"II*\x00", b"MM\x00*"):
        return _CR2 if head[8:10] == b"CR" else _by_tags(list(directories(io.BytesIO(head))))
    return None


def _by_tags(found: list[Mapping[int, Tag]]) -> str | None:
    first = found[0] if found else {}
    if _DNG_VERSION in first:
        return _DNG
    maker = first[_MAKE].words.lower() if _MAKE in first else ""
    known = next((kind for name, kind in _MAKERS.items() if maker.startswith(name)), None)
    sensed = any(tags[_PHOTOMETRIC].number in _SENSOR for tags in found if _PHOTOMETRIC in tags)
    # The sensor's own directory may lie past the head; then the first one is that of a thumbnail.
    small = _SMALLER_COPY in first and first[_SMALLER_COPY].number == 1
    if sensed or (known and small and SUB_DIRECTORIES in first):
        return known or _OTHER
    return None
