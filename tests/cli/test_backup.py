"""Backup, restore, export, import and migrate as a person or cron runs them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.backups import filled
from support.cli import SCRIPT, Answer, execute, invoke
from support.old_stores import old_store

from muniment.store.backup import cipher
from muniment.store.backup.swap import write_journal
from muniment.store.layout import Root, Scope

LEAF = "store/tenants/local/users/me/namespaces/personal"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a root with a note that can be recalled."""
    folder = tmp_path_factory.mktemp("original")
    root = filled(folder / "root").path
    said = invoke("--root", root, "remember", "The cabin's wifi password is spruce forty two.")
    assert said.code == 0
    return root


@pytest.fixture
def root(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture
def repository(root: Path, tmp_path: Path) -> Path:
    assert invoke("--root", root, "backup", "create", tmp_path / "repo").code == 0
    return tmp_path / "repo"


def run(root: Path, *arguments: str | Path) -> Answer:
    return invoke("--root", root, "--json", *arguments)


def lose_an_object(repository: Path) -> None:
    large = [path for path in (repository / "objects").rglob("*") if path.stat().st_size == 140_000]
    large[0].unlink()


def test_create_says_what_was_kept_and_list_shows_it(root: Path, tmp_path: Path) -> None:
    planned = run(root, "backup", "create", tmp_path / "repo", "--dry-run")
    assert (planned.code, planned.json["dry_run"]) == (0, True)
    assert not (tmp_path / "repo").exists()

    made = run(root, "backup", "create", tmp_path / "repo")
    again = run(root, "backup", "create", tmp_path / "repo")
    listed = run(root, "backup", "list", tmp_path / "repo")

    assert (made.code, again.code, again.json["new_objects"]) == (0, 0, 0)
    assert (made.json["verified"], made.json["complete"]) == (True, True)
    ids = [one["id"] for one in listed.json["snapshots"]]
    assert ids == [made.json["snapshot"], again.json["snapshot"]]
    assert listed.json["snapshots"][0]["scopes"] == ["local/me/personal"]


def test_under_quiet_a_night_without_trouble_prints_nothing(
    root: Path, repository: Path, tmp_path: Path
) -> None:
    for arguments in (
        ["backup", "create", repository], ["backup", "verify", repository],
        ["backup", "prune", repository, "--keep-last", "1", "--yes"],
        ["backup", "drill", repository], ["migrate"], ["reindex", "--no-embeddings"], ["verify"],
        ["export", tmp_path / "a.jsonl", "--with-originals"],
        ["--namespace", "other", "import", tmp_path / "a.jsonl"],
    ):  # fmt: skip
        assert invoke("--root", root, "-q", *arguments) == Answer(0, "", ""), arguments


def test_a_lost_asset_makes_the_backup_partial_and_is_named(root: Path, tmp_path: Path) -> None:
    next(path for path in (root / LEAF / "assets").rglob("*") if path.is_file()).unlink()

    said = run(root, "backup", "create", tmp_path / "repo")

    assert (said.code, said.json["complete"]) == (3, False)
    assert said.json["missing"][0]["reason"] == "asset_missing"
    assert "asset_missing" in said.err


def test_a_lost_ledger_is_damage(root: Path, tmp_path: Path) -> None:
    (root / LEAF / "ledger.sqlite3").unlink()

    assert run(root, "backup", "create", tmp_path / "repo").code == 5


def test_a_lost_object_is_found_refused_and_left_out_when_asked(
    root: Path, repository: Path, tmp_path: Path
) -> None:
    lose_an_object(repository)
    fresh = tmp_path / "fresh"

    assert run(root, "backup", "verify", repository).code == 5
    assert run(root, "backup", "drill", repository).code == 5
    refused = run(fresh, "restore", repository)
    assert (refused.code, refused.json["error"]["code"]) == (5, "object_missing")
    assert not fresh.exists()
    partial = run(fresh, "restore", repository, "--partial")
    assert (partial.code, len(partial.json["left_out"])) == (3, 1)


def test_restore_replaces_only_when_asked_and_says_where_the_old_store_is(
    root: Path, repository: Path
) -> None:
    refused = run(root, "restore", repository)
    assert (refused.code, refused.json["error"]["code"]) == (12, "not_empty")
    assert run(root, "restore", repository, "--replace", "--dry-run").json["displaced"] is None

    said = run(root, "restore", repository, "--replace")

    assert said.code == 0
    aside = Path(said.json["displaced"])
    assert run(aside, "status").json["counts"]["assets"] == 7
    recalled = run(root, "recall", "the cabin's wifi password", "--format", "json")
    assert recalled.json["coverage"] == "supported"


def test_an_unfinished_restore_refuses_all_else_and_is_taken_up(
    root: Path, repository: Path
) -> None:
    store = Root(root)
    staging = store.temporary / "restore-x"
    (staging / "tmp").mkdir(parents=True)
    shutil.copytree(store.store, staging / "store")
    shutil.copy(store.manifest, staging)
    said = {"snapshot": "000001-20260101T000000Z", "files": 1, "bytes": 1, "left_out": [],
            "displaced": str(root / "displaced-x")}  # fmt: skip
    write_journal(store, said, staging)

    assert run(root, "list", "assets").code == 12
    other = run(root, "restore", repository, "--snapshot", "000009-20260101T000000Z")
    assert (other.code, other.json["error"]["code"]) == (12, "recovery_required")
    assert run(root, "restore", "--dry-run").json["resumed"]
    done = run(root, "restore")

    assert (done.code, done.json["resumed"]) == (0, True)
    assert run(root, "list", "assets").json["count"] == 7
    assert run(root, "restore").code == 2


def test_a_drill_restores_verifies_and_recalls_and_leaves_nothing(
    root: Path, repository: Path, tmp_path: Path
) -> None:
    said = run(root, "backup", "drill", repository)

    assert said.code == 0
    (scope,) = said.json["scopes"]
    assert (scope["damaged"], said.json["ok"]) == (False, True)
    assert scope["asked"] == scope["answered"] > 0
    assert list((root / "tmp").iterdir()) == []
    elsewhere = run(tmp_path / "none", "backup", "drill", repository, "--recalls", "0")
    assert (elsewhere.code, elsewhere.json["scopes"][0]["asked"]) == (0, 0)
    assert list((repository / "tmp").iterdir()) == []


def test_prune_asks_for_a_rule_and_for_a_yes(root: Path, repository: Path) -> None:
    run(root, "backup", "create", repository)

    unlimited = run(root, "backup", "prune", repository, "--yes")
    emptied = run(root, "backup", "prune", repository, "--keep-within", "0h", "--yes")
    unasked = run(root, "backup", "prune", repository, "--keep-last", "1")
    planned = run(root, "backup", "prune", repository, "--keep-last", "1", "--dry-run")
    done = run(root, "backup", "prune", repository, "--keep-last", "1", "--yes")

    codes = [said.json["error"]["code"] for said in (unlimited, emptied, unasked)]
    assert codes == ["unlimited", "empties_group", "not_confirmed"]
    assert {said.code for said in (unlimited, emptied, unasked)} == {2}
    assert planned.json["removed"] == done.json["removed"]
    assert len(run(root, "backup", "list", repository).json["snapshots"]) == 1


def test_an_encrypted_repository_needs_its_secret_from_a_file(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setattr(cipher, "SCRYPT_N", 1 << 10)
    secret, short = tmp_path / "pass", tmp_path / "short"
    secret.write_text("correct horse\n")
    short.write_bytes(b"x")
    place = tmp_path / "repo"

    def code(*arguments: str | Path) -> tuple[int, str]:
        said = run(root, "backup", *arguments)
        return said.code, said.json.get("error", {}).get("code", "")

    assert code("create", place, "--encrypt") == (2, "secret_needed")
    assert code("create", place, "--passphrase-file", secret) == (2, "not_encrypted")
    assert code("create", place, "--encrypt", "--key-file", short) == (2, "bad_secret")
    assert code("create", place, "--encrypt", "--passphrase-file", "-") == (2, "bad_secret")
    assert code("create", place, "--encrypt", "--passphrase-file", secret) == (0, "")
    assert code("list", place) == (2, "secret_needed")
    assert code("verify", place, "--passphrase-file", short) == (2, "wrong_secret")
    assert code("list", place, "--passphrase-file", secret, "--key-file", secret) == (
        2, "two_secrets",
    )  # fmt: skip
    monkeypatch.setenv("MUNIMENT_PASSPHRASE_FILE", str(secret))
    assert code("verify", place) == (0, "")
    assert code("drill", place) == (0, "")
    assert run(tmp_path / "fresh", "restore", place).code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["backup"], 2),
        (["backup", "nonsense"], 2),
        (["backup", "create"], 2),
        (["backup", "list", "none"], 4),
        (["backup", "verify", "none"], 4),
        (["restore", "none"], 4),
        (["restore"], 2),
        (["import", "none"], 2),
        (["export", "-"], 10),
        (["migrate"], 10),
        (["backup", "create", "none"], 10),
    ],
)
def test_what_is_not_there_is_told_in_one_document(
    tmp_path: Path, arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    said = run(tmp_path / "root", *arguments)

    assert said.code == code
    assert said.json["error"]["code"]
    assert len(said.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_repository_that_is_in_use_is_locked(root: Path, repository: Path) -> None:
    from muniment.store.backup.repository import Repository

    with Repository.open(repository).writing():
        assert run(root, "backup", "create", repository).code == 11
        assert run(root, "backup", "verify", repository).code == 11
        assert run(root, "backup", "list", repository).code == 0


def test_an_archive_makes_the_round_trip_and_is_read_back_in_another_scope(
    root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    written = run(root, "export", file, "--with-originals")
    assert (written.code, written.json["originals"]["count"]) == (0, 3)
    assert file.stat().st_mode & 0o777 == 0o600
    assert run(root, "export", file).json["error"]["code"] == "exists"
    assert run(root, "export", file, "--with-originals", "--overwrite").code == 0

    full = run(root, "import", file)
    planned = run(root, "--namespace", "other", "import", file, "--dry-run")
    assert not Root(root).scope(Scope(namespace="other")).path.exists()
    done = run(root, "--namespace", "other", "import", file)

    assert (full.code, full.json["error"]["code"]) == (12, "not_empty")
    assert planned.json["rows"] == done.json["rows"] == written.json["rows"]
    assert done.code == 0
    assert run(root, "--namespace", "other", "verify").code == 0
    asked = ("recall", "the cabin's wifi password", "--format", "json")
    assert run(root, "--namespace", "other", *asked).json["coverage"] == "supported"


def test_an_archive_without_originals_is_imported_in_part(root: Path, tmp_path: Path) -> None:
    run(root, "export", tmp_path / "a.jsonl")

    said = run(tmp_path / "fresh", "import", tmp_path / "a.jsonl")

    assert (said.code, said.json["missing_originals"]) == (3, 3)


def test_export_to_standard_output_is_the_archive_alone(root: Path, tmp_path: Path) -> None:
    said = execute("--root", root, "--json", "export", "-")

    assert (said.code, said.err) == (0, "")
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert (lines[0]["type"], lines[-1]["type"]) == ("header", "end")
    (tmp_path / "a.jsonl").write_text(said.out)
    assert run(tmp_path / "fresh", "import", tmp_path / "a.jsonl").code == 3


def test_a_full_disk_behind_standard_output_is_told(root: Path) -> None:
    done = subprocess.run(
        f"'{SCRIPT}' --root '{root}' export - > /dev/full", shell=True, capture_output=True,
        text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 13
    assert "no_space" in done.stderr
    assert run(root, "export", "/dev/full", "--overwrite").json["error"]["code"] == "exists"


def test_a_damaged_archive_touches_nothing(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    run(root, "export", file)
    file.write_bytes(file.read_bytes().replace(b"spruce", b"larch "))

    said = run(tmp_path / "fresh", "import", file)

    assert (said.code, said.json["error"]["code"]) == (5, "archive_damaged")
    assert not (tmp_path / "fresh").exists()


def test_migrate_brings_an_old_store_up(tmp_path: Path) -> None:
    root = old_store(tmp_path / "old").path
    assert run(root, "list", "records").code == 12

    planned = run(root, "migrate", "--dry-run")
    done = run(root, "migrate")

    assert planned.json["files"] == done.json["files"]
    assert (done.code, done.json["migrated"]) == (0, 1)
    assert Path(done.json["files"][0]["copy"]).exists()
    assert run(root, "list", "records").json["count"] == 1
    assert run(root, "migrate").json["migrated"] == 0


def test_a_dry_run_leaves_every_byte_and_name_as_it_was(root: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    run(root, "backup", "create", repository)
    run(root, "backup", "create", repository)
    run(root, "export", tmp_path / "a.jsonl")

    def state() -> dict[Path, bytes | None]:
        return {path: path.read_bytes() if path.is_file() else None for path in tmp_path.rglob("*")}

    before = state()
    for arguments in (
        ["backup", "create", repository], ["backup", "create", tmp_path / "new"],
        ["backup", "prune", repository, "--keep-last", "1"], ["restore", repository, "--replace"],
        ["export", tmp_path / "b.jsonl"], ["migrate"],
        ["--namespace", "other", "import", tmp_path / "a.jsonl"],
    ):  # fmt: skip
        assert run(root, *arguments, "--dry-run").code in {0, 3}
        assert state() == before, arguments


def test_the_recipe_for_cron_runs_in_an_empty_environment(
    root: Path, tmp_path: Path, checkout: Path
) -> None:
    page = (checkout / "docs" / "how-to" / "backup.md").read_text("utf-8")
    lines = page.split("```cron\n")[1].split("```")[0].splitlines()
    commands = [line.split(maxsplit=5)[5] for line in lines if "muniment" in line.split()]
    environment = {
        "MUNIMENT_ROOT": str(root), "HOME": str(tmp_path), "SHELL": "/bin/sh",
        "PATH": f"{SCRIPT.parent}:/usr/bin:/bin",
    }  # fmt: skip

    for command in commands:
        done = subprocess.run(
            ["/bin/sh", "-c", command.replace("/mnt/backup", str(tmp_path / "repo"))],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), command
    assert [command.split()[2] for command in commands] == ["reindex"] + ["backup"] * 4
    assert os.listdir(tmp_path / "repo" / "snapshots")  # noqa: PTH208 (names are enough)
