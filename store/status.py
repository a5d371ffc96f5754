"""What a scope holds and how far its stages have come; reads only, and no long text."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from muniment.store import manifest
from muniment.store.backup import notes
from muniment.store.errors import MunimentError
from muniment.store.index.documents import IndexDamageError
from muniment.store.index.generation import FileIndexes
from muniment.store.index.ports import IndexStore
from muniment.store.layout import Root, Scope, ScopePaths
from muniment.store.ledger import Ledger
from muniment.store.ledger.changes import Changes
from muniment.store.manifest import RootState

_COUNTED = {
    "assets": "SELECT count(*) FROM asset",
    "sightings": "SELECT count(*) FROM sighting",
    "observations": "SELECT count(*) FROM observation",
    "episodes": "SELECT count(*) FROM episode",
    "candidates": "SELECT count(*) FROM candidate",
    "records": "SELECT count(*) FROM record",
    "entities": "SELECT count(*) FROM entity",
    "runs": "SELECT count(*) FROM run",
}
_GROUPED = {
    "families": "SELECT family, count(*) FROM asset_now GROUP BY family ORDER BY family",
    "observation_kinds": "SELECT kind, count(*) FROM observation INDEXED BY observation_asset "
    "GROUP BY kind ORDER BY kind",
    "candidate_statuses": "SELECT status, count(*) FROM candidate_now GROUP BY status "
    "ORDER BY status",
    "record_statuses": "SELECT status, count(*) FROM record_now GROUP BY status ORDER BY status",
}
# What an index that can't be opened is; the next recall makes another.
_STATES = {"index_missing": "missing", "index_outdated": "outdated"}


def status(root: Root, scope: Scope, indexes: IndexStore | None = None) -> dict[str, Any]:
    """Return the state of a root and what the scope in it holds; every field is always there.

    Sizes are bytes. ``last`` holds the sequence numbers that an index follows. Raises
    ``DamageError`` when the ledger can't be read.
    """
    state = manifest.state_of(root)
    paths = root.scope(scope)
    found: dict[str, Any] = {
        "root": os.fsencode(root.path).decode("utf-8", "backslashreplace"),
        "state": state.value,
        "scope": scope.as_dict(),
        "exists": state is RootState.CURRENT and paths.ledger.exists(),
        "schema": None,
        "counts": dict.fromkeys(_COUNTED, 0),
        **{name: {} for name in _GROUPED},
        "stages": {},
        "bytes": _sizes(paths),
        "last": {"observation": 0, "revision": 0},
        "last_run": None,
        "last_backup": notes.latest(root, notes.BACKUP),
        "last_drill": notes.latest(root, notes.DRILL),
        "index": {"state": "missing", "behind": 0},
        "failed_calls": [],
    }
    if not found["exists"]:
        return found
    with Ledger.read(root, scope) as ledger, ledger.snapshot():
        found |= _held(ledger)
        found["index"] = _freshness(ledger, indexes or FileIndexes(paths.index))
        found["failed_calls"] = ledger.audit.failures()
        found["bytes"] |= _asset_sizes(ledger.database)
    return found


def _held(ledger: Ledger) -> dict[str, Any]:
    database = ledger.database
    with closing(ledger.attempts.runs()) as runs:  # type: ignore[type-var]  # it is a generator
        last_run = next(runs, None)
    return {
        "schema": int(database.pragma("user_version")),
        "counts": {name: _one(database, statement) for name, statement in _COUNTED.items()},
        **{name: dict(database.execute(statement)) for name, statement in _GROUPED.items()},
        "stages": ledger.attempts.by_status(),
        "last": {
            "observation": ledger.evidence.last(),
            "revision": _one(database, "SELECT coalesce(max(seq), 0) FROM revision"),
        },
        "last_run": last_run,
    }


def _freshness(ledger: Ledger, indexes: IndexStore) -> dict[str, Any]:
    """Tell how far the index has followed the ledger; ``behind`` counts the rows that it has not.

    Recall brings it up to date by itself.
    """
    newest = Changes(ledger.database).marks()
    try:
        with closing(indexes.open()) as index:
            behind = sum(max(0, last - int(index.get_mark(name))) for name, last in newest.items())
    except IndexDamageError as error:
        state = _STATES.get(error.code, "damaged")
        return {"state": state, "behind": sum(newest.values())}
    except MunimentError:
        return {"state": "unreachable", "behind": 0}
    return {"state": "behind" if behind else "current", "behind": behind}


def _one(database: apsw.Connection, statement: str) -> int:
    ((value,),) = database.execute(statement)
    return int(value)


def _sizes(paths: ScopePaths) -> dict[str, int]:
    """Return the sizes of files; the asset sizes come from the ledger."""
    beside = [paths.ledger.with_name(paths.ledger.name + suffix) for suffix in ("", "-wal")]
    return {
        "assets_inline": 0,
        "assets_file": 0,
        "ledger": sum(map(_size, beside)),
        "index": sum(
            _size(Path(folder, name)) for folder, _, names in os.walk(paths.index) for name in names
        ),
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # it went meanwhile
        return 0


def _asset_sizes(database: apsw.Connection) -> dict[str, int]:
    rows = database.execute("SELECT 'assets_' || storage, sum(size) FROM asset GROUP BY storage")
    return dict(rows)
