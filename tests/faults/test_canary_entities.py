"""A unique name, put in by every route to an entity, erased, then searched byte by byte."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Answer, invoke

WORD = "Zanzibarquokka"
TRACES = (WORD.encode(), WORD.lower().encode(), b"5550917")
Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name, folder in (("ROOT", "root"), ("CACHE", "cache")):
        monkeypatch.setenv(f"MUNIMENT_{name}", str(tmp_path / folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return lambda *arguments, stdin=b"": invoke("--json", *arguments, stdin=stdin)


def mail(sender: str, day: int) -> str:
    return (
        f"From: {sender}\nTo: Bob <bob@example.org>\nSubject: Birds {day}\n"
        f"Date: Mon, 0{day} Mar 2026 10:00:00 +0000\nMessage-ID: <{day}@example.org>\n\n"
        f"The heron number {day} stands in the reeds.\n"
    )


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in" / "secret"
    folder.mkdir(parents=True)
    (folder / "chat.txt").write_text(
        f"2026-03-01 10:00 Ann: Hello\n2026-03-01 10:05 {WORD}: Hi, how are you?\n"
    )
    (folder / "letter.eml").write_text(mail(f"{WORD} <ann@example.org>", 1))
    (folder / "card.vcf").write_text(
        f"BEGIN:VCARD\nVERSION:3.0\nFN:{WORD} Lee\nORG:{WORD} Ltd\nTEL:+86 755 5550917\n"
        f"EMAIL:{WORD}@example.org\nEND:VCARD\n"
    )
    (tmp_path / "in" / "other.eml").write_text(mail("Ann Lee <ann@example.org>", 3))
    return tmp_path / "in"


def entities(run: Run) -> dict[str, str]:
    return {item["name"]: item["ref"] for item in run("list", "entities").json["items"]}


def holding(*folders: Path) -> list[str]:
    """Return every file that holds a trace in its bytes."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in files if any(one in path.read_bytes() for one in TRACES)]


def test_an_erased_name_is_in_no_byte_and_no_answer(run: Run, inputs: Path, tmp_path: Path) -> None:
    assert run("ingest", inputs / "secret", inputs, "--no-embeddings").code == 0
    told = run("remember", f"I live in {WORD}.").json
    known = entities(run)
    alias = run("entities", "alias", known[f"{WORD} Lee"], "Auntie May Bell")
    other = run("entities", "alias", known["Ann Lee"], "Annie")
    merged = run("entities", "merge", known["Ann Lee"], known[WORD])
    assert [one.code for one in (alias, other, merged)] == [0, 0, 0]
    assert holding(tmp_path / "root")
    old = dict(known)

    named = [str(inputs / "secret"), *told["records"]]
    done = run("forget", "--hard", "--yes", *named)

    assert (done.code, done.json["clean"]) == (0, True), done.out
    assert done.json["erased"]["entities"] >= 3
    assert holding(tmp_path / "root", tmp_path / "cache", tmp_path / "state") == []
    tables_are_clean(tmp_path / "root")
    left = entities(run)
    assert set(left) == {"Ann Lee", "Bob"}
    shown = run("show", left["Ann Lee"]).json
    assert {name["name"] for name in shown["names"]} == {"Ann Lee", "ann@example.org", "Annie"}
    assert shown["merged"] == []
    for ref in old.values():
        answer = run("show", ref)
        assert answer.code == 4 or answer.json["name"] in left
    assert WORD not in run("explain", f"What did {WORD} say?").json["entity_path"]
    assert run("list", "topics").code == 0
    assert run("verify").json["findings"] == []


def tables_are_clean(root: Path) -> None:
    """Read every cell of every database, too: a compressed page would hide its bytes."""
    for path in root.rglob("*.sqlite3"):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        dump = [
            row
            for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if not table.startswith(("fts", "sqlite_", "vocabulary"))
            for row in database.execute(f'SELECT * FROM "{table}"')
        ]
        database.close()
        assert WORD.lower() not in repr(dump).lower()


def test_what_is_hidden_calls_nobody_anything_and_comes_back(run: Run, inputs: Path) -> None:
    assert run("ingest", inputs / "secret", "--no-embeddings").code == 0
    before = entities(run)

    assert run("forget", inputs / "secret").code == 0
    assert entities(run) == {}
    assert run("show", before[WORD]).code == 4

    assert run("unforget", inputs / "secret").code == 0
    assert entities(run) == before


def test_a_part_of_a_file_takes_its_names_along(run: Run, inputs: Path) -> None:
    assert run("ingest", inputs / "secret" / "chat.txt", "--no-embeddings").code == 0
    observations = run("list", "observations").json["items"]
    (said,) = [one["ref"] for one in observations if one["author"] == WORD]
    before = entities(run)

    done = run("forget", "--hard", "--yes", said)

    assert (done.code, done.json["clean"]) == (0, True), done.out
    after = entities(run)
    assert set(after) == {"Ann"}
    assert after["Ann"] != before["Ann"], "an id that tells of the old bytes"
    assert run("verify").json["findings"] == []


def test_entities_travel_in_an_archive_and_a_backup(
    run: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("ingest", inputs, "--no-embeddings").code == 0
    known = entities(run)
    assert run("entities", "merge", known["Ann Lee"], known[WORD]).code == 0
    listed = run("list", "entities").json
    assert run("export", tmp_path / "all.jsonl").code == 0
    assert run("backup", "create", tmp_path / "backup").code == 0

    for number, command in enumerate((
        ("import", tmp_path / "all.jsonl"), ("restore", tmp_path / "backup")
    )):  # fmt: skip
        monkeypatch.setenv("MUNIMENT_ROOT", str(tmp_path / f"root-{number}"))
        done = run(*command)
        assert done.code == 0, done.out
        assert run("list", "entities").json == listed
        again = run("propose").json
        assert again["entities"] == 0, json.dumps(again)
        assert run("verify").json["findings"] == []
