"""Look at the index server as ``doctor`` does: is it there, able, and does it part scopes?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from muniment.adapters.indexes.postgres.connection import (
    OLDEST_EXTENSION,
    OLDEST_SERVER,
    SCHEMA,
    Connection,
)
from muniment.adapters.indexes.postgres.tables import extension_version
from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from muniment.adapters.indexes.postgres.address import Address

_UNPROTECTED = (
    "SELECT count(*), count(*) FILTER (WHERE NOT (relrowsecurity AND relforcerowsecurity))"
    " FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(:schema)"
)


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def examine(address: "Address", scope: str) -> Iterator[Finding]:
    """Yield what was found; a role that row-level security does not bind counts as unreachable."""
    try:
        connection = Connection(address, scope, readonly=True)
    except MunimentError as error:
        yield Finding("server", False, error.message, error.hint or "see: index_dsn")
        return
    try:
        yield _server(connection, address)
        yield _extension(connection)
        yield _policies(connection)
    except MunimentError as error:
        yield Finding("server", False, error.message, error.hint)
    finally:
        connection.close()


def _server(connection: Connection, address: "Address") -> Finding:
    number = int(connection.value("SELECT current_setting('server_version_num')"))
    said = connection.value("SELECT current_setting('server_version')")
    encrypted = bool(connection.value(
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    ))  # fmt: skip
    safe = encrypted or address.is_local
    way = "over TLS" if encrypted else "on this machine" if address.is_local else "unencrypted"
    where = address.socket or f"{address.host}:{address.port}"
    fix = "use PostgreSQL 15 or newer" if number < OLDEST_SERVER else "sslmode=verify-full"
    detail = f"PostgreSQL {said} at {where}, {way}, as {address.user}"
    return Finding("server", number >= OLDEST_SERVER and safe, detail, fix)


def _extension(connection: Connection) -> Finding:
    found = extension_version(connection)
    able = found is not None and tuple(map(int, found.split(".")[:2])) >= OLDEST_EXTENSION
    least = ".".join(map(str, OLDEST_EXTENSION))
    return Finding(
        "pgvector", able, found or "not created in this database",
        f"as an administrator: CREATE EXTENSION vector, of {least} or newer",
    )  # fmt: skip


def _policies(connection: Connection) -> Finding:
    ((tables, open_ones),) = connection.run(_UNPROTECTED, schema=SCHEMA)
    detail = f"on for all of {tables} tables" if not open_ones else f"off for {open_ones} tables"
    return Finding("row-level security", not open_ones, detail, "run: muniment reindex")
