"""``--dry-run``: whatever changes something has it, plans, and leaves every byte alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.cli import invoke

from muniment.pipeline import cli

# What reads only, keeps a process running, or works somewhere that is gone afterwards. A drill is
# remembered by one note; a verify writes with --repair alone, and has its own dry run.
READS = {
    "status", "doctor", "config", "recall", "search", "explain", "show", "list", "candidates list",
    "candidates review", "candidates show", "history", "timeline", "conflicts list",
    "backup list", "backup verify", "backup drill", "session resume", "session show",
    "turn prepare", "checkpoint show", "persona show", "serve local", "serve mcp", "serve web",
    "demo", "completion", "entities proposals", "stats",
    "links list", "conflicts proposals",
}  # fmt: skip
EVENT = {"event_id": "e9", "role": "user", "text": "The heron flew.", "session": "s1"}
PROPOSAL = {"proposal": {"text": "A heron flew.", "quote": "heron flew", "ref": "e9"}}
STDIN = (json.dumps(EVENT) + "\n").encode()


def commands() -> Iterator[tuple[str, click.Command]]:
    def walk(one: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(one, click.Group):
            yield name, one
            return
        context = click.Context(one)
        for member in one.list_commands(context):
            found = one.get_command(context, member)
            assert found is not None
            yield from walk(found, f"{name} {member}".strip())

    return walk(cli.cli, "")


def test_every_command_that_changes_something_has_a_dry_run() -> None:
    without = {
        name
        for name, one in commands()
        if not any({"-n", "--dry-run"} <= set(option.opts) for option in one.params)
    }

    assert without == READS


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store that has something of everything, and backups beside it."""
    place = tmp_path_factory.mktemp("dry")
    (place / "in").mkdir()
    (place / "in" / "note.txt").write_text("My name is Ada. The heron stands in the reeds.")
    (place / "in" / "large.txt").write_text("Leaf floats to the sea. " * 6_000)
    people = "BEGIN:VCARD\nVERSION:3.0\nFN:%s\nEMAIL:%s@example.org\nEND:VCARD\n"
    cards = "".join(people % (name, name.lower()) for name in ("Ada", "Grace"))
    (place / "in" / "people.vcf").write_text(cards)
    (place / "goal.json").write_text('{"goal": "Count herons"}')
    said = {"event_id": "e1", "role": "user", "text": "I like tea.", "session": "s1"}
    for arguments, stdin in (
        (["ingest", place / "in", "--no-embeddings"], b""),
        (["remember", "Remember that my allergy is peanuts."], b""),
        (["session", "append", "-"], json.dumps(said).encode()),
        (["persona", "set", "Knows about herons."], b""),
        (["persona", "set", "Knows about storks."], b""),
        (["backup", "create", place / "repo"], b""),
        (["backup", "create", place / "repo"], b""),
        (["export", place / "a.jsonl"], b""),
        (["recall", "heron", "--no-semantic"], b""),
    ):
        done = invoke("--root", place / "root", "-q", *arguments, stdin=stdin)
        assert done.code == 0, done
    (place / "in" / "new.txt").write_text("The stork stands on the roof.")
    (place / "batch.jsonl").write_bytes(STDIN)
    return place


def state(place: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in place.rglob("*")}


@pytest.mark.parametrize(
    "line",
    [
        "ingest IN", "register IN", "observe", "group", "propose", "index", "reindex",
        "remember 'I like coffee.'", "correct REC --text 'My allergy is nuts.'", "pin REC",
        "archive REC", "consolidate", "forget PLACE/in/note.txt",
        "forget --hard PLACE/in/note.txt", "forget --hard scope:.", "verify --repair",
        "verify --repair --from REPO", "backup create REPO", "backup create PLACE/new",
        "backup prune REPO --keep-last 1", "backup forget REPO", "restore REPO --replace",
        "export PLACE/b.jsonl", "--namespace other import PLACE/a.jsonl", "migrate", "init",
        "session append 'Hello.' --session s2", "session append -", "session end s1",
        "turn complete -", "checkpoint save --goal 'Count herons' --session s1",
        "host-ingest jsonl PLACE/batch.jsonl",
        "host-ingest other - --stream s --cursor 1", "persona set 'Another one.'",
        "persona rollback 1", "entities merge ENT ENT2", "entities apart ENT ENT2",
        "entities split ENT", "entities alias ENT 'Another Name'",
        "links add REC REC2", "links remove REC REC2", "misread OBS", "misread OBS --undo",
        "misread OBS --text 'The crane stands in the reeds.'", "conflicts settle REC REC2",
        "candidates rejudge",
    ],
)  # fmt: skip
def test_a_dry_run_leaves_every_byte_and_name_as_it_was(place: Path, line: str) -> None:
    import shlex

    root = place / "root"
    listed = invoke("--root", root, "--json", "list", "records").json["items"]
    entities = invoke("--root", root, "--json", "list", "entities").json["items"]
    observed = invoke("--root", root, "--json", "list", "observations").json["items"]
    names = {"IN": place / "in", "REPO": place / "repo", "REC": listed[0]["ref"],
             "REC2": listed[1]["ref"], "OBS": observed[0]["ref"],
             "ENT": entities[0]["ref"], "ENT2": entities[1]["ref"]}  # fmt: skip
    arguments = [
        str(names.get(word, word.replace("PLACE", str(place)))) for word in shlex.split(line)
    ]
    stdin = STDIN + (json.dumps(PROPOSAL).encode() if line.startswith("turn") else b"")
    before = state(place)

    done = invoke("--root", root, "--json", *arguments, "--dry-run", stdin=stdin)

    assert done.code in {0, 3}, done
    assert done.json
    assert {name for name in before.keys() | state(place).keys()
            if before.get(name, 0) != state(place).get(name, 0)} == set()  # fmt: skip


def test_a_foreseen_event_is_told_as_what_it_will_be(place: Path) -> None:
    root = place / "root"
    known = {"event_id": "e1", "role": "user", "text": "I like tea.", "session": "s1"}
    other = {**known, "text": "I like milk."}
    lines = "\n".join(json.dumps(one) for one in (EVENT, EVENT, known, other)).encode()

    done = invoke("--root", root, "--json", "session", "append", "-", "-n", stdin=lines)

    assert done.json["dry_run"] is True
    assert [one["status"] for one in done.json["events"]] == ["appended", "known", "known"]
    assert [one["code"] for one in done.json["failed"]] == ["event_conflict"]
