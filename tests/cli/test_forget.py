"""``forget`` and ``unforget`` as a person uses them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Answer, invoke

SECRET = "The zanzibar canary sings at midnight by the violet lighthouse."
CHAT = """\
2026-03-01 10:00 Ann: Shall we meet at the old mill on Friday?
2026-03-01 10:05 Bob: The xylophone password is quokka seventeen.
2026-03-01 10:06 Ann: Fine, I bring the tickets for the opera.
"""
Run = Callable[..., Answer]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET)
    (folder / "other.txt").write_text("The heron stands in the reeds.")
    (folder / "chat.txt").write_text(CHAT)
    return folder


@pytest.fixture
def run(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a way to run commands on a store that has taken the inputs in."""
    monkeypatch.setenv("MUNIMENT_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("MUNIMENT_CACHE", str(tmp_path / "cache"))
    assert invoke("-q", "ingest", inputs, "--no-embeddings").code == 0
    return lambda *arguments: invoke("--json", *arguments)


def holding(folder: Path, word: str) -> list[str]:
    """Return the files that hold a word."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in paths if word.encode() in path.read_bytes()]


def recalled(run: Run, query: str) -> str:
    pack = run("recall", query).json
    return json.dumps([pack["sections"], pack["citations"]], ensure_ascii=False)


def test_what_is_forgotten_is_not_recalled_shown_or_listed_until_it_is_asked_back(
    run: Run, inputs: Path
) -> None:
    secret = inputs / "secret.txt"
    assert "zanzibar" in recalled(run, "zanzibar canary")

    done = run("forget", secret)

    assert (done.code, done.json["status"], done.json["assets"]) == (0, "forgotten", 1)
    assert "zanzibar" not in recalled(run, "zanzibar canary")
    assert run("show", secret).code == 4
    for kind in ("assets", "observations", "episodes"):
        assert "zanzibar" not in run("list", kind).out
        assert "secret.txt" not in run("list", kind).out
    assert run("forget", secret).json["status"] == "unchanged"
    assert run("unforget", secret).json["status"] == "restored"
    assert "zanzibar" in recalled(run, "zanzibar canary")
    assert run("verify").code == 0


def test_a_tombstone_can_be_lifted_by_its_id(run: Run, inputs: Path) -> None:
    tombstone = run("forget", inputs).json["tombstone"]
    assert run("list", "observations").json["count"] == 0

    assert run("unforget", f"tombstone:{tombstone}").json["assets"] == 3

    assert run("list", "observations").json["count"] == 5
    assert run("unforget", "tombstone:tmb_none").code == 4


def test_a_forgotten_message_leaves_its_episode_and_comes_back_to_it(run: Run) -> None:
    assert "quokka" in run("list", "episodes").out

    assert run("forget", "--author", "Bob").json["observations"] == 1
    assert "quokka" not in run("list", "episodes").out
    assert "opera" in run("list", "episodes").out

    assert run("unforget", "--author", "Bob").json["observations"] == 1
    assert "quokka" in run("list", "episodes").out


def test_a_record_comes_back_with_its_evidence(run: Run) -> None:
    said = run("remember", "Remember that my allergy is peanuts.").json
    (record,) = said["records"]

    assert run("forget", said["observation"]).json["claims_changed"] == 1
    assert run("list", "records").json["count"] == 0
    assert run("unforget", said["observation"]).code == 0

    assert [one["ref"] for one in run("list", "records").json["items"]] == [record]


def test_a_hard_forget_needs_a_yes_and_a_dry_run_changes_nothing(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()}

    planned = run("forget", "--hard", "-n", inputs / "secret.txt")
    refused = run("forget", "--hard", inputs / "secret.txt")

    assert (planned.json["erased"]["assets"], planned.json["dry_run"]) == (1, True)
    assert (refused.code, refused.json["error"]["code"]) == (2, "needs_yes")
    after = {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()}
    assert {name for name in before if before[name] != after.get(name)} == set()


def test_nothing_named_is_refused_and_nothing_found_is_said(run: Run) -> None:
    assert run("forget").code == 2
    assert run("forget", "--hard", "--yes").code == 2
    assert run("forget", "/nowhere").code == 4
    assert run("forget", "--author", "Nobody").code == 4


def test_erased_bytes_are_in_no_file_and_do_not_come_back(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    done = run("forget", "--hard", "--yes", inputs / "secret.txt")

    assert (done.code, done.json["clean"]) == (0, True)
    assert done.json["checks"]["read_paths"] == {"show": 0, "list": 0, "recall": 0}
    assert done.json["erased"]["assets"] == 1
    assert "zanzibar" not in done.out
    assert "secret" not in done.out
    for word in ("zanzibar", "violet", "secret.txt"):
        assert holding(tmp_path / "root", word) == []
    again = run("ingest", inputs, "--no-embeddings").json
    assert [one["reason"] for one in again["skipped"]] == ["forgotten"]
    assert "zanzibar" not in recalled(run, "zanzibar canary")
    assert run("verify").json["findings"] == []

    allowed = run("ingest", inputs, "--no-embeddings", "--allow-forgotten").json
    assert allowed["registered"] == 1
    assert "zanzibar" in recalled(run, "zanzibar canary")


def test_a_persons_messages_go_and_the_others_are_still_cited(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    done = run("forget", "--hard", "--yes", "--author", "Bob")

    assert (done.code, done.json["erased"]["reduced"]) == (0, 1)
    for word in ("quokka", "xylophone", "Bob"):
        assert holding(tmp_path / "root", word) == []
    assert "opera" in recalled(run, "opera tickets")
    assert run("verify").json["findings"] == []
    # The same file, longer by a line, is new; the erased message in it is not let in.
    (inputs / "chat.txt").write_text(CHAT + "2026-03-02 09:00 Ann: The ferry leaves at noon.\n")
    run("ingest", inputs, "--no-embeddings")
    assert "quokka" not in run("list", "observations").out
    assert "ferry" in run("list", "observations").out


def test_what_is_left_of_a_file_is_quoted_from_its_new_bytes(run: Run, tmp_path: Path) -> None:
    run("forget", "--hard", "--yes", "--author", "Bob")
    rows = run("list", "observations").json["items"]
    left = [row for row in rows if "opera" in row["text"]]

    out = tmp_path / "quote.txt"
    assert run("show", left[0]["ref"], "--extract", out).code == 0

    assert out.read_text() == left[0]["text"]


def test_a_file_that_is_not_erased_keeps_its_claims_after_one_is(run: Run) -> None:
    said = run("remember", "Remember that my allergy is peanuts.").json
    run("remember", "I like tea.")

    assert run("forget", "--hard", "--yes", said["records"][0]).code == 0

    assert "peanuts" not in run("list", "records").out + run("list", "candidates").out
    assert "peanuts" not in run("list", "observations").out
    assert "tea" in run("list", "observations").out


def test_a_scope_is_emptied_and_its_forget_list_stays(run: Run, inputs: Path) -> None:
    assert run("forget", "--hard", "--yes", "scope:.").json["erased"]["assets"] == 3

    assert run("list", "assets").json["count"] == 0
    assert run("verify").json["findings"] == []
    again = run("ingest", inputs, "--no-embeddings").json
    assert (again["registered"], len(again["skipped"])) == (0, 3)


def test_a_backup_that_still_holds_it_is_named(run: Run, inputs: Path, tmp_path: Path) -> None:
    repository = tmp_path / "backup"
    snapshot = run("backup", "create", repository).json["snapshot"]

    done = run("forget", "--hard", "--yes", inputs / "secret.txt", "--backups", repository)
    assert done.json["backups"] == [{"repository": str(repository), "snapshot": snapshot}]

    run("backup", "create", repository)
    later = run("forget", "--hard", "--yes", inputs / "other.txt", "--backups", repository)
    assert len(later.json["backups"]) == 2


def test_a_reader_in_the_way_is_waited_for_or_named(run: Run, inputs: Path, tmp_path: Path) -> None:
    from muniment.store import manifest
    from muniment.store.layout import Root

    with manifest.shared(Root(tmp_path / "root")):
        done = run("forget", "--hard", "--yes", inputs / "secret.txt")

    assert (done.code, done.json["error"]["code"]) == (11, "locked")


def test_nothing_to_resume_is_said(run: Run) -> None:
    done = run("forget", "--resume")

    assert (done.code, done.json["status"]) == (0, "unchanged")


def test_restoring_an_older_backup_does_not_revive_what_was_erased(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    repository, root = tmp_path / "backup", tmp_path / "root"
    assert run("backup", "create", repository).code == 0
    assert run("forget", "--hard", "--yes", inputs / "secret.txt").code == 0

    here = run("restore", repository, "--replace")
    assert (here.code, here.json["erased_again"]) == (0, 1)
    assert holding(root / "store", "zanzibar") == []
    assert run("ingest", inputs, "--no-embeddings").json["skipped"][0]["reason"] == "forgotten"

    older = run("backup", "list", repository).json["snapshots"][0]["id"]
    assert run("backup", "create", repository).code == 0
    elsewhere = tmp_path / "elsewhere"
    there = run("--root", elsewhere, "restore", repository, "--snapshot", older)
    assert (there.code, there.json["erased_again"]) == (0, 1), there.out
    assert holding(elsewhere, "zanzibar") == []


def test_older_snapshots_are_rewritten_in_their_place(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    repository = tmp_path / "backup"
    first = run("backup", "create", repository).json["snapshot"]
    assert run("forget", "--hard", "--yes", inputs / "secret.txt").code == 0
    second = run("backup", "create", repository).json["snapshot"]
    assert holding(repository, "zanzibar")

    done = run("backup", "forget", repository)

    assert (done.code, done.json["rewritten"]) == (0, [first])
    assert holding(repository, "zanzibar") == []
    assert [one["id"] for one in run("backup", "list", repository).json["snapshots"]] == sorted(
        [first, second]
    )
    assert run("backup", "verify", repository).code == 0
    assert run("backup", "forget", repository).json["looked_into"] == []
    there = run("--root", tmp_path / "there", "restore", repository, "--snapshot", first)
    assert there.code == 0
    assert "heron" in run("--root", tmp_path / "there", "list", "observations").out


def test_hidden_messages_of_others_outlive_an_erasing_and_come_back(run: Run) -> None:
    assert run("forget", "--author", "Ann").json["observations"] == 2
    assert run("forget", "--hard", "--yes", "--author", "Bob").json["erased"]["reduced"] == 1
    assert "opera" not in run("list", "observations").out

    assert run("unforget", "--author", "Ann").json["observations"] == 2

    assert "opera" in run("list", "observations").out
    assert run("verify").json["findings"] == []


def test_what_is_hidden_can_still_be_erased(run: Run, inputs: Path, tmp_path: Path) -> None:
    assert run("forget", inputs / "secret.txt").code == 0

    assert run("forget", "--hard", "--yes", inputs / "secret.txt").json["clean"]

    assert holding(tmp_path / "root", "zanzibar") == []


def test_a_record_can_be_hidden_by_itself_and_asked_back(run: Run) -> None:
    (record,) = run("remember", "Remember that my allergy is peanuts.").json["records"]

    planned = run("forget", "-n", record).json
    done = run("forget", record).json
    assert (done["records"], done["assets"]) == (planned["records"], planned["assets"]) == (1, 1)
    assert run("list", "records").json["count"] == 0
    assert "peanuts" not in recalled(run, "what is my allergy?")
    assert run("forget", record).json["status"] == "unchanged"

    assert run("unforget", record).json["records"] == 1
    assert run("list", "records").json["count"] == 1
    assert "peanuts" in run("list", "observations").out
    assert run("unforget", record).json["status"] == "unchanged"


def test_ingesting_a_hidden_file_again_says_so_and_allowing_it_brings_it_back(
    run: Run, inputs: Path
) -> None:
    assert run("forget", inputs / "secret.txt").code == 0

    for _ in range(2):
        again = run("ingest", inputs, "--no-embeddings").json
        assert [one["reason"] for one in again["skipped"]] == ["forgotten"]
        (inputs / "secret.txt").touch()
    assert run("ingest", inputs, "--no-embeddings", "--allow-forgotten").code == 0

    assert "zanzibar" in recalled(run, "zanzibar canary")
