"""What the user says again, after it was replaced, corrected or forgotten, holds again."""

from pathlib import Path
from typing import Any

import pytest
from support.cli import invoke

OSLO, ROME = "My home is in Oslo", "My home is in Rome"


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    assert invoke("--root", tmp_path / "root", "init").code == 0
    return tmp_path / "root"


def ask(root: Path, *arguments: str) -> Any:
    said = invoke("--json", "--root", root, *arguments)
    assert said.code == 0, said
    return said.json


def remember(root: Path, text: str, *, keyed: bool = False) -> Any:
    """Say where home is, under a key if asked for."""
    fact = ("--key", "home", "--value", text.rpartition(" ")[2]) if keyed else ()
    return ask(root, "remember", text, *fact)


def answers(root: Path) -> list[str]:
    """Return the texts of the records that answer where home is."""
    pack = ask(root, "recall", "-q", "Where is my home?")
    (records,) = (one for one in pack["sections"] if one["name"] == "records")
    return [item["text"] for item in records["items"]]


def test_a_fact_that_holds_again_replaces_what_replaced_it(root: Path) -> None:
    first = remember(root, OSLO, keyed=True)
    remember(root, ROME, keyed=True)
    again = remember(root, OSLO, keyed=True)

    assert again["status"] == "created"
    assert again["observation"] != first["observation"]  # said at another time
    assert answers(root) == [OSLO]
    assert remember(root, OSLO, keyed=True) == {**again, "status": "known"}


@pytest.mark.parametrize("what", ["observation", "records"])
@pytest.mark.parametrize("keyed", [False, True])
def test_what_was_forgotten_and_is_said_again_answers(root: Path, what: str, keyed: bool) -> None:
    said = remember(root, OSLO, keyed=keyed)
    ask(root, "forget", said["observation"] if what == "observation" else said["records"][0])
    assert answers(root) == []

    again = remember(root, OSLO, keyed=keyed)

    assert (again["status"], len(again["records"])) == ("created", 1)
    assert answers(root) == [OSLO]
    assert remember(root, OSLO, keyed=keyed)["status"] == "known"


def test_what_was_erased_and_is_said_again_answers(root: Path) -> None:
    said = remember(root, OSLO)
    ask(root, "forget", "--hard", "--yes", said["records"][0])

    assert remember(root, OSLO)["status"] == "created"
    assert answers(root) == [OSLO]


def test_a_correction_to_what_was_forgotten_quotes_words_that_are_there(root: Path) -> None:
    (first,) = remember(root, ROME, keyed=True)["records"]
    record = first.partition("@")[0]
    ask(root, "correct", record, "--value", "Oslo")
    (oslo,) = (one for one in ask(root, "list", "observations")["items"] if one["text"] == OSLO)
    ask(root, "correct", record, "--value", "Rome")
    ask(root, "forget", oslo["ref"])

    ask(root, "correct", record, "--value", "Oslo")

    assert answers(root) == [OSLO]


def test_what_waits_for_approval_waits_once(root: Path) -> None:
    text = "请记住我的身份证号是110101199003074514"
    first = remember(root, text)
    assert remember(root, text) == {**first, "status": "known"}
    waiting = ask(root, "list", "candidates")["items"]
    assert len({one["text"] for one in waiting}) == len(waiting)
