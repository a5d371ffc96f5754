"""The tables of a generation, and the policies that show them to their own scope alone.

Every generation has tables of its own, named by the digest of its scope: dropping one frees all of
its space at once, and a vector index never mixes scopes. Row-level security is forced on each of
them, its owner included, so a statement that names another scope's table finds nothing.
"""

import re
from collections.abc import Sequence

from muniment.adapters.indexes.postgres.connection import (
    OLDEST_EXTENSION,
    SCHEMA,
    Connection,
    IndexServerError,
)
from muniment.store.index.match import OF_PLANES
from muniment.store.text.words import ANALYSER_VERSION

# Raised when the tables change: an index of the old ones is rebuilt.
SCHEMA_VERSION = 2
_SCOPE = re.compile(r"[0-9a-f]{16}")
_GENERATION = re.compile(r"gen-([0-9]+)")
# One number that stands for "somebody makes the schema", for the server's own advisory locks.
_MAKING = 20_260_310

_REGISTRY = f"""
CREATE TABLE {SCHEMA}.generation (
    scope text NOT NULL, number integer NOT NULL, live boolean NOT NULL DEFAULT false,
    analyser text NOT NULL, version integer NOT NULL, PRIMARY KEY (scope, number)
)
"""
_DOCUMENT = """
CREATE TABLE {document} (
    rowid integer PRIMARY KEY, ref text COLLATE "C" NOT NULL UNIQUE, kind text NOT NULL,
    asset text, seq bigint NOT NULL, instant text COLLATE "C", family text, origin text, role text,
    source text, session text, path text COLLATE "C", confidence double precision NOT NULL,
    grp text, author text, told bigint NOT NULL, size integer NOT NULL,
    spaced text COLLATE "C" NOT NULL, paired text COLLATE "C" NOT NULL,
    tokens text[] COLLATE "C" NOT NULL
)
"""
# How often a token stands in a document: 16 times the text's own, and its context's.
_POSTING = """
CREATE TABLE {posting} (
    token text COLLATE "C" NOT NULL, doc integer NOT NULL, held smallint NOT NULL,
    size integer NOT NULL, PRIMARY KEY (token, doc) INCLUDE (held, size)
)
"""
_TERM = """
CREATE TABLE {term} (token text COLLATE "C" PRIMARY KEY, documents integer NOT NULL)
WITH (fillfactor = 70)
"""
_GONE = "CREATE TABLE {gone} (rowid integer PRIMARY KEY)"
_MARK = "CREATE TABLE {mark} (name text PRIMARY KEY, value jsonb NOT NULL)"
_INDEXES = (
    "CREATE INDEX ON {document} (asset)",
    f"CREATE INDEX ON {{document}} (kind) WHERE {OF_PLANES}",
)
_KINDS = {
    "document": _DOCUMENT, "posting": _POSTING, "term": _TERM, "gone": _GONE, "mark": _MARK,
}  # fmt: skip


class Tables:
    """The names of one generation's tables."""

    def __init__(self, scope: str, number: int) -> None:
        if not _SCOPE.fullmatch(scope):
            raise ValueError("a scope is named by 16 hex digits")
        self.scope, self.number = scope, number
        self.document, self.posting, self.term, self.gone, self.mark = map(self._name, _KINDS)

    def vector(self, digest: str) -> str:
        """Return the table of the vectors of one embedder."""
        return self._name(f"vector_{digest}")

    def _name(self, kind: str) -> str:
        return f"{SCHEMA}.{kind}_{self.scope}_{self.number}"

    def names(self) -> dict[str, str]:
        """Return the names by kind."""
        return {kind: self._name(kind) for kind in _KINDS}


def number_of(generation: str) -> int:
    """Return the number in a generation's name."""
    found = _GENERATION.fullmatch(generation)
    if found is None:
        raise ValueError(f"no generation is called {generation!r}")
    return int(found[1])


def prepare(connection: Connection) -> None:
    """Make the schema and the list of generations where they are not; raise when that can't be."""
    _require_extension(connection)
    if connection.value(f"SELECT to_regclass('{SCHEMA}.generation') IS NOT NULL"):
        return
    with connection.transaction():
        connection.run(f"SELECT pg_advisory_xact_lock({_MAKING})")
        if not connection.value(f"SELECT to_regclass('{SCHEMA}.generation') IS NOT NULL"):
            own = _protection(f"{SCHEMA}.generation", "scope = current_setting('app.scope', true)")
            connection.run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA};{_REGISTRY};{own}")


