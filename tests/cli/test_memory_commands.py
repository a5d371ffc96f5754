"""The memory plane from outside: changes by hand, history, conflicts, candidates."""

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli import SCRIPT, Answer, invoke
from support.remembering import Talk

from muniment.store import access


@pytest.fixture
def talk(tmp_path: Path, home: Path) -> Iterator[Talk]:
    assert invoke("--root", tmp_path / "root", "init").code == 0
    made = Talk(tmp_path / "root")
    yield made
    made.store.close()


def ask(talk: Talk, *arguments: str, code: int = 0) -> Any:
    """Run a command; the ledger of the test stays open beside it, as another process's would."""
    said = run(talk, *arguments)
    assert said.code == code, said
    return said.json


def run(talk: Talk, *arguments: str) -> Answer:
    return invoke("--json", "--root", talk.store.root.path, *arguments)


def home_of(talk: Talk) -> str:
    (row, *_) = talk.rows("home")
    return f"record:{row['id']}"


def third_party(talk: Talk, *texts: str) -> list[str]:
    for text in texts:
        talk.say(text, "2024-05-01", origin="third_party", author="Bob", role=None)
    return [f"candidate:{row['id']}" for row in talk.memory.candidates("c.status = 'pending'")]


def test_a_correction_is_a_version_and_the_same_again_changes_nothing(talk: Talk) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    ref = home_of(talk)

    planned = ask(talk, "correct", ref, "--value", "Milan", "--dry-run")
    assert planned["status"] == "planned"
    assert len(talk.rows("home")) == 1

    done = ask(talk, "correct", ref, "--value", "Milan", "--reason", "a slip")
    assert (done["status"], done["record"], done["corrects"]) == (
        "corrected", f"{ref}@2", f"{ref}@1"
    )  # fmt: skip
    old, new = talk.rows("home")
    assert (old["status"], new["status"]) == ("revoked", "active")
    assert (new["text"], new["value"]) == ("I live in Milan", "Milan")
    assert new["valid_at"] == old["valid_at"]

    again = ask(talk, "correct", ref, "--value", "Milan")
    assert (again["status"], again["record"]) == ("unchanged", f"{ref}@2")
    assert len(talk.rows("home")) == 2


def test_a_correction_of_a_named_version_said_twice_names_what_says_it_now(talk: Talk) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    ref = home_of(talk)
    for value in ("Milan", "Oslo"):
        ask(talk, "correct", ref, "--value", value)

    for options in (["--dry-run"], []):
        again = ask(talk, "correct", f"{ref}@2", "--value", "Oslo", *options)
        assert (again["status"], again["record"]) == ("unchanged", f"{ref}@3")
    for value in ("Milan", "Rome", "Paris"):  # what nothing says now is no repetition
        error = ask(talk, "correct", f"{ref}@1", "--value", value, code=12)["error"]
        assert error["hint"] == f"correct {ref}@3 instead"
    assert len(talk.rows("home")) == 3


def test_a_value_alone_does_not_replace_the_words_of_a_record_without_a_key(talk: Talk) -> None:
    (ref,) = ask(talk, "remember", "My dog is called Rex")["records"]

    error = ask(talk, "correct", ref, "--value", "Max", code=2)["error"]

    assert "no key" in error["message"]
    assert "text" in error["hint"]
    done = ask(talk, "correct", ref, "--text", "My dog is called Max")
    assert done["status"] == "corrected"


def test_what_was_corrected_no_longer_answers_and_what_is_right_is_cited(talk: Talk) -> None:
    talk.say("My locker is number 17. I live in Rome.", "2024-05-01")
    ask(talk, "correct", home_of(talk), "--value", "Milan")

    pack = ask(talk, "recall", "where do I live? Milan Rome", "--no-semantic")
    (records,) = [s["items"] for s in pack["sections"] if s["name"] == "records"]
    assert [item["text"] for item in records] == ["I live in Milan"]
    quotes = {c["id"]: c["quote"] for c in pack["citations"]}
    assert quotes[records[0]["citations"][0]] == "I live in Milan"


