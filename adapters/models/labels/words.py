"""What the classifier's classes are called, in English and Chinese, and what they are kinds of.

``imagenet.tsv`` has a row for each class in the order of the classifier: English, Chinese, group.
``groups.tsv`` has the groups' ids, names and the wider group of each. Classes without a group stand
for themselves; those of ``print`` are pages and screens, which are read instead of named.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

PRINT = "print"


class Name(NamedTuple):
    """What something is called, and the group that it belongs to, if any."""

    english: str
    chinese: str
    group: str


@dataclass(frozen=True, slots=True)
class Words:
    """The names of the classes, by number, and of the groups, by id."""

    classes: tuple[Name, ...]
    groups: dict[str, Name]

    def above(self, group: str) -> Iterator[str]:
        """Yield a group and the wider ones that it is part of."""
        while group:
            yield group
            group = self.groups[group].group


@lru_cache(maxsize=1)
def words() -> Words:
    """Return the words, read once."""
    classes = tuple(Name(*row) for row in _rows("imagenet.tsv"))
    groups = {key: Name(*names) for key, *names in _rows("groups.tsv")}
    return Words(classes, groups)


def _rows(name: str) -> Iterator[list[str]]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return (line.split("\t") for line in text.splitlines())
