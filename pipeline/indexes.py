"""Which engine keeps the index of a scope, as the settings say."""

import json
import os
from typing import TYPE_CHECKING

from muniment.store.errors import UsageError
from muniment.store.ids import digest
from muniment.store.index.generation import FileIndexes

if TYPE_CHECKING:
    from muniment.adapters.indexes.postgres.address import Address
    from muniment.pipeline.settings import Settings
    from muniment.store.index.ports import IndexStore
    from muniment.store.layout import Root, Scope

ENGINES = ("sqlite", "postgres")
PASSWORD = "MUNIMENT_INDEX_PASSWORD"  # noqa: S105 (the name of a variable)
_SCOPE_DIGITS = 16


def indexes_of(settings: "Settings", root: "Root", scope: "Scope") -> "IndexStore":
    """Return what keeps the index of a scope; raise ``UsageError`` for settings that don't fit."""
    engine = settings["index"]
    if engine not in ENGINES:
        raise UsageError(
            f"there is no index engine {engine!r}", code="bad_value",
            hint=f"use: {', '.join(ENGINES)}",
        )  # fmt: skip
    if engine == "sqlite":
        return FileIndexes(root.scope(scope).index)
    from muniment.adapters.indexes.postgres.generations import PostgresIndexes

    return PostgresIndexes(address_of(settings), scope_key(root, scope))


def is_remote(settings: "Settings") -> bool:
    """Tell whether a database server keeps the index."""
    return bool(settings["index"] == "postgres")


def address_of(settings: "Settings") -> "Address":
    """Return the server's address; the password comes from it or from the environment."""
    from muniment.adapters.indexes.postgres.address import parse

    if not settings["index_dsn"]:
        raise UsageError(
            "the index engine postgres needs an address", code="bad_value",
            hint="set index_dsn, or MUNIMENT_INDEX_DSN",
        )  # fmt: skip
    found = parse(settings["index_dsn"], os.environ.get(PASSWORD))
    if settings["offline"] and not found.is_local:
        raise UsageError(
            "the index server is another machine, which offline forbids", code="offline",
            hint="answer from this machine: MUNIMENT_INDEX=sqlite",
        )  # fmt: skip
    return found


def scope_key(root: "Root", scope: "Scope") -> str:
    """Return what a scope is called on a server: a digest, so no name of anybody stands there.

    A copy of a root in another place has an index of its own.
    """
    try:
        born = json.loads(root.manifest.read_bytes())["created_at"]
    except (OSError, ValueError, KeyError, TypeError):
        born = ""
    return digest(born, os.fsencode(root.path).hex(), scope.as_dict())[:_SCOPE_DIGITS]
