"""The index on a real PostgreSQL server, from the command line."""

import socket
from pathlib import Path
from typing import Any

import pytest
from support.cli import invoke
from support.postgres import address_of

from muniment.adapters.indexes.postgres.address import parse
from muniment.adapters.indexes.postgres.connection import Connection
from muniment.adapters.indexes.postgres.generations import PostgresIndexes
from muniment.pipeline.indexes import scope_key
from muniment.store.layout import Root, Scope

QUESTION = "Where does the heron nest?"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_database: str) -> Path:
    """Set the environment of a store whose index is on the server; return the store's root."""
    root = tmp_path / "root"
    for name, value in {
        "ROOT": root, "CACHE": tmp_path / "cache", "INDEX": "postgres",
        "INDEX_DSN": postgres_database,
    }.items():  # fmt: skip
        monkeypatch.setenv(f"MUNIMENT_{name}", str(value))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return root


@pytest.fixture
def filled(asked: Path, tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "heron.md").write_text("The grey heron nests in the tall poplar by the mill.\n")
    (notes / "crane.md").write_text("The crane sleeps in the marsh 白鹤在沼泽.\n")
    assert invoke("ingest", "--no-embeddings", notes).code == 0
    return asked


def indexes(root: Path, address: str, scope: Scope | None = None) -> PostgresIndexes:
    return PostgresIndexes(parse(address), scope_key(Root(root), scope or Scope()))


def packed(**environment: Any) -> Any:
    pack = invoke("recall", "--json", QUESTION).json
    return [(item["ref"], item["text"]) for part in pack["sections"] for item in part["items"]]


def test_recall_answers_the_same_from_either_engine(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_server = packed()
    assert "poplar" in from_server[0][1]
    assert not list(filled.rglob("fts.sqlite3"))
    assert invoke("status", "--json").json["index"] == {"state": "current", "behind": 0}
    monkeypatch.setenv("MUNIMENT_INDEX", "sqlite")
    assert packed() == from_server


def test_a_rebuilt_and_a_dropped_index_answer_as_before(
    filled: Path, postgres_database: str
) -> None:
    before = packed()
    store = indexes(filled, postgres_database)
    first = store.current()
    assert invoke("reindex", "--no-embeddings").code == 0
    assert store.current() != first
    assert packed() == before
    assert invoke("reindex", "--drop").code == 0
    assert invoke("status", "--json").json["index"]["state"] == "missing"
    assert packed() == before


def test_a_hard_forget_erases_the_rows_and_looks_for_them(
    filled: Path, postgres_database: str
) -> None:
    listed = invoke("list", "assets", "--json").json["items"]
    heron = next(one for one in listed if "heron" in str(one))
    done = invoke("forget", "--hard", "--yes", "--json", heron["ref"])
    assert done.code == 0, done
    store = indexes(filled, postgres_database)
    assert store.traces(["heron"], ["grey heron nests in the tall poplar"]) == []
    assert [text for _, text in packed() if "poplar" in text] == []


def test_a_scope_sees_nothing_of_another(filled: Path, postgres_database: str) -> None:
    key = scope_key(Root(filled), Scope())
    own = Connection(parse(postgres_database), key, readonly=False)
    other = Connection(parse(postgres_database), "0" * 16, readonly=False)
    table = f"muniment.document_{key}_1"
    assert own.value(f"SELECT count(*) FROM {table}") > 0
    for statement in (
        f"SELECT count(*) FROM {table}",
        f"SELECT count(*) FROM muniment.posting_{key}_1",
        "SELECT count(*) FROM muniment.generation",
        f"WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone",
    ):
        assert other.value(statement) == 0
    assert own.value(f"SELECT count(*) FROM {table}") > 0
    own.close()
    other.close()


def test_doctor_looks_at_the_server(filled: Path) -> None:
    checks = {one["name"]: one for one in invoke("doctor", "--json").json["checks"]
              if one["area"] == "index"}  # fmt: skip
    assert set(checks) == {"server", "pgvector", "row-level security"}
    assert all(one["ok"] for one in checks.values())


def test_a_role_that_policies_do_not_bind_is_refused(
    asked: Path, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = parse(postgres_database).socket
    assert folder is not None
    monkeypatch.setenv("MUNIMENT_INDEX_DSN", address_of(Path(folder), "postgres", "postgres"))
    assert invoke("init").code == 0
    assert invoke("remember", "The heron nests in a poplar").code == 0
    refused = invoke("recall", "--json", QUESTION)
    assert (refused.code, refused.json["error"]["code"]) == (12, "index_role")


def test_a_server_that_is_not_there_is_said_and_nothing_else_is_kept_from_working(
    asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"postgresql://me:very-secret@127.0.0.1:{port}/db"
    monkeypatch.setenv("MUNIMENT_INDEX_DSN", address)
    assert invoke("remember", "The heron nests in a poplar").code == 0
    failed = invoke("recall", "--json", QUESTION)
    assert (failed.code, failed.json["error"]["code"]) == (1, "index_unreachable")
    assert "MUNIMENT_INDEX=sqlite" in failed.json["error"]["hint"]
    assert invoke("status", "--json").json["index"]["state"] == "unreachable"
    for said in (failed, invoke("config", "--json"), invoke("config"), invoke("doctor")):
        assert "very-secret" not in said.out + said.err
    monkeypatch.setenv("MUNIMENT_INDEX", "sqlite")
    assert invoke("recall", QUESTION).code == 0


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("", "needs an address"),
        ("mysql://me@host/db", "postgresql://"),
        ("postgresql:///db", "no host"),
        ("postgresql://host/db", "no user"),
        ("postgresql://me@host:x/db", "no address"),
        ("postgresql://me@host/db?sslmode=maybe", "sslmode"),
    ],
)
def test_an_address_that_can_t_be_used_is_a_usage_error(
    asked: Path, monkeypatch: pytest.MonkeyPatch, address: str, why: str
) -> None:
    assert invoke("init").code == 0
    monkeypatch.setenv("MUNIMENT_INDEX_DSN", address)
    said = invoke("recall", "--json", QUESTION)
    assert said.code == 2
    assert why in said.json["error"]["message"]


def test_offline_refuses_a_server_on_another_machine(
    asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("init").code == 0
    monkeypatch.setenv("MUNIMENT_INDEX_DSN", "postgresql://me@db.example/muniment")
    said = invoke("--offline", "recall", "--json", QUESTION)
    assert (said.code, said.json["error"]["code"]) == (2, "offline")