def test_a_corrected_start_moves_the_end_of_what_came_before(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    paris = talk.rows("home")[1]

    ask(talk, "correct", f"record:{paris['id']}", "--valid-at", "2025-01-01")

    assert talk.shown("home") == [
        ("Rome", "superseded", "2025-01-01"), ("Paris", "revoked", None), ("Paris", "active", None)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["correct", "record:rec_x", "--value", "y"], 4),
        (["correct", "REF"], 2),
        (["correct", "REF", "--value", " "], 2),
        (["correct", "REF", "--text", "I live elsewhere"], 2),
        (["correct", "REF", "--valid-at", "soon"], 2),
        (["pin", "sha256:" + "0" * 64], 2),
        (["pin"], 2),
        (["history", "nothing"], 4),
        (["candidates", "approve"], 2),
        (["candidates", "approve", "cand_x"], 4),
        (["candidates", "review"], 2),
        (["conflicts", "resolve", "rec_x"], 4),
    ],
)
def test_what_can_not_be_done_says_so_by_its_code(
    talk: Talk, arguments: list[str], code: int
) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    arguments = [home_of(talk) if part == "REF" else part for part in arguments]

    assert "error" in ask(talk, *arguments, code=code)


@pytest.mark.parametrize(
    "arguments",
    [["pin", "rec_x"], ["correct", "rec_x", "--value", "y"], ["history", "home"],
     ["candidates", "list"], ["candidates", "approve", "cand_x"], ["conflicts", "list"],
     ["pin", "rec_x", "--dry-run"], ["timeline", "home"]],
)  # fmt: skip
def test_no_store_is_made_by_looking_for_something(tmp_path: Path, arguments: list[str]) -> None:
    said = invoke("--json", "--root", tmp_path / "none", *arguments)

    assert said.code == 10
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("verb", "back", "done"), [("pin", "unpin", "pinned"), ("archive", "unarchive", "archived")]
)
def test_a_change_is_one_revision_and_can_be_undone(
    talk: Talk, verb: str, back: str, done: str
) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    ref = home_of(talk)

    def revisions() -> int:
        return len(talk.memory.revisions(ref.removeprefix("record:")))

    assert ask(talk, verb, ref, "--dry-run")["status"] == "planned"
    assert revisions() == 1
    assert ask(talk, verb, ref, ref)[done] == [f"{ref}@1"]
    assert revisions() == 2
    assert ask(talk, verb, ref) == {"status": "unchanged", done: [], "unchanged": [f"{ref}@1"]}
    assert revisions() == 2
    assert ask(talk, back, ref)["status"] == "done"
    assert ask(talk, back, ref)["status"] == "unchanged"


def test_an_archived_record_does_not_answer_until_it_is_back(talk: Talk) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    ref = home_of(talk)

    def answers() -> list[str]:
        hits = ask(talk, "recall", "Rome live", "--no-semantic", "--kind", "record")
        return [item["ref"] for section in hits["sections"] for item in section["items"]
                if section["name"] == "records"]  # fmt: skip

    assert answers() == [f"{ref}@1"]
    ask(talk, "archive", ref)
    assert answers() == []
    ask(talk, "unarchive", ref)
    assert answers() == [f"{ref}@1"]


