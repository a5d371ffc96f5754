"""A record that is forgotten takes along what was said to be it, and no claim shows it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Answer, invoke

Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a way to run commands on an empty store."""
    root = tmp_path / "root"
    assert invoke("--root", root, "init").code == 0
    return lambda *arguments, **given: invoke("--json", "--root", root, *arguments, **given)


def recalled(run: Run, query: str) -> str:
    pack = run("recall", query).json
    return json.dumps([pack["sections"], pack["citations"]], ensure_ascii=False)


def test_a_correction_is_hidden_with_its_record_and_so_is_what_it_corrected(run: Run) -> None:
    (record,) = run("remember", "My home is in Rome", "--key", "home", "--value", "Rome").json[
        "records"
    ]
    corrected = run("correct", record, "--value", "Oslo").json["record"]

    tombstone = run("forget", corrected).json["tombstone"]
    for word in ("Rome", "Oslo"):
        assert word not in recalled(run, f"is my home in {word}?")
        assert word not in run("list", "observations").out

    assert run("unforget", f"tombstone:{tombstone}").json["status"] == "restored"
    assert "Oslo" in recalled(run, "where is my home?")


def test_a_statement_stays_that_another_record_rests_on(run: Run) -> None:
    said = run("remember", "I live in Rome. I like tea.").json
    assert len(said["records"]) == 2
    for left, record in zip((1, 0), said["records"], strict=True):
        run("forget", record)
        assert run("list", "records").json["count"] == left
        assert (run("show", said["observation"]).code == 0) is bool(left)

    for record in said["records"]:
        assert run("unforget", record).json["status"] == "restored"
    assert run("list", "records").json["count"] == 2


def test_what_is_said_again_and_forgotten_again_does_not_answer(run: Run) -> None:
    for _ in range(2):
        (record,) = run("remember", "My home is in Rome").json["records"]
        assert "Rome" in recalled(run, "where is my home?")
        run("forget", record)
        assert "Rome" not in recalled(run, "where is my home?")


def test_a_message_outlives_the_record_that_was_made_of_it(run: Run) -> None:
    run("--session", "s", "session", "append", "I live in Rome.")
    (record,) = run("list", "records").json["items"]

    assert run("forget", record["ref"]).json["observations"] == 0

    assert "I live in Rome." in recalled(run, "where do I live?")


@pytest.mark.parametrize("what", ["ref", "event"])
def test_no_claim_shows_what_is_forgotten(run: Run, what: str) -> None:
    run("session", "append", "-", "--session", "s", stdin=b'{"event_id": "e1", "role": "user", '
        b'"text": "Remember that my parrot is called Quokka."}\n')  # fmt: skip
    (record,) = run("list", "records").json["items"]
    candidate = f"candidate:{record['candidate']}"
    forgotten = record["ref"] if what == "ref" else "event:e1"

    def shown() -> list[bool]:
        lists = (("list", "candidates"), ("candidates", "list", "--status", "all"),
                 ("list", "records"), ("timeline", "user"))  # fmt: skip
        objects = (("show", record["ref"]), ("show", candidate), ("candidates", "show", candidate),
                   ("history", record["ref"]))  # fmt: skip
        codes = {run(*one).code for one in objects}
        assert len(codes) == 1
        return ["Quokka" in run(*one).out for one in lists] + [codes == {0}]

    assert all(shown())
    run("forget", forgotten)
    assert not any(shown())
    hidden = run("list", "records", "--status", "invalidated").json["items"]
    assert [one["ref"] for one in hidden] == [record["ref"]]

    run("unforget", forgotten)

    assert all(shown())
