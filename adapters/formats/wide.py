"""Tell UTF-16 and UTF-32 without a mark from plain text with a few NULs in it."""

import unicodedata

from muniment.adapters.formats.plausibility import everyday_share

_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_SAMPLE_BYTES = 4096
_STRAY_SHARE = 0.1
# Of the letters that plain text makes when it is taken two bytes at a time, hardly any is common.
_EVERYDAY_SHARE = 0.25
_ODD = frozenset(("Cc", "Cn", "Cs", "Co"))


def wide_encoding(data: bytes) -> str | None:
    """Name the UTF-16 or UTF-32 form of unmarked bytes that hold NULs, or null."""
    sample = data[:_SAMPLE_BYTES]
    plain = has_stray_nuls(sample) and _is_utf8(sample.replace(b"\0", b""))
    for name in _WIDE:
        text = _decoded(sample, name)
        if _reads_as_text(text) and not (plain and everyday_share(text) < _EVERYDAY_SHARE):
            return name
    return None


def has_stray_nuls(data: bytes) -> bool:
    """Whether NULs are few between the other bytes, or pad no more than half of them."""
    inner = data.strip(b"\0")
    padded = len(data) - len(inner)
    few = inner.count(0) <= max(1, _STRAY_SHARE * len(inner))
    return few and padded <= max(1, len(inner)) and any(chr(byte).isalnum() for byte in inner)


def _decoded(sample: bytes, name: str) -> str:
    width = 4 if "32" in name else 2
    try:
        return sample[: len(sample) // width * width].decode(name)
    except UnicodeDecodeError as fault:
        if fault.reason != "unexpected end of data":
            return ""
        return sample[: fault.start].decode(name)


def _is_utf8(sample: bytes) -> bool:
    try:
        sample.decode()
    except UnicodeDecodeError as fault:
        return fault.reason == "unexpected end of data"
    return True


def _reads_as_text(text: str) -> bool:
    """Whether text decoded from unmarked wide bytes has plain characters and no oddities."""
    odd = any(c not in "\t\r\n\f" and unicodedata.category(c) in _ODD for c in text)
    return not odd and any("\x20" <= c < "\x7f" or c in "\r\n\t" for c in text)