def test_history_shows_versions_changes_and_evidence(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    ask(talk, "correct", home_of(talk), "--value", "Milan", "--reason", "a slip")

    by_key = ask(talk, "history", "home")
    assert by_key["count"] == 3
    by_ref = ask(talk, "history", home_of(talk))
    assert [[change["action"] for change in one["revisions"]] for one in by_ref["versions"]] == [
        ["create", "supersede", "correct"], ["correct"]
    ]  # fmt: skip
    assert by_ref["versions"][1]["revisions"][0]["reason"] == "a slip"
    assert by_ref["versions"][0]["evidence"][0]["quote"] == "I live in Rome"


def test_a_timeline_tells_what_held_when_and_before_what(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    talk.say("I like tea.", "2025-05-01")

    def words(*arguments: str) -> list[str]:
        return [item["words"] for item in ask(talk, "timeline", *arguments)["items"]]

    assert words("home") == [
        "2020-05-01 to 2024-05-01: home = Rome", "since 2024-05-01: home = Paris"
    ]  # fmt: skip
    assert words("preference") == ["since 2025-05-01: preference:tea = like"]
    assert len(words("user")) == 3
    assert words("user", "--before", "2024-05-01") == words("home")[:1]
    paris = talk.rows("home")[1]["id"]
    assert words("home", "--before", f"record:{paris}") == words("home")[:1]
    assert words("home", "--after", f"record:{paris}") == words("home")[1:]
    assert words("user", "--limit", "1") == words("preference")


def test_conflicts_are_listed_and_settled(talk: Talk) -> None:
    talk.say("I like tea.", "2020-05-01")
    talk.say("I hate tea.", "2024-05-01")

    (conflict,) = ask(talk, "conflicts", "list")["items"]
    assert [side["value"] for side in conflict["sides"]] == ["like", "dislike"]
    kept = conflict["sides"][1]["ref"]
    assert ask(talk, "conflicts", "resolve", kept, "--dry-run")["status"] == "planned"
    assert ask(talk, "conflicts", "resolve", kept)["status"] == "resolved"
    assert ask(talk, "conflicts", "resolve", kept)["status"] == "unchanged"
    assert ask(talk, "conflicts", "list")["items"] == []


def test_candidates_are_listed_with_filters_and_shown_in_context(talk: Talk) -> None:
    refs = third_party(talk, "Hello there. I live in Oslo. Bye.", "I like tea.")
    talk.say("I live in Rome.", "2024-05-01")

    listed = ask(talk, "candidates", "list")
    assert [item["ref"] for item in listed["items"]] == refs
    assert ask(talk, "candidates", "list", "--key", "home")["count"] == 1
    assert ask(talk, "candidates", "list", "--status", "all")["count"] == 3
    assert ask(talk, "candidates", "list", "--origin", "user")["count"] == 0
    assert ask(talk, "candidates", "list", "--min-confidence", "0.95")["count"] == 0
    lines = run(talk, "candidates", "list", "--jsonl").out.splitlines()
    assert lines[-1] == '{"type": "summary", "count": 2}'

    (place,) = ask(talk, "candidates", "show", refs[0])["context"]
    assert (place["before"], place["quote"], place["after"]) == (
        "Hello there. ", "I live in Oslo", ". Bye."
    )  # fmt: skip


def test_an_approved_candidate_is_a_record_and_a_rejected_one_is_not(talk: Talk) -> None:
    home, tea = third_party(talk, "I live in Oslo.", "I like tea.")

    planned = ask(talk, "candidates", "approve", home, "--dry-run")
    assert (planned["status"], planned["approved"][0]["record"]) == ("planned", None)
    approved = ask(talk, "candidates", "approve", home)["approved"]
    assert approved[0]["operation"] == "ADD"
    (row,) = talk.rows("home", "Bob")
    assert approved[0]["record"] == f"record:{row['id']}@1"
    again = ask(talk, "candidates", "approve", home)
    assert (again["approved"], again["unchanged"][0]["reason"]) == ([], "already_active")

    assert ask(talk, "candidates", "reject", tea)["rejected"][0]["ref"] == tea
    assert ask(talk, "candidates", "reject", tea)["unchanged"][0]["reason"] == "already_rejected"
    assert ask(talk, "candidates", "list")["count"] == 0


def test_rejecting_what_was_approved_takes_the_record_back_and_forth(talk: Talk) -> None:
    (home,) = third_party(talk, "I live in Oslo.")
    ask(talk, "candidates", "approve", home)

    ask(talk, "candidates", "reject", home, "--reason", "he moved")
    assert talk.rows("home", "Bob")[0]["status"] == "revoked"

    ask(talk, "candidates", "approve", home)
    assert talk.rows("home", "Bob")[0]["status"] == "active"


def test_many_at_once_need_a_word_and_touch_what_waits_alone(talk: Talk) -> None:
    third_party(talk, "I live in Oslo.", "I like tea.", "I work as a nurse.")

    assert ask(talk, "candidates", "approve", "--all-from", "rules", code=2)["error"]
    assert ask(talk, "candidates", "approve", "--all-from", "rules", "--dry-run")["status"]
    assert ask(talk, "candidates", "list")["count"] == 3
    done = ask(talk, "candidates", "approve", "--all-from", "rules", "--key", "home", "--yes")
    assert len(done["approved"]) == 1
    done = ask(talk, "candidates", "reject", "--all-from", "rules", "--yes")
    assert len(done["rejected"]) == 2
    assert ask(talk, "candidates", "reject", "--all-from", "rules", "--yes")["rejected"] == []


def test_a_candidate_whose_words_are_gone_is_refused(talk: Talk) -> None:
    (home,) = third_party(talk, "I live in Oslo.")
    observation = next(talk.memory.candidates())["evidence"][0]["observation"]
    talk.store.observe_again(observation, "I live in Bergen.", kind="message")

    refused = ask(talk, "candidates", "approve", home, code=1)["refused"]

    assert refused[0]["reason"] == "evidence_gone"
    assert talk.rows("home", "Bob") == []


def test_a_review_at_a_terminal_takes_a_key_a_decision(talk: Talk) -> None:
    third_party(talk, "I live in Oslo.", "I like tea.", "I work as a nurse.", "I hate rain.")

    said = typed(talk, ["a", "r", "s", "q"])

    assert "[[I live in Oslo]]" in said
    assert re.search(r"1 approved, 1 rejected, 0 edited, 1 skipped, 1 left", said)
    waiting = [row["text"] for row in talk.memory.candidates("c.status = 'pending'")]
    assert waiting == ["I work as a nurse", "I hate rain"]

    typed(talk, ["e", "I work as a doctor\n", "doctor\n", "q"])
    assert [row["status"] for row in talk.rows("job", "Bob")] == ["revoked", "active"]
    assert talk.rows("job", "Bob")[1]["value"] == "doctor"


def typed(talk: Talk, keys: list[str]) -> str:
    """Run a review at a terminal of its own and press keys as it asks for them."""
    master, slave = pty.openpty()
    command = [str(SCRIPT), "--root", str(talk.store.root.path), "candidates", "review"]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, close_fds=True)
    os.close(slave)
    said, asked, left, pressed = "", 0, list(keys), ("", 0.0)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            try:
                said += os.read(master, 65_536).decode("utf-8", "replace")
            except OSError:
                break
        prompts = len(re.findall(r"\[q\]uit |text \[|value of \w+ \[", said))
        if left and prompts > asked:
            asked = prompts
            time.sleep(0.5)  # what is typed before the terminal is raw is thrown away
            pressed = (left.pop(0), time.monotonic())
            os.write(master, pressed[0].encode())
        elif pressed[0] and prompts == asked and time.monotonic() - pressed[1] > 10:
            pressed = (pressed[0], time.monotonic())
            os.write(master, pressed[0].encode())
        if process.poll() is not None and not select.select([master], [], [], 0.1)[0]:
            break
    process.wait(timeout=10)
    os.close(master)
    return said


def test_a_recall_counts_what_it_answers_with_and_leaves_the_ledger_alone(talk: Talk) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    ref = home_of(talk)
    paths = talk.ledger.paths
    before = talk.ledger.database.changes(), paths.ledger.read_bytes()

    for _ in range(2):
        ask(talk, "recall", "where do I live, Rome?", "--no-semantic")

    assert access.uses(paths.access)[ref.removeprefix("record:")].times == 2
    assert (talk.ledger.database.changes(), paths.ledger.read_bytes()) == before
    assert paths.access.stat().st_mode & 0o777 == 0o600
