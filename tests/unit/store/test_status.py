import json
from contextlib import closing
from pathlib import Path

import apsw
from support.stores import Line, TinyStore

from muniment.pipeline.stages.index import refresh
from muniment.store.layout import Root, Scope
from muniment.store.migrations import SCHEMA_VERSION
from muniment.store.status import status


def test_a_scope_is_told_by_counts_sizes_and_stages(tiny: TinyStore) -> None:
    tiny.file("large.bin", [], data=b"x" * 100_000, family="video")
    observation = tiny.note("My name is Ada.")
    tiny.file("chat.txt", [Line("hi", kind="message"), Line("ho", kind="message")])
    tiny.record("Ada", observation, "Ada")
    tiny.paths.index.mkdir()
    (tiny.paths.index / "words").write_bytes(b"x" * 10)

    found = status(tiny.root, Scope())

    assert (found["state"], found["exists"], found["schema"]) == (
        "current", True, SCHEMA_VERSION
    )  # fmt: skip
    assert found["counts"] == {
        "assets": 3, "sightings": 3, "observations": 3, "episodes": 0, "candidates": 1,
        "records": 1, "entities": 0, "runs": 1,
    }  # fmt: skip
    assert found["families"] == {"text": 2, "video": 1}
    assert found["observation_kinds"] == {"message": 2, "text": 1}
    assert found["candidate_statuses"] == found["record_statuses"] == {"active": 1}
    assert found["stages"] == {"observe": {"ok": 3}}
    assert found["bytes"]["assets_file"] == 100_000
    assert found["bytes"]["assets_inline"] > 0
    assert found["bytes"]["index"] == 10
    assert found["bytes"]["ledger"] > 4096
    assert found["last"] == {"observation": 3, "revision": 1}
    assert found["last_run"]["id"] == "run_test"
    json.dumps(found)


def test_an_index_is_told_by_what_became_of_it(tmp_path: Path, tiny: TinyStore) -> None:
    def state() -> str:
        return str(status(tiny.root, Scope())["index"]["state"])

    tiny.note("My name is Ada.")
    assert state() == "missing"
    refresh(tiny.ledger, tiny.paths.index, tmp_path)
    assert state() == "current"
    tiny.note("And yours?")
    assert state() == "behind"
    (words,) = tiny.paths.index.rglob("fts.sqlite3")
    with closing(apsw.Connection(str(words))) as database:
        database.pragma("user_version", 1)
    assert state() == "outdated"
    words.write_bytes(b"x" * 8_192)
    assert state() == "damaged"


def test_fields_are_the_same_where_there_is_nothing(tmp_path: Path, tiny: TinyStore) -> None:
    here = status(tiny.root, Scope())
    nowhere = status(Root(tmp_path / "absent"), Scope())
    empty = status(tiny.root, Scope(namespace="empty"))

    assert here.keys() == nowhere.keys() == empty.keys()
    assert here["bytes"].keys() == nowhere["bytes"].keys()
    assert (nowhere["state"], nowhere["exists"]) == ("uninitialized", False)
    assert (empty["state"], empty["exists"]) == ("current", False)
    assert not (tmp_path / "absent").exists()
    assert not tiny.root.scope(Scope(namespace="empty")).path.exists()


def test_what_is_no_store_is_told_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").touch()

    assert status(Root(tmp_path), Scope())["state"] == "invalid"
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]
