"""Resume, turns, checkpoints and personas through the command line (CONTRACT 7)."""

import json
from pathlib import Path

import pytest
from support.agents import Agent, event, lines

NAMES = ["persona", "checkpoint", "agreements", "memories", "emotion", "events"]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    made = Agent(tmp_path / "root")
    made.append(
        event(1, "Remember that I am allergic to peanuts."),
        event(2, "Noted, no peanuts.", role="assistant"),
        event(3, "I promise to send the slides to Ola by Friday."),
    )
    return made


def components(document: dict[str, object]) -> list[str]:
    found = document["components"]
    assert isinstance(found, list)
    return [one["name"] for one in found]


def test_resume_gives_whole_components_in_order_within_the_budget(agent: Agent) -> None:
    agent.run("persona", "set", "You are Ada: brief and kind.")
    agent.run("checkpoint", "save", "--session", "s1", "--goal", "cook for the peanut allergy")

    for budget in (256, 300, 400, 600, 2_000):
        found = agent.run("session", "resume", "s1", "--token-budget", str(budget))
        kept = components(found)
        assert kept == [name for name in NAMES if name in kept]
        assert found["tokens_used"] <= budget
        assert not set(kept) & set(found["omitted"])
        cited = {one["id"] for one in found["citations"]}
        for part in found["components"]:
            for item in part["items"]:
                assert set(item["citations"]) <= cited

    assert {"persona", "checkpoint", "memories", "events"} <= set(kept)
    assert found["omitted"] == []


def test_a_persona_that_does_not_fit_gives_an_empty_context(agent: Agent) -> None:
    agent.run("persona", "set", "Be kind. " * 400)

    found = agent.run("session", "resume", "s1", "--token-budget", "256")

    assert (found["status"], found["components"]) == ("insufficient_budget", [])
    assert found["omitted"] == NAMES


def test_the_newest_five_events_are_shown(agent: Agent) -> None:
    agent.append(*(event(n, f"Message number {n} about sailing.") for n in range(10, 20)))

    found = agent.run("session", "resume", "s1")
    (events,) = [one for one in found["components"] if one["name"] == "events"]

    assert [item["text"] for item in events["items"]] == [
        f"Message number {n} about sailing." for n in range(15, 20)
    ]


def test_an_old_event_fades_in_a_context_that_nobody_asked_for(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "root")
    long = "The committee met in the old library. " + "It went on and on about chairs. " * 20
    agent.append(event(1, long, occurred_at="2020-05-06T10:00:00Z"))

    found = agent.run("session", "resume", "s1")
    (events,) = [one for one in found["components"] if one["name"] == "events"]

    assert events["items"][0]["time"] == "2020-05"
    assert len(events["items"][0]["text"]) <= 120


def test_a_turn_has_pack_and_context_in_one_budget(agent: Agent) -> None:
    for budget in (512, 700, 2_000):
        turn = agent.run(
            "turn", "prepare", "what am I allergic to?", "--session", "s1",
            "--token-budget", str(budget),
        )  # fmt: skip
        assert turn["tokens_used"] <= budget
        assert turn["pack"]["coverage"] == "supported"
        assert turn["resume"]["components"][0]["name"] == "persona"
    assert agent.run("turn", "prepare", "x", "--session", "s1", "--token-budget", "300", code=2)

    done = agent.run(
        "turn", "complete", "-",
        stdin=lines(event(8, "I live in Bergen."), event(9, "Noted.", role="assistant")),
    )  # fmt: skip
    assert done["appended"] == 2
    assert done["candidates"] >= 1


def test_what_an_agent_proposes_with_a_turn_waits_for_approval(agent: Agent) -> None:
    def complete(**fields: str) -> bytes:
        said = {"text": "Sails often.", "quote": "sail every Sunday", "ref": "e20", **fields}
        return lines(event(20, "I sail every Sunday."), {"proposal": said})

    done = agent.run("turn", "complete", "-", stdin=complete())
    assert [one["status"] for one in done["proposals"]] == ["pending"]

    for change, code in (
        ({"quote": "fly"}, "quote_mismatch"), ({"kind": "spell"}, "bad_proposal"),
        ({"ref": "nothing"}, "not_found"),
    ):  # fmt: skip
        told = agent.run("turn", "complete", "-", stdin=complete(**change), code=3)
        assert [(one["code"], one["line"]) for one in told["proposals"]] == [(code, 2)]
        assert told["proposals"][0]["message"]
        assert told["known"] == 1
    waiting = agent.run("list", "candidates", "--status", "pending")["items"]
    assert [one["proposer"] for one in waiting if one["text"] == "Sails often."] == ["agent:agent"]


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_each_line_of_a_turn_has_its_own_outcome(agent: Agent, options: list[str]) -> None:
    proposals = [
        {"text": "Likes tea.", "quote": "like tea", "ref": "e21"},
        {"text": "Likes coffee.", "quote": "like coffee", "ref": "e21"},
        {"text": "Likes rum.", "quote": "rum", "ref": "nothing"},
    ]
    said = lines(
        event(21, "I like tea."), event(22, "x", role="nobody"),
        *({"proposal": one} for one in proposals),
    )  # fmt: skip

    told = agent.run("turn", "complete", "-", *options, stdin=said, code=3)

    assert [(one["event_id"], one["status"]) for one in told["events"]] == [("e21", "appended")]
    assert [(one["line"], one["code"]) for one in told["failed"]] == [(2, "bad_event")]
    made = [(one["line"], one["status"], one["code"]) for one in told["proposals"]]
    kept = "planned" if options else "pending"
    assert made == [
        (3, kept, None), (4, "failed", "quote_mismatch"), (5, "failed", "not_found")
    ]  # fmt: skip
    assert told["proposals"][1]["hint"] == "copy the words exactly, without changes"
    waiting = agent.run("list", "candidates", "--status", "pending")["items"]
    assert ("Likes tea." in [one["text"] for one in waiting]) is not bool(options)


