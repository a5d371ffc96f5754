"""``ingest`` over light inputs: counts, dry run, lists, names, repeats, failures, locks."""

import base64
import os
import subprocess
from pathlib import Path

import pytest
from support.cli import SCRIPT, execute, invoke

NEW = ("registered", "duplicates", "observed", "observations", "episodes", "candidates", "records",
       "indexed")  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUNIMENT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "root"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.txt").write_text("The boiler was serviced in May.")
    (folder / "two.md").write_text("# Garden\n\nThe roses need water on Tuesdays.\n")
    return folder


def ingest(root: Path, *arguments: str | Path, stdin: bytes = b"") -> dict[str, object]:
    said = invoke("--root", root, "--json", "ingest", "--no-embeddings", *arguments, stdin=stdin)
    return {"exit": said.code, **said.json}


def test_a_folder_is_ingested_and_a_second_run_finds_nothing_new(root: Path, notes: Path) -> None:
    first, second = ingest(root, notes), ingest(root, notes)

    assert (first["exit"], first["scanned"], first["registered"]) == (0, 2, 2)
    assert second["exit"] == 0
    assert [second[name] for name in NEW] == [0] * len(NEW)
    assert second["unchanged"] == 2


def test_a_dry_run_writes_nothing_at_all(root: Path, notes: Path) -> None:
    planned = ingest(root, notes, "--dry-run")

    assert (planned["registered"], planned["dry_run"]) == (2, True)
    assert not root.exists()
    ingest(root, notes / "one.txt")
    before = sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*"))
    assert ingest(root, notes, "-n")["registered"] == 1
    assert sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*")) == before


def test_the_source_folder_is_not_touched(root: Path, notes: Path) -> None:
    notes.chmod(0o500)
    before = {path: path.stat() for path in (notes, *notes.iterdir())}
    try:
        assert ingest(root, notes)["exit"] == 0
        after = {path: path.stat() for path in (notes, *notes.iterdir())}
    finally:
        notes.chmod(0o700)

    assert {path: found.st_mtime_ns for path, found in after.items()} == {
        path: found.st_mtime_ns for path, found in before.items()
    }


