"""The text of one part of a document as paragraphs, with its headings and pages."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.passages import Passage, passages, visible
from muniment.adapters.ports import Draft

if TYPE_CHECKING:
    from muniment.store.records import CharLocator

CELL_BREAK = " | "
MAX_LEVELS = 9


@dataclass(slots=True)
class Written:
    """Paragraphs set apart by blank lines; offsets are code points of :attr:`text`."""

    _pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _in_list: bool = False
    _headings: list[tuple[int, int, str]] = field(default_factory=list)
    _pages: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def paragraph(self, text: str, *, level: int = 0, item: bool = False) -> None:
        """Add a paragraph; ``level`` counts from 1 for headings, ``item`` is one of a list."""
        text = text.strip()
        if not visible(text):
            return
        self._apart(close=item and self._in_list)
        if 0 < level <= MAX_LEVELS:
            self._headings.append((self._size, level, " ".join(text.split())))
        self._put(f"- {text}" if item else text)
        self._in_list = item

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table, one line a row."""
        lines = [CELL_BREAK.join(" ".join(cell.split()) for cell in row) for row in rows]
        body = "\n".join(line for line in lines if line.strip(" |"))
        if body:
            self._apart(close=False)
            self._put(body)
            self._in_list = False

    def page_break(self) -> None:
        """Note that what comes next stands on another page."""
        self._pages.append(self._size)

    def notes_at(self, offset: int) -> dict[str, Any]:
        """Return the path of headings over an offset, and its page where pages are known."""
        path: list[tuple[int, str]] = []
        for start, level, title in self._headings:
            if start > offset:
                break
            path = [above for above in path if above[0] < level] + [(level, title)]
        notes: dict[str, Any] = {}
        if path:
            notes["heading"] = " > ".join(title for _, title in path)
        if self._pages:
            notes["page"] = bisect_right(self._pages, offset) + 1
        return notes

    def drafts(self, path: str, notes: Mapping[str, Any] | None = None) -> Iterator[Draft]:
        """Yield the passages as ``page_text`` of a part of the package."""
        from muniment.store.records import MemberLocator

        for passage in passages([self.text]):
            yield Draft(
                kind="page_text",
                text=passage.text,
                locator=MemberLocator(path=path, inner=span_of(passage)),
                confidence=1.0,
                language=script_language(passage.text),
                attributes={**(notes or {}), **self.notes_at(passage.start)},
            )

    def _apart(self, *, close: bool) -> None:
        if self._pieces:
            self._put("\n" if close else "\n\n")

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)


def span_of(passage: Passage) -> "CharLocator":
    """Return the place of a passage in its text."""
    from muniment.store.records import CharLocator

    return CharLocator(
        start=passage.start,
        end=passage.end,
        line_start=passage.line_start,
        line_end=passage.line_end,
    )