def test_the_first_turn_of_a_session_has_persona_agreements_and_memories(agent: Agent) -> None:
    agent.run("persona", "set", "You are Ada: brief and kind.")
    proposal = {"text": "Ada keeps answers short.", "quote": "no peanuts", "ref": "e2"}
    done = agent.run(
        "turn", "complete", "-",
        stdin=lines(event(8, "Fine."), {"proposal": {**proposal, "kind": "agreement"}}),
    )  # fmt: skip
    agent.run("candidates", "approve", done["proposals"][0]["ref"])

    turn = agent.run("turn", "prepare", "good morning", "--session", "fresh")

    assert components(turn["resume"]) == ["persona", "agreements", "memories"]
    assert "You are Ada" in str(turn["resume"])
    assert "allergic to peanuts" in str(turn["resume"])
    assert (turn["resume"]["session"]["status"], turn["tokens_used"] <= 2_000) == ("new", True)
    assert len(agent.run("list", "sessions")["items"]) == 1
    assert agent.answer("session", "resume", "fresh").code == 4


def test_a_checkpoint_comes_back_as_it_was_saved(agent: Agent) -> None:
    state = {
        "goal": "plan dinner", "done": ["menu"], "pending": ["shopping"],
        "constraints": ["no peanuts"], "next_action": "buy fish", "last_event": "e3",
    }  # fmt: skip
    saved = agent.run(
        "checkpoint", "save", "-", "--session", "s1", stdin=json.dumps(state).encode()
    )
    assert saved["status"] == "created"
    again = agent.run(
        "checkpoint", "save", "-", "--session", "s1", stdin=json.dumps(state).encode()
    )
    assert (again["status"], again["checkpoint"]) == ("known", saved["checkpoint"])

    shown = agent.run("checkpoint", "show", "s1")

    assert {name: shown[name] for name in state} == state
    assert shown["status"] == "current"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"session": "s2"}, "session_mismatch"),
        ({"scope": {"tenant": "t", "user": "u", "namespace": "n"}}, "scope_mismatch"),
        ({"last_event": "nothing"}, "not_found"),
        ({"goal": " "}, "bad_checkpoint"),
        ({"goal": 3}, "bad_checkpoint"),
        ({"mood": "good"}, "bad_checkpoint"),
    ],
)
def test_a_checkpoint_of_another_scope_or_session_is_refused(
    agent: Agent, fields: dict[str, object], code: str
) -> None:
    said = agent.answer(
        "checkpoint", "save", "-", "--session", "s1",
        stdin=json.dumps({"goal": "x", **fields}).encode(),
    )  # fmt: skip

    assert said.code in {2, 4}
    assert said.json["error"]["code"] == code
    assert agent.answer("checkpoint", "show", "s1").code == 4


def test_an_event_of_another_session_is_no_event_of_this_one(agent: Agent) -> None:
    agent.append(event(50, "Elsewhere.", session="s2"))

    said = agent.answer(
        "checkpoint", "save", "--session", "s1", "--goal", "x", "--last-event", "e50"
    )

    assert said.code == 4


def test_a_persona_spans_namespaces_and_its_versions_stay(agent: Agent) -> None:
    assert agent.run("persona", "show")["default"] is True
    assert agent.run("persona", "set", "One.")["version"] == 1
    assert agent.run("persona", "set", "One.")["status"] == "known"
    assert agent.run("persona", "set", "-", stdin=b"Two.\n")["version"] == 2
    assert agent.run("persona", "rollback", "1", "-n")["status"] == "planned"
    assert agent.run("persona", "rollback", "1")["version"] == 3

    other = agent.run("--namespace", "work", "persona", "show")

    assert (other["text"], other["version"]) == ("One.", 3)
    assert agent.run("persona", "show", "--version", "2")["text"] == "Two."
    assert agent.run("persona", "rollback", "9", code=4)
    assert agent.run("--user", "other", "persona", "show")["default"] is True


def test_an_old_memory_of_what_happened_fades_unless_a_question_asks_for_it(
    agent: Agent,
) -> None:
    said = "We sailed from Bergen to Shetland. " + "The wind held and nobody was ill. " * 6
    agent.append(event(30, said, occurred_at="2020-05-06T10:00:00Z"))
    proposal = {"text": said.strip(), "quote": said.strip(), "ref": "e30", "kind": "event"}
    done = agent.run(
        "turn", "complete", "-", stdin=lines(event(31, "Hello."), {"proposal": proposal})
    )
    agent.run("candidates", "approve", done["proposals"][0]["ref"])

    def memory(*options: str) -> dict[str, str]:
        found = agent.run("session", "resume", "s1", *options)
        (memories,) = [one for one in found["components"] if one["name"] == "memories"]
        (item,) = [one for one in memories["items"] if one["kind"] == "event"]
        assert item["citations"]
        return {"text": item["text"], "time": item["time"]}

    assert memory()["time"] == "2020-05"
    assert len(memory()["text"]) <= 120
    asked = memory("--query", "where did we sail from Bergen to?")
    assert asked == {"text": said.strip(), "time": "2020-05-06T10:00:00.000000Z"}
