"""One connection to the server, bound to one scope by row-level security."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from muniment.adapters.indexes.postgres.address import Address
from muniment.store.errors import MissingToolError, MunimentError, StateError
from muniment.store.index.documents import IndexDamageError

SCHEMA = "muniment"
OLDEST_SERVER = 150_000
OLDEST_EXTENSION = (0, 7)
_EXTRA = "pip install 'muniment[postgres]'"
_SECONDS = 10
# Our statements look up few rows of large tables by their keys; a plan that reads a whole table
# for that comes only of old statistics.
_SESSION = (
    "SET jit = off", "SET work_mem = '64MB'", "SET enable_mergejoin = off",
    "SET enable_hashjoin = off", "SET max_parallel_workers_per_gather = 0",
    "SET client_min_messages = error",
)  # fmt: skip
_UNREACHABLE = ("08", "57P")
_REFUSED = ("28", "3D", "42501")
_GONE = ("42P01", "3F000")


class IndexServerError(MunimentError):
    """The index server can't be reached, refuses, or fails; nothing is lost by it.

    ``code`` is ``index_unreachable``, ``index_refused`` or ``index_server``.
    """

    code = "index_server"


class Connection:
    """Statements with named values (``:name``), in one scope of row-level security."""

    def __init__(self, address: Address, scope: str, *, readonly: bool) -> None:
        self._driver = _connect(address)
        self.scope = scope
        self.in_transaction = False
        try:
            session = [*_SESSION, f"SET app.scope = '{scope}'"]
            if readonly:
                session.append("SET default_transaction_read_only = on")
            self.run(";".join(session))
            _require_bound_role(self)
        except BaseException:
            self.close()
            raise

    def run(self, statement: str, **values: Any) -> list[list[Any]]:
        """Return the rows of a statement."""
        with server_errors():
            rows: list[list[Any]] | None = self._driver.run(statement, **values)
        return rows or []

    def value(self, statement: str, **values: Any) -> Any:
        """Return the first column of the first row, null when there is none."""
        rows = self.run(statement, **values)
        return rows[0][0] if rows else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what the block writes one unit; inside another one, a part of that."""
        if self.in_transaction:
            yield
            return
        self.run("BEGIN")
        self.in_transaction = True
        try:
            yield
        except BaseException:
            self.in_transaction = False
            self.run("ROLLBACK")
            raise
        self.in_transaction = False
        self.run("COMMIT")

    def close(self) -> None:
        """Let the connection go."""
        with suppress(Exception):  # the driver raises many kinds; it is gone anyway
            self._driver.close()


def _connect(address: Address) -> Any:
    try:
        from pg8000.native import Connection as Driver
    except ImportError as error:
        raise MissingToolError(
            "the PostgreSQL driver is not installed", code="missing_extra", hint=_EXTRA
        ) from error
    with server_errors():
        driver = Driver(timeout=_SECONDS, application_name="muniment", **address.arguments())
        driver._usock.settimeout(None)
    return driver


@contextmanager
def server_errors() -> Iterator[None]:
    """Turn the driver's errors into ours; none of them repeats values or the password."""
    from pg8000.exceptions import DatabaseError, InterfaceError

    try:
        yield
    except DatabaseError as error:
        raise _told(error) from None
    except (InterfaceError, OSError) as error:
        raise IndexServerError(
            f"the index server can't be reached: {error}", code="index_unreachable",
            hint="start it, or answer from this machine: MUNIMENT_INDEX=sqlite",
        ) from error  # fmt: skip


def _told(error: Exception) -> MunimentError:
    said = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    state, message = str(said.get("C", "")), str(said.get("M", "unknown"))
    if state in _GONE:
        return damaged(f"the index is gone from the server: {message}", "index_missing")
    if state.startswith(_UNREACHABLE):
        return IndexServerError(
            f"the index server can't be reached: {message}", code="index_unreachable"
        )
    if state.startswith(_REFUSED):
        return IndexServerError(
            f"the index server refuses: {message}",
            code="index_refused",
            hint="see: muniment doctor",
        )
    return IndexServerError(f"the index server failed: {message} ({state})")


def damaged(message: str, code: str = "index_damaged") -> IndexDamageError:
    """Return the error that asks for a rebuild."""
    return IndexDamageError(message, code=code, hint="run: muniment reindex")


def _require_bound_role(connection: Connection) -> None:
    """Refuse a role that row-level security does not bind."""
    if may_bypass(connection):
        raise StateError(
            "the database role may bypass row-level security, so scopes would not be kept apart",
            code="index_role", hint="use a role with NOSUPERUSER NOBYPASSRLS",
        )  # fmt: skip


def may_bypass(connection: Connection) -> bool:
    """Tell whether the role is one that policies do not bind."""
    statement = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    return bool(connection.value(statement))
