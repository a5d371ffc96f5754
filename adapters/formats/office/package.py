"""A document that is a zip of parts, read within budgets; nothing outside it is ever fetched."""

import contextlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import unquote

from muniment.adapters.formats.unpacking import is_encrypted, open_zip, unpacking
from muniment.adapters.ports import Limits, Source
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType
    from xml.etree.ElementTree import Element
    from zipfile import ZipExtFile

# A tree in memory takes about ten times its text.
MAX_TREE_BYTES = 96 * 1024 * 1024
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_STRICT, _USUAL = "http://purl.oclc.org/ooxml/", "http://schemas.openxmlformats.org/"
PROLOG_BYTES = 1024
_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml\s(?:[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"'])?[^>]*\?>\s*)?"
    rb"<[A-Za-z_]"
)
_PLAIN_ENCODINGS = frozenset((b"utf-8", b"us-ascii", b"ascii", b"iso-8859-1"))
_ROOMS = ("drawingml", "wordprocessingml", "presentationml", "spreadsheetml", "officeDocument")


class Relation(NamedTuple):
    """A part that another part refers to; ``kind`` is the last word of its type."""

    kind: str
    target: str


class Package:
    """An open package; use as a context manager."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self._stream = source.open()
        try:
            self._zip = open_zip(self._stream, limits, "office document")
        except BaseException:
            self._stream.close()
            raise
        self._members = {member.filename: member for member in self._zip.infolist()}
        if any(is_encrypted(member) for member in self._members.values()):
            self.__exit__()
            raise locked()

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._stream.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts, in the order of the zip."""
        return tuple(self._members)

    def bytes_of(self, name: str) -> bytes:
        """Return a part; ``InputError`` ``no_such_member`` or ``unreadable``."""
        if name not in self._members:
            raise InputError(f"it has no part {name}", code="no_such_member")
        with unpacking("office document"):
            return self._zip.read(self._members[name])

    def events(self, name: str) -> "Iterator[tuple[str, Element]]":
        """Yield ``start`` and ``end`` of each element while a part of any size is parsed."""
        if name not in self._members:
            raise InputError(f"it has no part {name}", code="no_such_member")
        with unpacking("office document"), self._zip.open(self._members[name]) as part:
            head = cast("ZipExtFile", part).peek(PROLOG_BYTES)[:PROLOG_BYTES]
            read = _parser(head).iterparse
            with parsing(name):
                yield from read(part, events=("start", "end"))

    def xml(self, name: str) -> "Element":
        """Parse a part; entity declarations are refused (``xml_entities``)."""
        if name in self._members and self._members[name].file_size > MAX_TREE_BYTES:
            raise InputError(f"the part {name} is too large", code="too_large")
        return parse_xml(self.bytes_of(name), name)

    def xml_or_none(self, name: str) -> "Element | None":
        """Parse a part that may be absent or broken without harm."""
        try:
            return self.xml(name) if name in self._members else None
        except InputError:
            return None

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return the parts inside the package that a part (or ``""``, the package) refers to."""
        folder, _, name = part.rpartition("/")
        root = self.xml_or_none(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, Relation] = {}
        for item in root.iter(_RELATION) if root is not None else ():
            if item.get("TargetMode") != "External":
                target = resolve(folder, item.get("Target", ""))
                kind = item.get("Type", "").rpartition("/")[2]
                found[item.get("Id", "")] = Relation(kind, target)
        return found


def locked() -> InputError:
    """Return the error of a document that asks for a password."""
    return InputError(
        "the document asks for a password",
        code="password",
        status="encrypted",
        hint="ingest a copy saved without its password",
    )


def resolve(folder: str, target: str) -> str:
    """Return the name of the part that a reference from a folder of the package means."""
    path = unquote(target.partition("#")[0])
    if path.startswith("/"):
        return posixpath.normpath(path).lstrip("/")
    return posixpath.normpath(posixpath.join(folder, path)) if path else ""


@contextlib.contextmanager
def parsing(name: str) -> Iterator[None]:
    """Turn what the parser raises into ``InputError``."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException

    try:
        yield
    except DefusedXmlException as fault:
        raise InputError(f"{name} declares entities", code="xml_entities") from fault
    except (ParseError, LookupError, UnicodeError) as fault:
        raise InputError(f"{name} is not whole XML", code="unreadable") from fault
    except RecursionError as fault:
        raise InputError(f"{name} is nested too deep", code="nesting") from fault


def parse_xml(data: bytes, name: str) -> "Element":
    """Parse XML without entities; namespaces of the strict variant become the usual ones."""
    with parsing(name):
        if _STRICT.encode() in data[:4096]:
            data = _usual(data)
        root: Element = _parser(data[:PROLOG_BYTES]).fromstring(data)
        return root


def _parser(head: bytes) -> "ModuleType":
    """Return the module to parse XML with: the fast one where nothing can be declared.

    Entities are declared between the XML declaration and the first element. Where the one follows
    the other, in an encoding that spells ``<`` as ASCII does, there are none.
    """
    opening = _OPENING.match(head)
    if opening is None or (opening[1] or b"utf-8").lower() not in _PLAIN_ENCODINGS:
        return import_module("defusedxml.ElementTree")
    return import_module("xml.etree.ElementTree")


def _usual(data: bytes) -> bytes:
    for room in _ROOMS:
        strict, usual = f"{_STRICT}{room}/", f"{_USUAL}{room}/2006/"
        data = data.replace(strict.encode(), usual.encode())
    return data
