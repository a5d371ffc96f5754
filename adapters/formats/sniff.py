"""Say what a file is by its content.

Binary formats by their magic bytes, first match first (so a polyglot is what it starts as);
whatever decodes as text by its shape. The file name only chooses among kinds of text.
"""

import codecs
import re

from muniment.adapters.formats.encodings import identify
from muniment.adapters.formats.magic import Sniffed, by_magic
from muniment.adapters.formats.text_kinds import kind_of_text
from muniment.adapters.formats.wide import has_stray_nuls, wide_encoding

__all__ = ["HEAD_BYTES", "SNIFFER_VERSION", "TAIL_BYTES", "Sniffed", "sniff"]

SNIFFER_VERSION = "2"
HEAD_BYTES = 64 * 1024
TAIL_BYTES = 64 * 1024

_BINARY = Sniffed("application/octet-stream", "binary")
_EMPTY = Sniffed("application/x-empty", "empty")
_PDF_WINDOW = 1024
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
# Control characters that no text has: all but tab, line ends, form feed, backspace and escape.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b\x1a")) + b"\x7f"
_CONTROL_SHARE = 0.01
_UNLIKELY = re.compile(r"[\x80-\x9f\ufffd]")
_UNLIKELY_SHARE = 0.05


def sniff(head: bytes, tail: bytes, size: int, name: str) -> Sniffed:
    """Name the media type and family of a file of ``size`` bytes.

    ``head`` and ``tail`` are its first and last ``HEAD_BYTES`` and ``TAIL_BYTES`` (all of it when
    it is smaller); ``name`` is a hint among kinds of text.
    """
    if size == 0 or not head:
        return _EMPTY
    marked = head.startswith(_MARKS)
    if not marked and (sniffed := by_magic(head, tail)):
        return sniffed
    text = _as_text(head, whole=size <= len(head))
    if text is not None and text.lstrip().startswith("%PDF-"):
        return Sniffed("application/pdf", "pdf")
    if text is None:
        in_front = b"%PDF-" in head[:_PDF_WINDOW]
        return Sniffed("application/pdf", "pdf") if in_front else _BINARY
    return kind_of_text(text, name)


def _as_text(head: bytes, *, whole: bool) -> str | None:
    """Decode the head, or return null when it is no text."""
    if head.isascii() and not _too_many_controls(head):
        return head.decode("ascii")
    if b"\x00" in head and not head.startswith(_MARKS):
        if wide := wide_encoding(head):
            return head.decode(wide, "replace")
        if not has_stray_nuls(head):
            return None
        head = head.replace(b"\x00", b"")
    encoding = identify(head, whole=whole)
    text = head[encoding.bom_bytes :].decode(encoding.name, "replace")
    if encoding.name.startswith("utf-") and not encoding.had_errors:
        return text if not encoding.name.endswith("8") or not _too_many_controls(head) else None
    if _too_many_controls(head) or len(_UNLIKELY.findall(text)) > _UNLIKELY_SHARE * len(text):
        return None
    return text


def _too_many_controls(data: bytes) -> bool:
    kept = data.translate(None, _CONTROLS)
    return len(data) - len(kept) > _CONTROL_SHARE * len(data)
