"""Parse Rich Text Format: groups, control words and bytes in the code page of their font."""

import codecs
import re
from dataclasses import dataclass, field, replace

from muniment.adapters.formats.chats.message import clean
from muniment.adapters.formats.office.written import Written

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])"
    rb"|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
# Groups whose words are not of the text.
_UNSEEN = frozenset(
    (
        *("colortbl", "stylesheet", "listtable", "listoverridetable", "revtbl", "rsidtbl", "pict"),
        *("generator", "themedata", "colorschememapping", "latentstyles", "datastore", "fldinst"),
        *("xmlnstbl", "objdata", "bkmkstart", "bkmkend", "nonshppict", "falt", "panose", "filetbl"),
        *("private", "userprops", "docvar", "template", "pntext", "listtext", "wgrffmtfilter"),
    )
)
_KEPT_EXTENSIONS = frozenset(("shppict", "shpinst", "atnid", "annotation"))
_FACTS = {"title": "title", "author": "author", "subject": "subject", "keywords": "keywords"}
_WORDS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_MAX_GROUPS = 10_000
_MAX_HEADING = 9


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds inside a pair of braces."""

    seen: bool = True
    fallback: int = 1  # characters that stand after each \u for programs that can't show it
    encoding: str = ""
    fact: str = ""
    in_fonts: bool = False
    level: int = 0
    in_table: bool = False


@dataclass(slots=True)
class Document:
    """A parsed file; ``whole`` says that every group was closed."""

    written: Written = field(default_factory=Written)
    properties: dict[str, str] = field(default_factory=dict)
    whole: bool = True

    @property
    def text(self) -> str:
        """The words without markup."""
        return self.written.text


def parse(data: bytes) -> Document:
    """Parse a file; whatever is no markup is text."""
    return _Parser(data).parsed()


class _Parser:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._document = Document()
        self._stack: list[_Group] = []
        self._group = _Group()
        self._page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._words: list[str] = []
        self._bytes = bytearray()
        self._to_skip = 0
        self._starred = False
        self._row: list[str] = []
        self._rows: list[list[str]] = []

    def parsed(self) -> Document:
        at = 0
        while match := _TOKEN.match(self._data, at):
            at = match.end()
            word, number, escape, symbol, brace, text = match.groups()
            if word is not None:
                at += self._control(word.decode("ascii"), int(number) if number else None)
            elif escape is not None:
                self._put_bytes(bytes((int(escape, 16),)))
            elif symbol is not None:
                self._symbol(symbol)
            elif brace is not None:
                self._brace(brace)
            elif text is not None:
                self._put_bytes(text)
        self._paragraph()
        self._end_table()
        self._document.whole = not self._stack and at >= len(self._data)
        return self._document

    def _brace(self, brace: bytes) -> None:
        self._decode()
        self._starred = False
        if brace == b"{" and len(self._stack) < _MAX_GROUPS:
            self._stack.append(self._group)
        elif brace == b"}" and self._stack:
            if self._group.fact and self._group.fact != self._stack[-1].fact:
                self._document.properties[self._group.fact] = self._taken().strip()
            self._group = self._stack.pop()

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._starred = True
        elif symbol in b"\r\n":
            self._paragraph()
        elif symbol in _SYMBOLS:
            self._put(_SYMBOLS[symbol])

    def _control(self, word: str, number: int | None) -> int:
        """Carry out a control word; return how many bytes after it belong to it."""
        starred, self._starred = self._starred, False
        if word == "bin":
            return max(0, number or 0)
        if word in _UNSEEN or (starred and word not in _KEPT_EXTENSIONS):
            self._group = replace(self._group, seen=False)
        elif word == "u" and number is not None:
            self._put(chr(number % 0x10000))
            self._to_skip = self._group.fallback
        elif word in _WORDS:
            self._put(_WORDS[word])
        elif word in _FACTS and self._group.fact:
            self._group = replace(self._group, fact=_FACTS[word])
        else:
            self._other(word, number)
        return 0

    def _other(self, word: str, number: int | None) -> None:
        if not self._layout(word, number):
            self._characters(word, number)

    def _layout(self, word: str, number: int | None) -> bool:
        if word in {"par", "sect", "page"}:
            self._paragraph()
        elif word == "pard":
            self._group = replace(self._group, level=0, in_table=False)
        elif word == "intbl":
            self._group = replace(self._group, in_table=True)
        elif word == "outlinelevel":
            self._group = replace(self._group, level=min(_MAX_HEADING, (number or 0) + 1))
        elif word in {"cell", "nestcell"}:
            self._row.append(self._taken())
        elif word in {"row", "nestrow"}:
            self._rows.append(self._row)
            self._row = []
        else:
            return False
        return True

    def _characters(self, word: str, number: int | None) -> None:
        if word == "fonttbl":
            self._group = replace(self._group, in_fonts=True, seen=False)
        elif word == "info":
            self._group = replace(self._group, fact="other")
        elif word == "uc":
            self._group = replace(self._group, fallback=max(0, min(16, number or 0)))
        elif word == "ansicpg" and number:
            self._page = _codec(f"cp{number}")
        elif word == "f" and self._group.in_fonts:
            self._font = number or 0
        elif word in {"f", "af"} and number is not None:
            self._decode()
            self._group = replace(self._group, encoding=self._fonts.get(number, ""))
        elif word == "fcharset" and self._group.in_fonts:
            self._fonts[self._font] = _PAGES.get(number or 0, "")

    def _put_bytes(self, data: bytes) -> None:
        if not self._group.seen:
            return
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        self._bytes += data[skipped:]

    def _put(self, text: str) -> None:
        self._to_skip = 0
        if self._group.seen:
            self._decode()
            self._words.append(text)

    def _decode(self) -> None:
        if self._bytes:
            page = self._group.encoding or self._page
            self._words.append(self._bytes.decode(page, "replace"))
            self._bytes.clear()

    def _taken(self) -> str:
        self._decode()
        text = clean("".join(self._words)).replace("\x00", "")
        self._words.clear()
        return text

    def _paragraph(self) -> None:
        text = self._taken()
        if self._group.in_table:
            self._words.append(text + " ")
            return
        self._end_table()
        self._document.written.paragraph(text, level=self._group.level)

    def _end_table(self) -> None:
        if self._row:
            self._rows.append(self._row)
        if self._rows:
            self._document.written.table(self._rows)
        self._row, self._rows = [], []


def _codec(name: str) -> str:
    """Return a code page that Python has, else the usual one."""
    try:
        return codecs.lookup({"cp936": "gb18030", "cp65001": "utf-8"}.get(name, name)).name
    except LookupError:
        return "cp1252"
