"""What was corrected is kept and marked, and answers no more: no message or episode does."""

from pathlib import Path

import pytest
from support.agents import Agent, event, lines, texts

from muniment.pipeline.agent.context import render

ROME = "I live in Rome."


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "root")


def correct(agent: Agent, *events: str) -> None:
    """Say things, then correct that the user lives in Rome."""
    agent.append(*(event(number, text) for number, text in enumerate(events)))
    found = agent.run("list", "records")["items"]
    (record,) = [one["ref"] for one in found if one["value"] == "Rome"]
    agent.run("correct", record, "--value", "Oslo")


def test_an_episode_tells_the_rest_of_what_was_said(agent: Agent) -> None:
    correct(agent, ROME, "The weather is bad today.")

    assert agent.recall("Rome")["coverage"] == "none"
    assert texts(agent.recall("where do I live?")) == ["I live in Oslo"]
    assert "Rome" not in str(agent.recall("bad weather today")["sections"])
    assert ROME in texts(agent.recall("Rome", "--include-history"))


def test_a_longer_message_answers_with_its_other_words_alone(agent: Agent) -> None:
    correct(agent, "I live in Rome now! The piano is out of tune.")

    assert agent.recall("Rome")["coverage"] == "none"
    pack = agent.recall("is the piano out of tune?")
    assert pack["coverage"] == "supported"
    assert texts(pack) == ["The piano is out of tune."]
    assert [one["quote"] for one in pack["citations"]] == ["The piano is out of tune."]


def test_words_on_both_sides_of_what_was_corrected_are_cited_each(agent: Agent) -> None:
    correct(agent, "The piano is out of tune. I live in Rome. The tuner comes on Friday.")

    pack = agent.recall("when does the tuner come for the piano?")

    assert texts(pack) == ["The piano is out of tune. … The tuner comes on Friday."]
    assert [one["quote"] for one in pack["citations"]] == [
        "The piano is out of tune.", "The tuner comes on Friday."
    ]  # fmt: skip


def test_another_claim_of_the_same_message_stands(agent: Agent) -> None:
    correct(agent, "I live in Rome and I work at Fiat.")

    pack = agent.recall("where do I work?")

    assert pack["coverage"] == "supported"
    assert "I work at Fiat" in texts(pack)
    assert "Rome" not in str([pack["sections"], pack["citations"]])


def test_words_that_another_record_rests_on_go_on_answering(agent: Agent) -> None:
    also = {"text": "Rents a flat in Rome.", "quote": "in Rome", "ref": "e1"}
    turn = lines(event(1, ROME), {"proposal": also})
    done = agent.run("--session", "s1", "turn", "complete", "-", stdin=turn)
    agent.run("candidates", "approve", done["proposals"][0]["ref"])
    (record,) = [one for one in agent.run("list", "records")["items"] if one["value"] == "Rome"]

    agent.run("correct", record["ref"], "--value", "Oslo")

    assert ROME in texts(agent.recall("Rome"))


def test_views_of_a_session_mark_it(agent: Agent) -> None:
    correct(agent, ROME, "The weather is bad today.")

    shown = agent.run("session", "show", "s1")
    assert [one["corrected"] for one in shown["events"]] == [True, False]
    assert shown["title"] == f"{ROME} (corrected since)"
    resumed = agent.run("session", "resume", "s1")
    (events,) = (one for one in resumed["components"] if one["name"] == "events")
    assert [(one["kind"], one["text"]) for one in events["items"]] == [
        ("user (corrected since)", ROME), ("user", "The weather is bad today.")
    ]  # fmt: skip
    assert render(resumed).count("(corrected since)") == 2  # the title's, and the event's
    assert agent.run("session", "end", "s1")["gist"] == "The weather is bad today."


def test_a_long_title_has_room_for_its_mark(agent: Agent) -> None:
    correct(agent, f"{ROME} That is what everybody asks me about, again and again, all the time.")

    title = agent.run("session", "show", "s1")["title"]

    assert len(title) == 80
    assert title.endswith("… (corrected since)")
