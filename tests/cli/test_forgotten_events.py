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


def save(agent: Agent, session: str, goal: str, *options: str) -> dict[str, str]:
    said: dict[str, str] = agent.run(
        "checkpoint", "save", "--session", session, "--goal", goal, *options
    )
    return said


def standing(agent: Agent, session: str) -> str | None:
    said = agent.answer("checkpoint", "show", session)
    return said.json["status"] if said.code == 0 else None


@pytest.mark.parametrize("options", [[], ["--hard", "--yes"]])
def test_a_checkpoint_that_was_saved_after_a_forget_stands(
    agent: Agent, options: list[str]
) -> None:
    agent.append(event(3, "Let us plan the garden.", session="s2"))
    agent.run("forget", "event:e2", *options)

    save(agent, "s2", "garden", "--last-event", "e3")

    assert standing(agent, "s2") == "current"


def test_a_checkpoint_stands_again_when_what_it_rests_on_is_back(agent: Agent) -> None:
    save(agent, "s1", "find a flat in Bergen", "--last-event", "e1")
    agent.run("forget", "event:e1")
    assert standing(agent, "s1") == "invalidated"

    agent.run("unforget", "event:e1")

    assert standing(agent, "s1") == "current"


def test_a_checkpoint_that_is_saved_again_after_a_forget_is_another_one(agent: Agent) -> None:
    first = save(agent, "s2", "garden", "--last-event", "e2")
    assert save(agent, "s2", "garden", "--last-event", "e2")["status"] == "known"
    agent.run("forget", "event:e2")

    again = save(agent, "s2", "garden", "--last-event", "e2")

    assert (again["status"], again["checkpoint"] != first["checkpoint"]) == ("created", True)
    assert standing(agent, "s2") == "current"


def test_a_checkpoint_rests_on_unfinished_speech_and_on_what_was_not_misread(agent: Agent) -> None:
    speech = event(5, "the blue one", session="s3", category="voice_fragment", final=False)
    agent.append(speech)
    save(agent, "s3", "garden", "--last-event", "e5")
    agent.run("forget", "event:e5")
    assert standing(agent, "s3") == "invalidated"

    save(agent, "s1", "find a flat", "--last-event", "e1")
    (said,) = agent.run("show", "event:e1")["observations"]
    agent.run("misread", said)
    assert standing(agent, "s1") == "invalidated"


@pytest.mark.parametrize("options", [[], ["--hard", "--yes"]])
def test_a_forget_elsewhere_makes_a_checkpoint_stale(agent: Agent, options: list[str]) -> None:
    agent.append(event(3, "Let us plan the garden.", session="s3"))
    save(agent, "s3", "garden", "--last-event", "e3")

    agent.run("forget", "event:e2", *options)

    assert standing(agent, "s3") == "stale"
    resumed = agent.run("session", "resume", "s3")
    (part,) = [one for one in resumed["components"] if one["name"] == "checkpoint"]
    assert part["items"][0]["kind"] == "checkpoint goal (stale)"
    if not options:
        agent.run("unforget", "event:e2")
        assert standing(agent, "s3") == "current"


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("Remember that my parrot is called Zebrafinch.", "buy food for zebrafinch"),
        ("请记住我的鹦鹉叫斑胸草雀。", "给斑胸草雀买食物"),
    ],
)
def test_a_checkpoint_of_another_session_that_names_what_goes_is_erased(
    agent: Agent, said: str, goal: str
) -> None:
    agent.append(event(3, said), event(4, "Hello there.", session="s3"))
    save(agent, "s3", goal, "--last-event", "e4")

    done = agent.run("forget", "--hard", "--yes", "event:e3")

    assert (done["clean"], done["erased"]["checkpoints"]) == (True, 1)
    assert standing(agent, "s3") is None
    files = [path for path in agent.root.rglob("*") if path.is_file()]
    assert not any(goal.encode() in path.read_bytes() for path in files)


def test_words_that_something_else_says_take_no_checkpoint_along(agent: Agent) -> None:
    agent.append(event(3, "The garden needs a new fence.", session="s3"))
    agent.append(event(4, "The locker is behind the fence in the garden."))
    save(agent, "s3", "a fence for the garden", "--last-event", "e3")

    agent.run("forget", "--hard", "--yes", "event:e4")

    assert standing(agent, "s3") == "stale"


def test_a_record_that_is_erased_takes_the_checkpoints_that_rest_on_its_words(
    agent: Agent,
) -> None:
    save(agent, "s1", "find a flat", "--last-event", "e1")
    (record,) = agent.run("list", "records")["items"]

    done = agent.run("forget", "--hard", "--yes", record["ref"])

    assert done["erased"]["checkpoints"] == 1
    assert standing(agent, "s1") is None


def test_a_file_that_nothing_was_read_of_leaves_no_checkpoint_standing(
    agent: Agent, tmp_path: Path
) -> None:
    """Nobody can tell what rests on it: those of the whole scope are not carried on."""
    blob = tmp_path / "blob.bin"
    blob.write_bytes(bytes(range(256)) * 8)
    agent.run("ingest", blob)
    save(agent, "s2", "garden", "--last-event", "e2")

    agent.run("forget", "--hard", "--yes", blob)

    assert standing(agent, "s2") == "invalidated"
    save(agent, "s2", "garden", "--last-event", "e2")
    assert standing(agent, "s2") == "current"


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
