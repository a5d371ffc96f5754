"""How much of each kind a resume carries at most, however large its budget (CONTRACT 7)."""

from pathlib import Path

import pytest
from support.agents import Agent, event, lines

MANY = 23


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    made = Agent(tmp_path / "root")
    made.append(
        *(event(n, f"I promise to send report {n} to Ola by Friday.") for n in range(MANY)),
        *(event(n, f"Remember that shelf {n} holds the reports of Ola.")
          for n in range(MANY, 2 * MANY)),
        event("sad", "I felt sorry for Ola.", role="assistant"),
        event("glad", "The reports of Ola make me glad.", role="assistant"),
    )  # fmt: skip
    felt = [
        {"text": "Sorry for Ola", "quote": "I felt sorry for Ola", "ref": "esad"},
        {"text": "Glad of the reports", "quote": "make me glad", "ref": "eglad"},
    ]
    emotions = [{**one, "kind": "emotion", "type": "episodic"} for one in felt]
    said = lines(*({"proposal": one} for one in emotions))
    told = made.run("turn", "complete", "-", stdin=said)
    for one in told["proposals"]:
        made.run("candidates", "approve", one["ref"])
    return made


def test_a_large_budget_carries_no_more_than_the_most_of_each_kind(agent: Agent) -> None:
    found = agent.run("session", "resume", "s1", "--token-budget", "50000")
    shown = {one["name"]: [item["text"] for item in one["items"]] for one in found["components"]}

    assert {name: len(items) for name, items in shown.items()} == {
        "persona": 1, "agreements": 20, "memories": 20, "emotion": 1, "events": 5,
    }  # fmt: skip
    assert all("promise" in text for text in shown["agreements"])
    assert all("shelf" in text for text in shown["memories"])
    assert "Glad" in shown["emotion"][0]
    assert found["omitted"] == []
