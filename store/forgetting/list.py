"""The forget list of a whole store: what every backup carries along, and what it says of a ledger.

A snapshot from before a hard forget holds what was erased. Where it is restored, the list of a
later one, or of the store that it takes the place of, tells what has to go again.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress

import apsw

from muniment.store.database import rows
from muniment.store.errors import DamageError, StateError
from muniment.store.forgetting.personas import texts
from muniment.store.forgetting.selection import Selection
from muniment.store.forgetting.tombstones import Tombstones, message_parts
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger


def scopes(root: Root) -> Iterator[Scope]:
    """Yield the scopes of a store."""
    for path in sorted(root.store.glob("tenants/*/users/*/namespaces/*/ledger.sqlite3")):
        tenant, user, namespace = (path.parents[at].name for at in (4, 2, 0))
        yield Scope(tenant, user, namespace)


def standing(root: Root) -> tuple[str, ...]:
    """Return every digest that blocks anything in any scope, sorted.

    A ledger that can't be opened, or is of an older schema, has none to tell.
    """
    return _told(root, lambda tombstones: tombstones.standing())


def lifted(root: Root) -> tuple[str, ...]:
    """Return every digest that was let in again in any scope, sorted."""
    return _told(root, lambda tombstones: tombstones.lifted())


def _told(root: Root, ask: Callable[[Tombstones], Iterable[str]]) -> tuple[str, ...]:
    found: set[str] = set()
    for scope in scopes(root):
        with suppress(StateError, DamageError), closing(Ledger.read(root, scope)) as ledger:
            found.update(ask(ledger.tombstones))
    return tuple(sorted(found))


def revived(ledger: Ledger, digests: Iterable[str], key: bytes | None = None) -> Selection:
    """Select what a ledger holds although a forget list names it; null takes the store's key."""
    listed, found = frozenset(digests), Selection()
    if not listed:
        return found
    tombstones = ledger.tombstones if key is None else ledger.tombstones.under(key)
    database = ledger.database

    def named(kind: str, statement: str) -> set[int]:
        return {
            int(number)
            for number, *parts in rows(database, statement)
            if tombstones.digest(kind, *parts) in listed
        }

    found.events = named("event", "SELECT seq, id FROM event")
    found.sessions = _emptied(database, named("session", "SELECT seq, id FROM session"), found)
    found.candidates = named("claim", _CLAIMS)
    found.personas = {
        version
        for text, versions in texts(ledger.root, ledger.scope).items()
        if tombstones.digest("persona", text) in listed
        for version in versions
    }
    found.observations = {
        int(number)
        for number, author, instant, text in rows(database, _MESSAGES)
        if (parts := message_parts(author, instant, text)) is not None
        and tombstones.digest("message", *parts) in listed
    }
    spared = _holders(database, found.observations) & named("reduced", _ASSETS)
    found.assets = named("asset", _ASSETS) - spared
    return found


_ASSETS = "SELECT seq, id FROM asset"
_MESSAGES = (
    "SELECT seq, author, instant, text FROM observation "
    "WHERE author IS NOT NULL OR instant IS NOT NULL"
)
_CLAIMS = (
    "SELECT c.seq, o.id, c.subject, c.key, coalesce(nullif(c.value, ''), c.text) FROM candidate c "
    "JOIN candidate_evidence e ON e.candidate = c.seq JOIN observation o ON o.seq = e.observation"
)


def _emptied(database: apsw.Connection, sessions: set[int], found: Selection) -> set[int]:
    """Leave out the sessions that something else was said in since."""
    others = {
        int(session)
        for number, session in rows(database, "SELECT seq, session FROM event")
        if int(number) not in found.events
    }
    return sessions - others


def _holders(database: apsw.Connection, observations: set[int]) -> set[int]:
    """Return the assets that messages were read from, and the files that those lie in."""
    statement = (
        "WITH RECURSIVE holder(seq) AS (SELECT o.asset FROM json_each(?) w "
        "JOIN observation o ON o.seq = w.value UNION "
        "SELECT d.parent FROM holder h JOIN derivation d ON d.asset = h.seq) "
        "SELECT seq FROM holder"
    )
    return {int(row[0]) for row in rows(database, statement, (json.dumps(sorted(observations)),))}