def create(connection: Connection, tables: Tables) -> None:
    """Make the tables of a generation and note it, all or nothing."""
    names = tables.names()
    script = [statement.format(**names) for statement in (*_KINDS.values(), *_INDEXES)]
    script += [protection(name, tables.scope) for name in names.values()]
    script += [
        f"INSERT INTO {tables.mark} VALUES ('documents', '0'), ('places', '0'), ('tokens', '0'),"
        " ('next', '1')",
        f"INSERT INTO {SCHEMA}.generation (scope, number, analyser, version) VALUES"
        f" ('{tables.scope}', {tables.number}, '{ANALYSER_VERSION}', {SCHEMA_VERSION})",
    ]
    with connection.transaction():
        connection.run(";".join(script))


def drop(connection: Connection, tables: Tables) -> None:
    """Drop a generation with all of its vectors."""
    names = ", ".join(f"{SCHEMA}.{name}" for name in _tables_of(connection, tables))
    script = [f"DROP TABLE IF EXISTS {names}"] if names else []
    script.append(
        f"DELETE FROM {SCHEMA}.generation"
        f" WHERE scope = '{tables.scope}' AND number = {tables.number}"
    )
    with connection.transaction():
        connection.run(";".join(script))


def vector_tables(connection: Connection, tables: Tables) -> list[str]:
    """Return the names of a generation's vector tables."""
    names = _tables_of(connection, tables)
    return [f"{SCHEMA}.{name}" for name in names if name.startswith("vector_")]


def counted(connection: Connection, tables: Tables, what: str) -> int:
    """Return a count that is kept as a mark: ``documents``, or the name of a vector table."""
    found = connection.value(f"SELECT value FROM {tables.mark} WHERE name = :what", what=what)
    return int(found or 0)


def count_more(connection: Connection, tables: Tables, what: str, more: int) -> None:
    """Add to a count, or take from it."""
    connection.run(
        f"INSERT INTO {tables.mark} AS m VALUES (:what, to_jsonb(CAST(:more AS integer)))"
        " ON CONFLICT (name) DO UPDATE"
        " SET value = to_jsonb(CAST(m.value AS integer) + CAST(:more AS integer))",
        what=what, more=more,
    )  # fmt: skip


def take_vectors(connection: Connection, tables: Tables, table: str, numbers: Sequence[int]) -> int:
    """Delete the vectors of documents from a table; return how many there were."""
    with connection.transaction():
        statement = f"DELETE FROM {table} WHERE doc = ANY(CAST(:numbers AS integer[]))"
        taken = len(connection.run(f"{statement} RETURNING doc", numbers=list(numbers)))
        if taken:
            count_more(connection, tables, table, -taken)
    return taken


def protection(table: str, scope: str) -> str:
    """Return the statements that let only the sessions of a scope see or write a new table."""
    return _protection(table, f"current_setting('app.scope', true) = '{scope}'")


def _protection(table: str, condition: str) -> str:
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
        f"CREATE POLICY scope ON {table} USING ({condition})"
    )


def _tables_of(connection: Connection, tables: Tables) -> list[str]:
    rows = connection.run(
        "SELECT relname FROM pg_class WHERE relnamespace = CAST(:schema AS regnamespace)"
        " AND relkind = 'r' AND relname LIKE :ending",
        schema=SCHEMA, ending=f"%\\_{tables.scope}\\_{tables.number}",
    )  # fmt: skip
    return [str(row[0]) for row in rows]


def _require_extension(connection: Connection) -> None:
    found = extension_version(connection)
    if found is None:
        try:
            connection.run("CREATE EXTENSION IF NOT EXISTS vector")
        except IndexServerError as error:
            raise IndexServerError(
                "the database has no pgvector, and this role can't create it",
                code="index_extension", hint="as an administrator: CREATE EXTENSION vector",
            ) from error  # fmt: skip
    elif tuple(map(int, found.split(".")[:2])) < OLDEST_EXTENSION:
        raise IndexServerError(
            f"pgvector is {found}, {'.'.join(map(str, OLDEST_EXTENSION))} or newer is needed",
            code="index_extension", hint="as an administrator: ALTER EXTENSION vector UPDATE",
        )  # fmt: skip


def extension_version(connection: Connection) -> str | None:
    """Return the version of pgvector in the database, null where it is not created."""
    found = connection.value("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    return None if found is None else str(found)
