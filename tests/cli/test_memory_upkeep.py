"""Misread evidence, links, proposals to settle and judging anew, from outside."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli import Answer, invoke
from support.remembering import Talk


@pytest.fixture
def talk(tmp_path: Path, home: Path) -> Iterator[Talk]:
    assert invoke("--root", tmp_path / "root", "init").code == 0
    made = Talk(tmp_path / "root")
    yield made
    made.store.close()


def run(talk: Talk, *arguments: str) -> Answer:
    return invoke("--json", "--root", talk.store.root.path, *arguments)


def ask(talk: Talk, *arguments: str) -> Any:
    said = run(talk, *arguments)
    assert said.code == 0, said
    return said.json


def test_a_misreading_is_marked_corrected_and_taken_back_once(talk: Talk) -> None:
    wrong = talk.passage("The herron nests in the reeds", "2024-05-01")
    ref = f"observation:{wrong.observation}"

    done = ask(talk, "misread", ref, "--text", "The heron nests in the reeds")
    again = ask(talk, "misread", ref, "--text", "The heron nests in the reeds")

    assert (done["status"], again["status"]) == ("marked", "unchanged")
    shown = ask(talk, "show", ref)
    assert (shown["live"], shown["misread"]["reason"]) == (False, "misread")
    assert f"observation:{shown['misread']['correction']}" == done["correction"]
    assert ask(talk, "show", done["correction"])["corrects"] == wrong.observation
    assert ask(talk, "misread", ref, "--undo")["status"] == "lifted"
    assert ask(talk, "misread", ref, "--undo")["status"] == "unchanged"
    assert ask(talk, "show", ref)["live"] is True
    assert run(talk, "misread", "record:rec_none").code == 2
    assert run(talk, "misread", "observation:obs_none").code == 4


def test_records_are_linked_and_settled_by_hand(talk: Talk) -> None:
    for text in ("The key hangs in the shed.", "The key is hanging in the shed."):
        talk.claim(None, None, "2024-05-01", text=text)
    one, other = (f"record:{row['id']}" for row in talk.memory.records("1 ORDER BY r.version_seq"))

    assert ask(talk, "links", "add", one, other)["status"] == "linked"
    assert ask(talk, "links", "add", other, one)["status"] == "unchanged"
    assert [item["ref"] for item in ask(talk, "links", "list", one)["items"]] == [f"{other}@1"]
    assert ask(talk, "show", one)["related"] == [other]
    assert ask(talk, "links", "remove", one, other)["status"] == "unlinked"
    assert ask(talk, "links", "list", one)["count"] == 0
    assert run(talk, "links", "add", one, one).code == 2

    assert ask(talk, "conflicts", "proposals")["count"] == 0
    assert ask(talk, "conflicts", "settle", one, other, "--merge")["status"] == "settled"
    assert ask(talk, "conflicts", "settle", one, other, "--merge")["status"] == "unchanged"
    assert [row["status"] for row in talk.memory.records("1 ORDER BY r.version_seq")] == [
        "active", "archived"
    ]  # fmt: skip


def test_a_changed_policy_is_applied_to_what_waits(talk: Talk) -> None:
    talk.say("My sister Anna is here.", "2024-05-01")
    assert ask(talk, "candidates", "rejudge")["status"] == "unchanged"
    talk.store.paths.policy.write_text('rules = ["remember", "kin"]\n')

    assert ask(talk, "candidates", "rejudge", "--dry-run")["status"] == "planned"
    done = ask(talk, "candidates", "rejudge")

    assert done["status"] == "done"
    assert done["approved"][0]["record"].startswith("record:")
    assert ask(talk, "candidates", "rejudge")["status"] == "unchanged"


def test_a_consolidation_without_a_model_asks_nobody(talk: Talk) -> None:
    assert ask(talk, "consolidate")["review"] is None
    assert talk.ledger.audit.calls("chat") == []
