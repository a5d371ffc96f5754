"""The words of an HTML page as a reader sees them, for mail and books: blocks, lists, tables."""

import re
from html import unescape

from muniment.adapters.formats.office.written import Written

# What is longer is no page.
MAX_CHARACTERS = 16 * 1024 * 1024
# Every alternative takes what it has looked at, so that hostile pages cost no more than others.
_MARK = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[|\]\]>|<[!?][^<>]*+>?"
    r"|<(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:-]*+)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>?",
    re.DOTALL,
)
_ALT = re.compile(r"\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_PROGRAMS = ("script", "style", "template", "noscript", "svg", "math")
# Where what is not shown ends.
_ENDS = {name: re.compile(rf"</{name}\b[^<>]*>?", re.IGNORECASE) for name in _PROGRAMS} | {
    "head": re.compile(r"</head\b[^<>]*>?|(?=<body\b)", re.IGNORECASE),
    "rt": re.compile(r"(?=</?(?:rt|rp|rb|ruby)\b)", re.IGNORECASE),
    "rp": re.compile(r"(?=</?(?:rt|rp|rb|ruby)\b)", re.IGNORECASE),
}
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "figure"),
        *("figcaption", "blockquote", "pre", "address", "ul", "ol", "dl", "dt", "dd", "form"),
        *(
            "fieldset",
            "table",
            "tbody",
            "thead",
            "tfoot",
            "caption",
            "hr",
            "body",
            "html",
            "center",
        ),
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_MAX_TABLES = 64


def visible_text(page: str) -> Written:
    """Return the words of a page; broken markup gives what there is."""
    page = page[:MAX_CHARACTERS]
    parser, at = _Page(), 0
    while mark := _MARK.search(page, at):
        parser.words(page[at : mark.start()])
        at = parser.mark(page, mark)
    parser.words(page[at:])
    parser.finish()
    return parser.written


class _Page:
    """Collects paragraphs; a table that holds only one column is layout, not data."""

    def __init__(self) -> None:
        self.written = Written()
        self._words: list[str] = []
        self._level = 0
        self._item = False
        self._preformatted = 0
        self._rows: list[list[list[str]]] = []
        self._endless: set[str] = set()

    def words(self, source: str) -> None:
        """Take what stands between marks."""
        if source:
            text = unescape(source)
            self._words.append(text if self._preformatted else _folded(text))

    def mark(self, page: str, mark: re.Match[str]) -> int:
        """Act on a tag, comment or declaration; return where to go on."""
        name, whole = (mark["name"] or "").lower(), mark[0].endswith("/>")
        if mark["close"]:
            self._close(name)
        elif name in _ENDS and not whole:
            return self._past(page, name, mark.end())
        elif name == "br":
            self._words.append("\n")
        elif name == "img" and (alt := _ALT.search(mark[0])):
            self._words.append(unescape(alt[1] or alt[2] or ""))
        elif name:
            self._open(name)
            if whole:
                self._close(name)
        return mark.end()

    def _past(self, page: str, name: str, after: int) -> int:
        """Return where what is not shown ends; a program without an end hides all that follows."""
        found = None if name in self._endless else _ENDS[name].search(page, after)
        if found is not None:
            return found.end()
        self._endless.add(name)
        return len(page) if name in _PROGRAMS else after

    def _open(self, tag: str) -> None:
        if tag in _HEADINGS or tag == "li" or tag in _BLOCKS:
            self._flush()
            self._level = _HEADINGS.get(tag, 0)
            self._item = tag == "li"
            self._preformatted += tag == "pre"
        if tag == "table" and len(self._rows) < _MAX_TABLES:
            self._rows.append([])
        elif tag == "tr" and self._rows:
            self._rows[-1].append([])
        elif tag in {"td", "th"}:
            self._flush()

    def _close(self, tag: str) -> None:
        if tag in {"td", "th"} and self._rows and self._rows[-1]:
            self._rows[-1][-1].append(self._taken())
        elif tag == "table" and self._rows:
            self._close_table()
        elif tag in _HEADINGS or tag == "li" or tag in _BLOCKS:
            self._flush()
            self._preformatted -= tag == "pre" and self._preformatted > 0

    def finish(self) -> None:
        """Close whatever the page left open."""
        while self._rows:
            self._close_table()
        self._flush()

    def _close_table(self) -> None:
        rest = self._taken()
        rows = self._rows.pop()
        if rest and rows:
            rows[-1].append(rest)
        if self._rows and self._rows[-1]:
            self._words.append(" ".join(filter(None, (" ".join(row) for row in rows))))
        elif all(len([cell for cell in row if cell]) <= 1 for row in rows):
            for row in rows:
                for cell in row:
                    self.written.paragraph(cell)
        else:
            self.written.table(rows)

    def _flush(self) -> None:
        if self._rows and self._rows[-1]:
            self._words.append("\n")
            return
        self.written.paragraph(self._taken(), level=self._level, item=self._item)
        self._level, self._item = 0, False

    def _taken(self) -> str:
        text = "".join(self._words)
        self._words.clear()
        if self._preformatted:
            return text
        lines = (" ".join(line.split()) for line in text.split("\n"))
        return "\n".join(line for line in lines if line)


def _folded(data: str) -> str:
    """Make line ends of the source spaces, keeping a space at either side."""
    return data.replace("\r", " ").replace("\n", " ")