@pytest.mark.parametrize(
    "name",
    [b"-x.txt", b"a:b.txt", b"x%03d.txt", b"new\nline.txt", b"caf\xe9.txt", "😀.txt".encode()],
)
def test_any_name_is_a_name(root: Path, tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    path = os.fsencode(folder) + b"/" + name
    Path(os.fsdecode(path)).write_text("The spare key hangs in the shed.")

    assert ingest(root, folder)["registered"] == 1
    listed = invoke("--root", root, "--json", "list", "assets").json["items"]
    shown = invoke("--root", root, "--json", "show", listed[0]["ref"]).json["sightings"][0]
    assert (
        base64.b64decode(shown["path_b64"]) == path
        if "path_b64" in shown
        else (shown["path"].encode() == path)
    )
    assert ingest(root, folder)["unchanged"] == 1


def test_paths_come_from_a_list_ended_by_nul(root: Path, notes: Path) -> None:
    listed = b"\0".join(os.fsencode(path) for path in sorted(notes.iterdir())) + b"\0"

    assert ingest(root, "--files-from", "-", "-0", stdin=listed)["registered"] == 2


def test_a_text_comes_from_standard_input_when_it_is_asked_for(root: Path) -> None:
    assert ingest(root, "-", stdin="今天买了苹果。".encode())["registered"] == 1
    assert "苹果" in invoke("--root", root, "recall", "买了什么苹果").out


def test_a_loop_over_names_keeps_its_own_standard_input(root: Path, notes: Path) -> None:
    script = (
        f"printf '%s\\n' one.txt two.md | while read -r f; do "
        f"'{SCRIPT}' -q --root '{root}' ingest --no-embeddings '{notes}'/\"$f\" >/dev/null; "
        f'echo "$f"; done'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["one.txt", "two.md"]
    assert len(invoke("--root", root, "--json", "list", "assets").json["items"]) == 2


def test_a_missing_path_is_named_and_the_rest_is_done(root: Path, notes: Path) -> None:
    said = ingest(root, notes / "one.txt", notes / "gone.txt")

    assert (said["exit"], said["registered"]) == (3, 1)
    failure = said["failed"][0]  # type: ignore[index]
    assert (failure["stage"], failure["code"]) == ("register", "missing")
    assert ingest(root, notes / "gone.txt")["exit"] == 1


def test_the_same_bytes_elsewhere_are_one_asset_with_two_sightings(root: Path, notes: Path) -> None:
    (notes / "copy.txt").write_bytes((notes / "one.txt").read_bytes())

    said = ingest(root, notes)

    assert (said["registered"], said["duplicates"]) == (2, 1)
    shown = invoke("--root", root, "--json", "show", notes / "copy.txt").json
    assert len(shown["sightings"]) == 2


def test_two_spellings_of_a_name_stay_two_files_and_settle(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "caf\u00e9.txt").write_text("composed")
    (folder / "cafe\u0301.txt").write_text("decomposed")

    assert ingest(root, folder)["registered"] == 2
    assert [ingest(root, folder)[name] for name in NEW] == [0] * len(NEW)


def test_a_changed_file_is_a_new_asset_and_the_old_one_stays(root: Path, notes: Path) -> None:
    ingest(root, notes)
    (notes / "one.txt").write_text("The boiler was serviced in June.")

    said = ingest(root, notes)

    assert (said["registered"], said["unchanged"]) == (1, 1)
    assert len(invoke("--root", root, "--json", "list", "assets").json["items"]) == 3


def test_an_empty_and_an_unknown_file_are_kept_with_a_reason(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "empty.txt").touch()
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 64)

    said = ingest(root, folder)

    assert (said["exit"], said["registered"], said["failed"]) == (0, 2, [])
    items = invoke("--root", root, "--json", "list", "assets").json["items"]
    assert {item["name"]: item["reasons"] for item in items} == {
        "empty.txt": {"none": "empty_file"},
        "noise.bin": {"none": "no_reader"},
    }


def test_a_second_writer_is_told_who_holds_the_lock(root: Path, notes: Path) -> None:
    from muniment.store import locks
    from muniment.store.layout import Root, Scope

    ingest(root, notes)
    with locks.hold(Root(root).scope(Scope()).writer_lock):
        said = execute("--json", "--root", root, "ingest", notes, "--no-embeddings")
        read = execute("--root", root, "recall", "When was the boiler serviced?")

    assert said.code == 11
    assert f"process {os.getpid()}" in said.json["error"]["message"]
    assert (read.code, "May" in read.out) == (0, True)


def test_scopes_do_not_see_each_other(root: Path, notes: Path) -> None:
    ingest(root, notes)

    said = invoke("--root", root, "--user", "other", "--json", "recall", "boiler")

    assert said.code == 10
    ingest(root, notes / "two.md", "--user", "other")
    pack = invoke("--root", root, "--user", "other", "recall", "--format", "json", "boiler").json
    assert pack["citations"] == []


def test_stages_run_one_by_one_come_to_the_same(root: Path, notes: Path, tmp_path: Path) -> None:
    from support.contents import contents_of

    from muniment.store.layout import Root, Scope

    whole = tmp_path / "whole"
    ingest(whole, notes)
    assert invoke("--root", root, "register", notes).code == 0
    for stage in ("observe", "group", "propose"):
        assert invoke("--root", root, stage).code == 0
    assert invoke("--root", root, "index", "--no-embeddings").code == 0

    assert contents_of(Root(root), Scope()) == contents_of(Root(whole), Scope())


def test_include_and_exclude_choose(root: Path, notes: Path) -> None:
    assert ingest(root, notes, "--include", "*.md")["registered"] == 1
    assert ingest(root, notes, "--exclude", "*.txt")["registered"] == 0


def test_what_the_user_said_in_a_note_becomes_a_record_when_it_is_theirs(
    root: Path, tmp_path: Path
) -> None:
    note = tmp_path / "me.txt"
    note.write_text("I am allergic to penicillin.")

    assert ingest(root, note)["records"] == 0
    assert ingest(tmp_path / "mine", note, "--origin", "user")["records"] == 1
