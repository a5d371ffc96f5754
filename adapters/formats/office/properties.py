"""What a document says of itself: title, author, subject, when it was made."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from muniment.adapters.media.moments import moment_of, parse_wall_time
from muniment.adapters.ports import Draft, Finding, TimeClaim

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from muniment.store.records import Locator, Precision

# A document made from a template keeps the template's time.
CONFIDENCE = 0.3
_CHARACTERS = 2000
_WORDS = {
    "title": "Title",
    "creator": "Author",
    "initial-creator": "Author",
    "author": "Author",
    "subject": "Subject",
    "keywords": "Keywords",
    "keyword": "Keywords",
    "description": "Description",
    "publisher": "Publisher",
    "category": "Category",
}
_CREATED = ("created", "creation-date", "date")


def properties(root: "Element | None") -> dict[str, str]:
    """Return the texts of the elements of a properties part, by their names without namespace."""
    found: dict[str, list[str]] = {}
    for element in root.iter() if root is not None else ():
        if element.text and element.text.strip():
            name = element.tag.rpartition("}")[2]
            found.setdefault(name, []).append(" ".join(element.text.split())[:_CHARACTERS])
    return {name: ", ".join(dict.fromkeys(values)) for name, values in found.items()}


def findings(found: Mapping[str, str], locator: "Locator") -> Iterator[Finding]:
    """Yield a ``metadata`` observation and a claim of the time that a document was made."""
    lines: dict[str, str] = {}
    for name, word in _WORDS.items():
        if name in found and word not in lines:
            lines[word] = found[name]
    for name in _CREATED:
        text = found.get(name, "").partition(", ")[0]
        made = parse_wall_time(text)
        if made is not None:
            day: Precision | None = "day" if len(text) == len("YYYY-MM-DD") else None
            yield TimeClaim(moment_of(made, "container", day), "container", CONFIDENCE)
            break
    if lines:
        words = "\n".join(f"{word}: {value}" for word, value in lines.items())
        yield Draft("metadata", words, locator, confidence=1.0)
