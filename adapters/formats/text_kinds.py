"""Tell kinds of text apart by their shape: mail, calendars, cues, chats, markup, tables, notes."""

import re

from muniment.adapters.formats.chats.table import recognise as recognise_chat
from muniment.adapters.formats.magic import Sniffed

_SUFFIXES = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "tab": "text/tab-separated-values",
    "json": "application/json",
    "geojson": "application/json",
    "ipynb": "application/x-ipynb+json",
    "jsonl": "application/x-ndjson",
    "ndjson": "application/x-ndjson",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "text/html",
    "xml": "application/xml",
    "xmp": "application/rdf+xml",
    "svg": "image/svg+xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "ini": "text/x-ini",
    "log": "text/x-log",
    "tex": "text/x-tex",
    "rst": "text/x-rst",
    "org": "text/x-org",
    "lrc": "text/x-lrc",
}
_CODE = frozenset(
    (
        *("py", "pyi", "js", "mjs", "ts", "tsx", "jsx", "c", "h", "cc", "cpp", "hpp", "rs", "go"),
        *("java", "kt", "swift", "rb", "php", "pl", "lua", "r", "jl", "scala", "cs", "sh", "bash"),
        *("zsh", "fish", "ps1", "bat", "sql", "css", "scss", "less", "vue", "m", "mm", "hs", "ml"),
        *("clj", "ex", "exs", "erl", "dart", "groovy", "cmake", "mk", "asm", "proto", "diff"),
    )
)
_MARKUP = frozenset(("text/html", "application/xml", "application/rdf+xml", "image/svg+xml"))
_CUE = re.compile(r"^\s*(?:\d+:)?\d{1,2}:\d{1,2}[.,]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,2}:\d", re.M)
_SCRIPT_INFO = re.compile(r"(?:\s*|;[^\n]*\n)*+\[Script Info\]", re.I)
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]{1,60}):(?: |\t|$|\r)")
_MAIL_HEADERS = frozenset(("from", "to", "subject", "date", "cc", "reply-to", "sender"))
_MAIL_TRACES = frozenset(
    (
        *("received", "return-path", "delivered-to", "message-id", "mime-version", "content-type"),
        *("dkim-signature", "x-mailer", "references", "in-reply-to", "content-transfer-encoding"),
    )
)
_HTML = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|div|p|h[1-6]|table|ul|meta)\b",
    re.I | re.S,
)
_XML = re.compile(r"\s*<(?:\?xml\b|!DOCTYPE\b|(?:[a-z]+:)?[A-Za-z]+[^>]*\bxmlns)")
_MBOX = re.compile(r"From \S+ +\w{3},? .*\d\d:\d\d.*\d{4}.*$", re.M)
_ENOUGH_HEADERS = 2


def kind_of_text(text: str, name: str) -> Sniffed:
    """Name the kind of decoded text; ``text`` may be its beginning only."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    text = text.removeprefix("\ufeff")
    kind = _by_opening(text) or _by_cues(text) or _by_mail_headers(text)
    if kind is None and suffix not in _CODE and (chat := recognise_chat(text, suffix)):
        kind = Sniffed(chat, "chat")
    return kind or Sniffed(_plain_type(text, suffix), "text")


def _by_opening(text: str) -> Sniffed | None:
    opening = text[:64].lstrip()
    if opening.startswith("{\\rtf"):
        return Sniffed("application/rtf", "rtf")
    upper = opening[:15].upper()
    if upper.startswith("BEGIN:VCALENDAR"):
        return Sniffed("text/calendar", "calendar")
    if upper.startswith("BEGIN:VCARD"):
        return Sniffed("text/vcard", "contact")
    return None


def _by_cues(text: str) -> Sniffed | None:
    if text.startswith("WEBVTT") and text[6:7] in ("", " ", "\t", "\n", "\r"):
        return Sniffed("text/vtt", "subtitle")
    if text[:4096].lstrip()[:1] in ("[", ";") and _SCRIPT_INFO.match(text[:4096]):
        return Sniffed("text/x-ssa", "subtitle")
    if "-->" in text and (cue := _CUE.search(text)) and _leads_in(text[: cue.start()]):
        return Sniffed("application/x-subrip", "subtitle")
    return None


def _leads_in(before: str) -> bool:
    """Whether only a cue number or a short title stands before the first cue."""
    return len(before.split("\n")) <= 4 and len(before) <= 200  # noqa: PLR2004 (a short lead)


def _by_mail_headers(text: str) -> Sniffed | None:
    if text.startswith("From ") and _MBOX.match(text):
        return Sniffed("application/mbox", "mail")
    if not _HEADER.match(text):
        return None
    names = set()
    for line in text[:8192].splitlines():
        if not line.strip():
            break
        found = _HEADER.match(line)
        if found:
            names.add(found[1].lower())
        elif not line[0].isspace():
            return None
    seen = len(names & _MAIL_HEADERS) + len(names & _MAIL_TRACES)
    traced = names & _MAIL_TRACES or {"from", "subject"} <= names
    return Sniffed("message/rfc822", "mail") if traced and seen >= _ENOUGH_HEADERS else None


def _plain_type(text: str, suffix: str) -> str:
    hinted = _SUFFIXES.get(suffix, "")
    if hinted in _MARKUP:
        return hinted if "<" in text else "text/plain"
    if hinted:
        return hinted
    if suffix in _CODE:
        return "text/x-source"
    if text[:256].lstrip()[:1] == "<":
        if _HTML.match(text[:4096]):
            return "text/html"
        if _XML.match(text[:4096]):
            return "application/xml"
    return _structured(text) or "text/plain"


def _structured(text: str) -> str | None:
    """Name JSON and JSON lines that came without a telling name."""
    opening = text.lstrip()
    if opening[:1] not in ("{", "[") or '"' not in opening[:512]:
        return None
    import json

    first = opening.partition("\n")[0].strip()
    if first.startswith("{") and first.endswith("}"):
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            return None
        return "application/x-ndjson" if "\n{" in opening else "application/json"
    return "application/json" if re.match(r"[\[{]\s*[\[{\"\d]", opening) else None
