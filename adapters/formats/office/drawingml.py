"""The words of shapes, tables, charts and diagrams."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.written import Written

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Placeholders whose words are the same on every page.
_FURNITURE = frozenset(("sldNum", "dt", "hdr", "ftr"))
_TITLES = frozenset(("title", "ctrTitle"))


def shapes_text(root: "Element", *, notes: bool = False) -> str:
    """Return the words of a slide's shapes, the title first; ``notes`` leaves out furniture."""
    written = Written()
    shapes = sorted(_shapes(root), key=lambda shape: _placeholder(shape) not in _TITLES)
    for shape in shapes:
        if notes and _placeholder(shape) in _FURNITURE:
            continue
        if shape.tag == f"{_P}pic":
            written.paragraph(_description(shape))
        elif shape.tag == f"{_P}graphicFrame":
            for table in shape.iter(f"{_A}tbl"):
                written.table([_row(row) for row in table.iter(f"{_A}tr")])
        else:
            body = shape.find(f"{_P}txBody")
            for paragraph in body.findall(f"{_A}p") if body is not None else ():
                written.paragraph(_paragraph(paragraph), item=_bulleted(paragraph))
    return written.text


def title_of(root: "Element") -> str:
    """Return the title of a slide, or nothing."""
    for shape in _shapes(root):
        if _placeholder(shape) in _TITLES:
            return " ".join(" ".join(map(_paragraph, shape.iter(f"{_A}p"))).split())
    return ""


def diagram_text(root: "Element") -> str:
    """Return the words of a chart or diagram: its text, then categories and values."""
    written = Written()
    for paragraph in root.iter(f"{_A}p"):
        written.paragraph(_paragraph(paragraph))
    rows: list[list[str]] = []
    for series in root.iter(f"{_C}ser"):
        names = _values(series.find(f"{_C}tx"))
        labels = _values(series.find(f"{_C}cat"))
        values = _values(series.find(f"{_C}val"))
        if labels and not rows:
            rows.append(["", *labels])
        rows.append([" ".join(names), *values])
    written.table(rows)
    return written.text


def _shapes(root: "Element") -> Iterator["Element"]:
    """Yield shapes and frames in order, those in groups too; of alternatives the first."""
    tree = root.find(f"{_P}cSld/{_P}spTree")
    stack = list(reversed(tree)) if tree is not None else []
    while stack:
        element = stack.pop()
        if element.tag in {f"{_P}sp", f"{_P}graphicFrame", f"{_P}pic"}:
            yield element
        elif element.tag == f"{_P}grpSp":
            stack.extend(reversed(element))
        elif element.tag == f"{_MC}AlternateContent":
            stack.extend(reversed(next(iter(element), element)))


def _placeholder(shape: "Element") -> str:
    found = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return "" if found is None else found.get("type", "body")


def _description(picture: "Element") -> str:
    """Return what the author wrote for those who can't see a picture."""
    name = picture.find(f"{_P}nvPicPr/{_P}cNvPr")
    return "" if name is None else " ".join(name.get("descr", "").split())


def _paragraph(paragraph: "Element") -> str:
    words = []
    for piece in paragraph.iter():
        if piece.tag == f"{_A}t":
            words.append(piece.text or "")
        elif piece.tag == f"{_A}br":
            words.append("\n")
    return "".join(words)


def _bulleted(paragraph: "Element") -> bool:
    return any(
        paragraph.find(f"{_A}pPr/{_A}{name}") is not None for name in ("buChar", "buAutoNum")
    )


def _row(row: "Element") -> list[str]:
    return [
        " ".join(_paragraph(paragraph) for paragraph in cell.iter(f"{_A}p"))
        for cell in row.findall(f"{_A}tc")
    ]


def _values(element: "Element | None") -> list[str]:
    return [value.text or "" for value in element.iter(f"{_C}v")] if element is not None else []
