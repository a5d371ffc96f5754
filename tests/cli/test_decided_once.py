"""What is remembered, corrected or approved is the owner's: nothing after it overrules it."""

from pathlib import Path
from typing import Any

import pytest
from support.agents import Agent, event, lines, texts

HOME = ("--key", "home", "--value")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "root")


def records(agent: Agent) -> list[tuple[str, str]]:
    """Return what is in force: the words, and the day since when."""
    found = agent.run("list", "records")["items"]
    return [(one["text"], one["valid_at"]["utc"][:10]) for one in found]


def said(pack: dict[str, Any]) -> tuple[str, list[str]]:
    return pack["coverage"], texts(pack)


# --- a follow-up takes no claim out of a statement ------------------------------------------------


def test_a_follow_up_leaves_what_was_remembered_for_a_time_as_it_is(agent: Agent) -> None:
    agent.run("remember", "I live in Rome", *HOME, "Rome", "--valid-at", "2010-01-01")
    agent.run("remember", "I live in Oslo", *HOME, "Oslo", "--valid-at", "2015-01-01")
    agent.run("remember", "I live in Lima", *HOME, "Lima", "--valid-at", "2099-01-01")
    before = agent.run("timeline", "home")

    agent.append(event(1, "Good morning."))

    assert agent.run("timeline", "home") == before
    assert [one["words"] for one in before["items"]] == [
        "2010-01-01 to 2015-01-01: home = Rome", "2015-01-01 to 2099-01-01: home = Oslo",
        "since 2099-01-01: home = Lima",
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["forget", "archive"])
def test_a_follow_up_brings_nothing_back(agent: Agent, command: str) -> None:
    (record,) = agent.run("remember", "I live in Rome")["records"]
    agent.run(command, record)

    agent.append(event(1, "Good morning."))
    agent.run("propose")

    assert records(agent) == []


def test_a_follow_up_leaves_a_correction_as_it_is(agent: Agent) -> None:
    agent.append(event(1, "I live in Rome."))
    (record,) = agent.run("list", "records")["items"]
    agent.run("correct", record["ref"], "--valid-at", "2099-01-01")

    agent.append(event(2, "Good morning."))

    assert records(agent) == [("I live in Rome", "2099-01-01")]


# --- a statement answers while it is a record ----------------------------------------------------


def test_a_statement_answers_only_while_what_it_was_made_to_be_does(agent: Agent) -> None:
    agent.run("remember", "My tower is in Pisa", "--key", "home", "--value", "Pisa",
              "--valid-at", "2010-01-01")  # fmt: skip
    agent.run("remember", "My tower is in Oslo", "--key", "home", "--value", "Oslo",
              "--valid-at", "2015-01-01")  # fmt: skip
    agent.run("remember", "My tower is in Lima", "--key", "home", "--value", "Lima",
              "--valid-at", "2099-01-01")  # fmt: skip
    (car,) = agent.run("remember", "My car is a Saab")["records"]

    assert texts(agent.recall("Where is my tower?")) == ["My tower is in Oslo"]
    assert "My tower is in Pisa" in texts(agent.recall("tower Pisa", "--include-history"))
    assert agent.recall("What is my car?")["coverage"] == "supported"
    agent.run("archive", car)
    assert agent.recall("What is my car?")["coverage"] == "none"
    assert texts(agent.recall("What is my car?", "--include-archived")) == ["My car is a Saab"]


def test_of_a_statement_of_two_facts_what_holds_goes_on_answering(agent: Agent) -> None:
    said = agent.run("remember", "I live in Rome. I like tea.")
    home, tea = (agent.run("show", record) for record in said["records"])
    agent.run("archive", home["ref"])

    assert agent.recall("Rome")["coverage"] == "none"
    pack = agent.recall("Do I like tea?")
    assert pack["coverage"] == "supported"
    assert "Rome" not in str([pack["sections"], pack["citations"]])
    assert tea["text"] in texts(pack)


# --- what the owner approved is the owner's -------------------------------------------------------


def proposed(agent: Agent) -> str:
    """Let an agent propose what it concludes from its own words; return the candidate."""
    turn = [
        event(1, "No peanuts, I am allergic to them."),
        event(2, "Then a curry without.", role="assistant"),
        {"proposal": {"text": "Likes short answers.", "quote": "a curry without", "ref": "e2",
                      "inferred": True, "confidence": 0.95}},
    ]  # fmt: skip
    done = agent.run("--session", "s1", "turn", "complete", "-", stdin=lines(*turn))
    return str(done["proposals"][0]["ref"])


def test_what_was_approved_answers_whoever_said_the_words(agent: Agent) -> None:
    candidate = proposed(agent)
    asked = "Does the user like short answers?"
    assert agent.recall(asked)["coverage"] == "none"

    agent.run("candidates", "approve", candidate)

    pack = agent.recall(asked)
    assert said(pack) == ("supported", ["Likes short answers."])
    assert [(one["quote"], one["origin"]) for one in pack["citations"]] == [
        ("a curry without", "agent")
    ]


def test_what_a_policy_let_through_is_not_proven_by_the_words_of_an_assistant(
    agent: Agent,
) -> None:
    agent.run("init")
    folder = next(agent.root.rglob("ledger.sqlite3")).parent
    (folder / "policy.toml").write_text('[[allow]]\nproposer = "agent:agent"\norigin = "agent"\n')
    proposed(agent)
    agent.run("candidates", "rejudge")

    assert [one["status"] for one in agent.run("list", "candidates")["items"]][-1] == "active"
    assert agent.recall("Does the user like short answers?")["coverage"] == "none"
