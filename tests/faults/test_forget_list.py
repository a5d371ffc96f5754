"""What was erased does not come back: not by an old snapshot, nor by a restore that is killed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.backups import killed_at, points, uses_of
from support.cli import Answer, invoke

WORD = b"zanzibar"
CHAT = """\
2026-03-01 10:00 Ann: Shall we meet at the old mill on Friday?
2026-03-01 10:05 Bob: The zanzibar password is quokka seventeen.
2026-03-01 10:06 Ann: Fine, I bring the tickets for the opera.
"""
Run = Callable[..., Answer]


def holding(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in paths if WORD in path.read_bytes().lower()]


def run(root: Path, *arguments: str | Path, stdin: bytes = b"") -> Answer:
    return invoke("--root", root, "--json", *arguments, stdin=stdin)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder: a root that erased in every way, and a repository from before and after."""
    folder = tmp_path_factory.mktemp("made")
    root, inputs = folder / "root", folder / "in"
    inputs.mkdir()
    (inputs / "secret.txt").write_text("The zanzibar canary sings at midnight.")
    (inputs / "other.txt").write_text("The heron stands in the reeds.")
    (inputs / "chat.txt").write_text(CHAT)
    said = {"event_id": "e1", "role": "user", "text": "zanzibar is far.", "session": "zanzibar"}
    assert run(root, "ingest", inputs, "--no-embeddings").code == 0
    assert run(root, "session", "append", "-", stdin=json.dumps(said).encode()).code == 0
    assert run(root, "persona", "set", "Knows zanzibar.").code == 0
    (record,) = run(root, "remember", "Remember that my allergy is zanzibar.").json["records"]
    assert run(root, "backup", "create", folder / "repo").code == 0
    named = [inputs / "secret.txt", record, "persona:1", "session:zanzibar"]
    assert run(root, "forget", "--hard", "--yes", *named).json["clean"]
    assert run(root, "forget", "--hard", "--yes", "--author", "Bob").json["clean"]
    assert holding(root) == []
    assert run(root, "backup", "create", folder / "repo").code == 0
    return folder


@pytest.fixture
def first(made: Path) -> str:
    listed = run(made / "root", "backup", "list", made / "repo").json["snapshots"]
    return str(listed[0]["id"])


def is_clean(root: Path, inputs: Path) -> None:
    """Check that nothing of it is in a byte, an answer, or let in again, and the rest is there."""
    assert holding(root) == []
    kept = run(root, "list", "observations").out
    assert "opera" in kept
    assert "heron" in kept
    assert run(root, "verify").json["findings"] == []
    again = run(root, "ingest", inputs, "--no-embeddings").json
    assert "forgotten" in {one["reason"] for one in again["skipped"]}
    assert holding(root) == []


def test_an_older_snapshot_comes_back_without_it_on_another_machine(
    made: Path, first: str, tmp_path: Path
) -> None:
    done = run(tmp_path / "there", "restore", made / "repo", "--snapshot", first)

    assert (done.code, done.json["erased_again"]) == (0, 1)
    is_clean(tmp_path / "there", made / "in")
    assert run(tmp_path / "there", "persona", "show").json["default"]


def test_the_list_is_known_after_a_restore_of_what_never_held_it(
    made: Path, tmp_path: Path
) -> None:
    root, repository = tmp_path / "root", tmp_path / "repo"
    shutil.copytree(made / "root", root)
    empty = tmp_path / "empty"
    assert run(empty, "remember", "I like tea.").code == 0
    assert run(empty, "backup", "create", repository).code == 0

    assert run(root, "restore", repository, "--replace").json["erased_again"] == 0

    again = run(root, "ingest", made / "in", "--no-embeddings").json
    assert "forgotten" in {one["reason"] for one in again["skipped"]}
    displaced = next(root.glob("displaced-*"))
    assert holding(root / "store") == holding(displaced) == []


def test_what_was_let_in_again_stays_in_an_older_snapshot(
    made: Path, first: str, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    shutil.copytree(made / "root", root)
    allowed = run(root, "ingest", made / "in" / "secret.txt", "--no-embeddings",
                  "--allow-forgotten")  # fmt: skip
    assert allowed.json["registered"] == 1

    assert run(root, "restore", made / "repo", "--snapshot", first, "--replace").code == 0

    kept = run(root, "list", "observations").out
    assert "canary sings" in kept
    assert "quokka" not in kept


def test_a_restore_killed_at_any_step_revives_nothing(
    made: Path, first: str, tmp_path: Path
) -> None:
    def again(root: Path) -> Callable[[], object]:
        return lambda: run(root, "restore", made / "repo", "--snapshot", first, "--replace")

    def copy(name: str) -> Path:
        shutil.copytree(made / "root", tmp_path / name)
        return tmp_path / name

    total = uses_of(again(copy("whole")))
    assert total > 60
    for nth in points(total, last=8)[:: int(os.environ.get("MUNIMENT_KILL_STRIDE", "4"))]:
        root = copy(str(nth))
        killed_at(nth, again(root))

        assert holding(root / "store") == [], nth
        done = run(root, "restore")  # alone, as after a crash, where the swap was begun
        if done.code:
            done = run(root, "restore", made / "repo", "--snapshot", first, "--replace")
        assert done.code == 0, (nth, done)
        assert holding(root) == [], nth
        assert "opera" in run(root, "list", "observations").out
        shutil.rmtree(root)


def test_a_store_that_was_put_aside_is_erased_from_too(made: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(made / "root", root)
    assert run(root, "restore", made / "repo", "--replace").code == 0
    aside = next(root.glob("displaced-*"))
    assert "heron" in run(aside, "list", "observations").out

    done = run(root, "forget", "--hard", "--yes", made / "in" / "other.txt")

    assert (done.code, done.json["clean"]) == (0, True), done.out
    assert "heron" not in run(aside, "list", "observations").out
    assert "opera" in run(aside, "list", "observations").out
    assert not any(b"heron" in path.read_bytes() for path in root.rglob("*") if path.is_file())


def test_a_store_put_aside_that_cannot_be_opened_is_named(made: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(made / "root", root)
    assert run(root, "restore", made / "repo", "--replace").code == 0
    aside = next(root.glob("displaced-*"))
    ledger = next(aside.rglob("ledger.sqlite3"))
    ledger.write_bytes(b"broken" + ledger.read_bytes()[6:])

    done = run(root, "forget", "--hard", "--yes", made / "in" / "other.txt")

    assert (done.code, done.json["clean"]) == (5, False)
    assert any(aside.name in path for path in done.json["checks"]["still_in"])


def test_an_episode_that_is_told_anew_is_no_trace(made: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "chat.txt").write_text(CHAT)
    assert run(root, "ingest", folder, "--no-embeddings").code == 0
    rows = run(root, "list", "observations").json["items"]
    last = next(row["ref"] for row in rows if "opera" in row["text"])

    done = run(root, "forget", "--hard", "--yes", last)

    assert (done.code, done.json["clean"]) == (0, True), done.out
    assert "mill" in run(root, "list", "episodes").out
