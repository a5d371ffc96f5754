"""``verify --repair``: what is sure is mended, what is not is named, and nothing is made up."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from support.cli import Answer, invoke

from muniment.store.database import open_database
from muniment.store.layout import Root, Scope

Run = Callable[..., Answer]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "small.txt").write_text("The heron stands in the reeds.")
    (folder / "long.txt").write_text(
        "\n".join(f"Leaf {n} floats to the sea." for n in range(4_000))
    )
    return folder


@pytest.fixture
def run(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("MUNIMENT_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("MUNIMENT_CACHE", str(tmp_path / "cache"))
    assert invoke("-q", "ingest", inputs, "--no-embeddings").code == 0
    return lambda *arguments: invoke("--json", *arguments)


@pytest.fixture
def root(tmp_path: Path, run: Run) -> Root:
    return Root(tmp_path / "root")


def large_asset(root: Root) -> Path:
    (path,) = (p for p in root.scope(Scope()).assets.rglob("*") if p.is_file())
    return path


def test_lost_bytes_come_back_from_the_file_that_they_were_read_from(run: Run, root: Root) -> None:
    asset = large_asset(root)
    before = asset.read_bytes()
    asset.write_bytes(b"rot" + before[3:])
    assert run("verify").code == 5

    planned = run("verify", "--repair", "-n")
    assert (planned.code, asset.read_bytes()[:3]) == (5, b"rot")
    mended = run("verify", "--repair")

    assert (mended.code, mended.json["repairs"]["done"]) == (0, {"asset_restored": 1})
    assert asset.read_bytes() == before


def test_a_file_that_changed_since_is_no_source(run: Run, root: Root, inputs: Path) -> None:
    large_asset(root).unlink()
    (inputs / "long.txt").write_text("something else")

    mended = run("verify", "--repair")

    assert mended.code == 5
    assert len(mended.json["repairs"]["left"]) == 1


def test_lost_bytes_come_back_from_a_backup(
    run: Run, root: Root, inputs: Path, tmp_path: Path
) -> None:
    assert run("backup", "create", tmp_path / "backup").code == 0
    large_asset(root).unlink()
    (inputs / "long.txt").unlink()

    mended = run("verify", "--repair", "--from", tmp_path / "backup")

    assert (mended.code, mended.json["repairs"]["done"]) == (0, {"asset_restored": 1})


def test_bytes_inside_the_ledger_are_put_back_too(run: Run, root: Root) -> None:
    database = open_database(root.scope(Scope()).ledger)
    database.create_scalar_function("erasing", lambda *_: 1, 0)
    database.execute("UPDATE asset_bytes SET bytes = x'00'")
    database.close()
    assert run("verify").code == 5

    assert run("verify", "--repair").code == 0


def test_orphans_leftovers_and_a_broken_index_are_cleared_away(run: Run, root: Root) -> None:
    paths = root.scope(Scope())
    orphan = paths.asset("ab" * 32)
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"nobody's")
    (root.temporary / "left.partial").write_bytes(b"half")
    index = next(paths.index.glob("gen-*/fts.sqlite3"))
    index.write_bytes(b"not a database" * 400)

    mended = run("verify", "--repair")

    assert (mended.code, mended.json["findings"]) == (0, [])
    assert mended.json["repairs"]["index_rebuilt"]
    assert run("recall", "heron").json["coverage"] == "supported"


def test_a_trigger_that_was_dropped_is_made_again(run: Run, root: Root) -> None:
    database = apsw.Connection(str(root.scope(Scope()).ledger))
    database.execute("DROP TRIGGER asset_no_delete")
    database.close()
    assert run("verify").code == 5

    assert run("verify", "--repair").json["repairs"]["done"] == {"trigger_made": 1}


def test_a_damaged_ledger_is_reported_and_left_as_it_is(run: Run, root: Root) -> None:
    ledger = root.scope(Scope()).ledger
    ledger.write_bytes(b"garbage" * 4_096)
    before = ledger.read_bytes()

    for arguments in (("verify",), ("verify", "--repair"), ("recall", "heron"), ("remember", "x")):
        done = run(*arguments)
        assert done.code == 5, arguments
        assert "backup" in done.out or "verify" in done.out

    assert ledger.read_bytes() == before


def test_options_of_a_repair_need_one(run: Run) -> None:
    assert run("verify", "--from", "/nowhere").code == 2
    assert run("verify", "-n").code == 2
