"""The forget list of a whole store: what every backup carries along, and what it says of a ledger.

A snapshot from before a hard forget holds what was erased. Where it is restored, the list of a
later one, or of the store that it takes the place of, tells what has to go again.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress

from muniment.store.database import rows
from muniment.store.errors import DamageError, StateError
from muniment.store.forgetting.selection import Selection
from muniment.store.forgetting.tombstones import message_parts
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
    found: set[str] = set()
    for scope in scopes(root):
        with suppress(StateError, DamageError), closing(Ledger.read(root, scope)) as ledger:
            found.update(ledger.tombstones.standing())
    return tuple(sorted(found))


def revived(ledger: Ledger, digests: Iterable[str]) -> Selection:
    """Select what a ledger holds although a forget list names it."""
    listed, found = frozenset(digests), Selection()
    if not listed:
        return found
    keyed = ledger.tombstones.digest
    database = ledger.database
    found.assets = {
        int(number)
        for number, asset in rows(database, "SELECT seq, id FROM asset")
        if keyed("asset", asset) in listed
    }
    found.events = {
        int(number)
        for number, event in rows(database, "SELECT seq, id FROM event")
        if keyed("event", event) in listed
    }
    for number, author, instant, text in database.execute(
        "SELECT seq, author, instant, text FROM observation "
        "WHERE author IS NOT NULL OR instant IS NOT NULL"
    ):
        parts = message_parts(author, instant, text)
        if parts is not None and keyed("message", *parts) in listed:
            found.observations.add(int(number))
    return found
