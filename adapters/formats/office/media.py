"""Pictures and files inside a document become assets of their own."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.magic import by_magic
from muniment.adapters.formats.office.package import Package
from muniment.adapters.ports import Derived
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from muniment.store.records import Locator

MAX_PICTURES = 1000
_HEAD = 64 * 1024


class Embedded:
    """Hands out each embedded file of a package once; ``files`` false leaves all but pictures."""

    def __init__(self, package: Package, *, files: bool = True) -> None:
        self._package = package
        self._files = files
        self._given: set[str] = set()

    def under(self, folders: Iterable[str]) -> Iterator[Derived]:
        """Yield the files in folders of the package."""
        from muniment.store.records import MemberLocator

        places = tuple(folders)
        for name in self._package.names:
            if name.startswith(places):
                yield from self.take(name, MemberLocator(path=name))

    def take(self, name: str, locator: "Locator") -> Iterator[Derived]:
        """Yield a part as picture or attachment; what nobody can read is left where it is."""
        if name in self._given or name not in self._package or len(self._given) >= MAX_PICTURES:
            return
        self._given.add(name)
        try:
            data = self._package.bytes_of(name)
        except InputError:
            return
        kind = by_magic(data[:_HEAD], data[-_HEAD:])
        if kind is None or kind.family in {"office.legacy", "binary", "font"}:
            return
        if kind.family != "image" and not self._files:
            return
        relation = "embedded_image" if kind.family == "image" else "attachment"
        file = name.rpartition("/")[2]
        yield Derived(relation, locator=locator, name=file, data=data, observe=True)
