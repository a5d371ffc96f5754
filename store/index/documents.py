"""What goes into an index and what comes out of it."""

from typing import NamedTuple

from muniment.store.errors import DamageError


class IndexDamageError(DamageError):
    """The index is absent, damaged or of an older kind; nothing is lost, it must be rebuilt.

    ``code`` is ``index_missing``, ``index_damaged`` or ``index_outdated``.
    """

    code = "index_damaged"


class Document(NamedTuple):
    """One text to find, and what searches are narrowed by.

    ``ref`` names it (``observation:obs_1``); a second document of the same ref replaces the first.
    ``title`` is a name to find it by (file, author), ``context`` what stands around it (the
    neighbouring messages, the date); both are searched, with less weight. ``instant`` is UTC text,
    ``family`` the sniffed family of the medium, ``group`` what belongs together (an episode),
    ``author`` who spoke or wrote.
    """

    ref: str
    kind: str
    text: str
    title: str = ""
    context: str = ""
    asset: str | None = None
    seq: int = 0
    instant: str | None = None
    family: str | None = None
    origin: str | None = None
    role: str | None = None
    source: str | None = None
    session: str | None = None
    path: str | None = None
    confidence: float = 0.0
    group: str | None = None
    author: str | None = None


class Row(NamedTuple):
    """What recall needs of a stored document before it reads the ledger."""

    rowid: int
    ref: str
    kind: str
    asset: str | None
    seq: int
    instant: str | None
    family: str | None
    origin: str | None
    role: str | None
    session: str | None
    group: str | None
    author: str | None


class Hit(NamedTuple):
    """A document that answers a search: a higher score is better.

    ``exact`` says that it holds the question, or what was quoted in it, as it stands.
    """

    row: Row
    score: float
    exact: bool

    @property
    def rowid(self) -> int:
        """The document's number in this index, never used twice."""
        return self.row.rowid

    @property
    def ref(self) -> str:
        """The name that it was added under."""
        return self.row.ref

    @property
    def kind(self) -> str:
        """The document's kind."""
        return self.row.kind


def in_order(hit: Hit) -> tuple[bool, float, int, str]:
    """Return what hits are sorted by: exact ones, then scores, then their place in the ledger.

    Engines add up in another order and precision: what is the same in five digits is equal.
    """
    return not hit.exact, -float(f"{hit.score:.5g}"), hit.row.seq, hit.row.ref


class Filters(NamedTuple):
    """What a document must meet; empty fields ask nothing.

    ``since`` and ``until`` are UTC instants, half-open; a document without one then doesn't match.
    ``path`` is a part of the path, ``path_prefix`` its beginning.
    """

    kinds: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    min_confidence: float | None = None
    path: str | None = None
    path_prefix: str | None = None


# The column that each filter of several values asks for one of them.
FILTER_COLUMNS = {
    "kinds": "kind", "families": "family", "origins": "origin", "roles": "role",
    "sources": "source", "sessions": "session", "assets": "asset", "groups": "grp", "refs": "ref",
}  # fmt: skip
