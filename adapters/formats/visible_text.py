"""The words of an HTML page as a reader sees them, for mail and books: blocks, lists, tables."""

from html.parser import HTMLParser

from muniment.adapters.formats.office.written import Written

# What is longer is no page; the parser takes long over hostile ones.
MAX_CHARACTERS = 16 * 1024 * 1024
_SKIPPED = frozenset(("script", "style", "template", "noscript", "svg", "math", "head", "rt", "rp"))
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
    parser = _Page()
    parser.feed(page[:MAX_CHARACTERS])
    parser.close()
    parser.finish()
    return parser.written


class _Page(HTMLParser):
    """Collects paragraphs; a table that holds only one column is layout, not data."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written = Written()
        self._words: list[str] = []
        self._skipping: list[str] = []
        self._level = 0
        self._item = False
        self._preformatted = 0
        self._rows: list[list[list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element; void ones end at once."""
        if tag in _SKIPPED:
            self._skipping.append(tag)
        elif self._skipping:
            if tag == "body":
                self._skipping.clear()
        elif tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._words.append(next((value or "" for name, value in attrs if name == "alt"), ""))
        else:
            self._open(tag)

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

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open and close an element at once."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and what is being skipped with it."""
        if tag in self._skipping:
            del self._skipping[self._skipping.index(tag) :]
        elif self._skipping:
            return
        elif tag in {"td", "th"} and self._rows and self._rows[-1]:
            self._rows[-1][-1].append(self._taken())
        elif tag == "table" and self._rows:
            self._close_table()
        elif tag in _HEADINGS or tag == "li" or tag in _BLOCKS:
            self._flush()
            self._preformatted -= tag == "pre" and self._preformatted > 0

    def handle_data(self, data: str) -> None:
        """Take words that are shown."""
        if not self._skipping:
            self._words.append(data if self._preformatted else _folded(data))

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
