"""A receipt names every backup that still holds what was erased, or that can't be looked into.

And each way to name what goes ends in a receipt whose own check is clean.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Answer, invoke

from muniment.store.backup import cipher

Run = Callable[..., Answer]
CHAT = """\
2026-03-01 10:00 Ann: Shall we meet at the old mill on Friday?
2026-03-01 10:05 Bob: The xylophone password is quokka seventeen.
2026-04-01 10:06 Ann: Fine, I bring the tickets for the quokka opera.
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    (folder / "quokka").mkdir(parents=True)
    (folder / "quokka" / "one.txt").write_text("The quokka sings at midnight.")
    (folder / "quokka" / "two.txt").write_text("Two quokkas sing by the violet lighthouse.")
    (folder / "other.txt").write_text("The heron stands in the reeds.")
    (folder / "chat.txt").write_text(CHAT)
    return folder


@pytest.fixture
def run(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("MUNIMENT_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("MUNIMENT_CACHE", str(tmp_path / "cache"))
    assert invoke("-q", "ingest", inputs, "--no-embeddings").code == 0
    event = {"event_id": "e1", "role": "user", "text": "My quokka is ill.", "session": "vet"}
    said = json.dumps(event).encode()
    assert invoke("-q", "session", "append", "-", stdin=said).code == 0
    return lambda *arguments: invoke("--json", *arguments)


def holding(folder: Path, word: bytes) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in paths if word in path.read_bytes().lower()]


@pytest.mark.parametrize(
    ("named", "gone", "left"),
    [
        (["quokka/one.txt"], "sings at midnight", "two quokkas"),
        (["quokka"], "violet lighthouse", "seventeen"),
        (["--author", "Bob"], "seventeen", "opera"),
        (["--since", "2026-03-01", "--until", "2026-03-02"], "old mill", "opera"),
        (["session:vet"], "quokka is ill", "seventeen"),
        (["event:e1"], "quokka is ill", "seventeen"),
        (["scope:."], "quokka", ""),
    ],
)
def test_each_way_to_name_it_ends_in_a_clean_receipt(
    named: list[str], gone: str, left: str, run: Run, inputs: Path, tmp_path: Path
) -> None:
    refs = [str(inputs / one) if (inputs / one).exists() else one for one in named]

    done = run("forget", "--hard", "--yes", *refs)

    assert (done.code, done.json["clean"]) == (0, True), done.out
    assert done.json["checks"]["read_paths"] == {"show": 0, "list": 0, "recall": 0}
    assert sum(done.json["checks"]["looked_for"].values()) > 0
    assert "quokka" not in done.out
    assert holding(tmp_path / "root", gone.encode()) == []
    assert run("verify").json["findings"] == []
    kept = run("list", "observations").out.lower()
    assert left in kept
    assert gone not in kept


def test_a_repository_that_the_store_was_backed_up_to_is_looked_into_unasked(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    repository = tmp_path / "repo"
    assert run("forget", "--hard", "--yes", inputs / "other.txt").json["backups"] == []
    snapshot = run("backup", "create", repository).json["snapshot"]

    done = run("forget", "--hard", "--yes", inputs / "quokka")

    assert done.json["backups"] == [{"repository": str(repository), "snapshot": snapshot}]
    assert run("backup", "forget", repository).code == 0
    later = run("forget", "--hard", "--yes", "--author", "Bob")
    assert later.json["backups"] == [{"repository": str(repository), "snapshot": snapshot}]
    assert run("backup", "forget", repository).json["rewritten"] == [snapshot]
    assert holding(repository, b"seventeen") == []
    newer = run("forget", "--hard", "--yes", "session:vet")
    assert [one["snapshot"] for one in newer.json["backups"]] == [snapshot]


def test_a_snapshot_from_before_it_was_taken_in_is_not_named(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    assert run("backup", "create", tmp_path / "repo").code == 0
    (inputs / "late.txt").write_text("A late quokka came by night.")
    assert run("ingest", inputs / "late.txt", "--no-embeddings").code == 0

    done = run("forget", "--hard", "--yes", inputs / "late.txt")

    assert (done.json["backups"], done.json["backups_unread"]) == ([], [])


def test_an_encrypted_or_absent_repository_is_named_as_one_that_may_hold_it(
    run: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setattr(cipher, "SCRYPT_N", 1 << 10)
    secret, repository, gone = tmp_path / "pass", tmp_path / "sealed", tmp_path / "gone"
    secret.write_text("correct horse\n")
    made = run("backup", "create", repository, "--encrypt", "--passphrase-file", secret)
    assert run("backup", "create", gone).code == 0
    gone.rename(tmp_path / "unplugged")

    blind = run("forget", "--hard", "--yes", inputs / "quokka" / "one.txt")
    seeing = run("forget", "--hard", "--yes", inputs / "quokka" / "two.txt",
                 "--passphrase-file", secret)  # fmt: skip

    unread = {one["repository"]: one["reason"] for one in blind.json["backups_unread"]}
    assert unread == {str(repository): "secret_needed", str(gone): "no_repository"}
    assert blind.json["clean"]
    assert seeing.json["backups"] == [
        {"repository": str(repository), "snapshot": made.json["snapshot"]}
    ]
    text = invoke("forget", "--hard", "--yes", inputs / "other.txt").out
    assert f"a backup may still hold it, and can't be looked into: {repository}" in text


def test_the_store_tells_its_last_backup_and_drill(run: Run, tmp_path: Path) -> None:
    before = run("status").json
    assert (before["last_backup"], before["last_drill"]) == (None, None)

    snapshot = run("backup", "create", tmp_path / "repo").json["snapshot"]
    assert run("backup", "drill", tmp_path / "repo").code == 0

    found = run("status").json
    assert (found["last_backup"]["snapshot"], found["last_backup"]["complete"]) == (snapshot, True)
    assert (found["last_drill"]["snapshot"], found["last_drill"]["ok"]) == (snapshot, True)
    assert found["last_backup"]["repository"] == str(tmp_path / "repo")
    checks = {one["name"]: one for one in run("doctor").json["checks"] if one["area"] == "store"}
    assert checks["last backup"]["ok"]
    assert checks["last drill"]["ok"]
    assert checks["model calls"]["detail"] == "0 ranges failed"


def test_status_tells_how_far_the_index_is_behind(run: Run, inputs: Path) -> None:
    assert run("recall", "heron", "--no-semantic").code == 0
    assert run("status").json["index"] == {"state": "current", "behind": 0}
    (inputs / "new.txt").write_text("The stork stands on the roof.")

    assert run("observe", inputs / "new.txt").code == 0 or run(
        "ingest", inputs / "new.txt", "--until", "observe"
    ).code == 0  # fmt: skip

    assert run("status").json["index"]["state"] == "behind"
