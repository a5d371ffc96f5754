"""What was forgotten stays so, whatever a host sends again or a backup brings back."""

from pathlib import Path

import pytest
from support.agents import Agent, event, lines, texts

SECRET = event(2, "My locker code is 7141.", session="s2")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    made = Agent(tmp_path / "root")
    made.run(
        "host-ingest", "bot", "-", "--stream", "s", "--cursor", "2",
        stdin=lines(event(1, "I live in Bergen."), SECRET),
    )  # fmt: skip
    return made


def again(agent: Agent) -> dict[str, int]:
    """Send everything once more, as a host with an older cursor would."""
    said = agent.run(
        "host-ingest", "bot", "-", "--stream", "s", "--cursor", "2b", "--expect", "2",
        stdin=lines(event(1, "I live in Bergen."), SECRET),
    )  # fmt: skip
    return {name: said[name] for name in ("appended", "known", "forgotten")}


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ([], {"appended": 0, "known": 2, "forgotten": 0}),
        (["--hard", "--yes"], {"appended": 0, "known": 1, "forgotten": 1}),
    ],
)
def test_a_replay_brings_no_forgotten_event_back(
    agent: Agent, options: list[str], counts: dict[str, int]
) -> None:
    agent.run("forget", "event:e2", *options)

    assert again(agent) == counts

    assert "7141" not in str(agent.answer("session", "show", "s2"))
    assert not any("7141" in text for text in texts(agent.recall("locker code")))


def test_a_checkpoint_that_covers_a_forgotten_event_is_not_carried_on(agent: Agent) -> None:
    agent.run("checkpoint", "save", "--session", "s2", "--goal", "open it", "--last-event", "e2")

    agent.run("forget", "event:e2")

    assert agent.run("checkpoint", "show", "s2")["status"] == "invalidated"
    resumed = agent.run("session", "resume", "s2")
    assert "checkpoint" not in [one["name"] for one in resumed["components"]]


def test_a_correction_elsewhere_makes_a_checkpoint_stale_only(agent: Agent) -> None:
    agent.append(event(3, "Let us plan the garden.", session="s3"))
    agent.run("checkpoint", "save", "--session", "s3", "--goal", "garden", "--last-event", "e3")
    (record,) = agent.run("list", "records")["items"]

    agent.run("correct", record["ref"], "--value", "Oslo")

    assert agent.run("checkpoint", "show", "s3")["status"] == "stale"
    resumed = agent.run("session", "resume", "s3")
    (part,) = [one for one in resumed["components"] if one["name"] == "checkpoint"]
    assert part["items"][0]["kind"] == "checkpoint goal (stale)"


def test_a_backup_carries_sessions_cursors_checkpoints_and_personas(
    agent: Agent, tmp_path: Path
) -> None:
    agent.run("persona", "set", "You are Ada.")
    agent.run("checkpoint", "save", "--session", "s1", "--goal", "x", "--last-event", "e1")
    agent.run("backup", "create", tmp_path / "repository")
    back = Agent(tmp_path / "back")

    back.run("restore", tmp_path / "repository")

    assert back.run("persona", "show")["text"] == "You are Ada."
    assert back.run("host-ingest", "bot", "--show", "--stream", "s")["cursor"] == "2"
    assert back.run("checkpoint", "show", "s1")["last_event"] == "e1"
    assert again(back) == {"appended": 0, "known": 2, "forgotten": 0}
