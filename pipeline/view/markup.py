"""Build HTML from values: whatever is not built here is escaped, so content can't become markup.

Names of tags and attributes are constants of the code; only texts and values come from outside.
Control characters and those that reorder a line are shown, not obeyed.
"""

import html
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from muniment.pipeline.output import printable

_VOID = {"br", "hr", "img", "input", "link", "meta", "source"}

Value: TypeAlias = "str | int | float | bool | None"


class Markup(str):
    """HTML that was built here and is safe to put into a page as it is."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | int | Iterable[Child] | None"


def tag(name: str, attributes: Mapping[str, Value] | None = None, *children: Child) -> Markup:
    """Return an element; an attribute that is true stands alone, one that is null is left out."""
    given = "".join(_attribute(key, value) for key, value in (attributes or {}).items())
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Return children one after another: markup as it is, anything else escaped."""
    return Markup("".join(map(_child, children)))


def text(value: str) -> Markup:
    """Escape a text for a place between tags."""
    return Markup(html.escape(printable(value), quote=False))


def name_of(value: str) -> Markup:
    """Return a name from outside in one line that leaves the order of the words around it alone."""
    return Markup(f"<bdi>{html.escape(printable(value, one_line=True), quote=False)}</bdi>")


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return text(str(child))
    return join(*child)


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {key}"
    return f' {key}="{html.escape(printable(str(value), one_line=True), quote=True)}"'
