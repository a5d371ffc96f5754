"""A resident process answers the other commands, and nobody notices where there is none."""

import contextlib
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.agents import Agent, event, texts
from support.cli import SCRIPT

from muniment.pipeline import resident
from muniment.pipeline.serving.runtime import runtime_file
from muniment.store.layout import Scope


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = Agent(tmp_path / "root")
    made.append(event(1, "Remember that I am allergic to peanuts."))
    return made


@contextlib.contextmanager
def served(agent: Agent) -> Iterator[Path]:
    path = runtime_file(agent.root, Scope(), resident.SOCKET, make=True)
    process = subprocess.Popen(
        [SCRIPT, "--root", agent.root, "-q", "serve", "local"], stdin=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            if resident.is_served(path):
                break
            assert process.poll() is None
            time.sleep(0.1)
        yield path
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143


def test_the_answer_is_the_same_with_and_without_it(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = agent.recall("what am I allergic to?")
    asked: list[str] = []
    exchange = resident._exchange

    def noticed(path: Path, line: bytes) -> dict[str, Any]:
        asked.append("yes")
        return exchange(path, line)

    monkeypatch.setattr(resident, "_exchange", noticed)

    with served(agent) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        warm = agent.recall("what am I allergic to?")
        assert asked == ["yes"]
        agent.append(event(2, "Remember that I am allergic to shellfish."))
        assert any("shellfish" in text for text in texts(agent.recall("what about shellfish?")))
        assert agent.recall("what am I allergic to?", "--require", "supported")["query"]
        other = agent.run("--user", "other", "recall", "allergic?", "--format", "json", code=10)
        assert other["error"]["code"] == "no_store"
        assert agent.answer("recall", "x", "--token-budget", "1").code == 2
        second = agent.answer("serve", "local")
        assert second.code == 11

    def plain(pack: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in pack.items() if name not in {"warnings"}}

    assert plain(warm) == plain(cold)
    assert not path.exists()
    assert agent.recall("what am I allergic to?")["coverage"] == "supported"


def test_a_socket_that_nobody_listens_at_is_no_obstacle(agent: Agent) -> None:
    path = runtime_file(agent.root, Scope(), resident.SOCKET, make=True)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))

    assert agent.recall("what am I allergic to?")["coverage"] == "supported"
    with served(agent):
        assert agent.recall("what am I allergic to?")["coverage"] == "supported"


def test_a_runtime_folder_that_others_may_enter_is_not_used(tmp_path: Path, agent: Agent) -> None:
    (tmp_path / "muniment").mkdir(exist_ok=True)
    (tmp_path / "muniment").chmod(0o755)

    with pytest.raises(PermissionError):
        runtime_file(agent.root, Scope(), resident.SOCKET, make=True)
    assert agent.recall("what am I allergic to?")["coverage"] == "supported"
