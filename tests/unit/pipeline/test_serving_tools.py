"""What an agent is told where a call of several steps fails after the first of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from muniment.pipeline.agent import proposing
from muniment.pipeline.agent.appending import append
from muniment.pipeline.agent.events import Event
from muniment.pipeline.agent.proposing import Proposal, Proposed
from muniment.pipeline.options import Session
from muniment.pipeline.serving import tools as module
from muniment.pipeline.serving.tools import APPENDED_AT_ONCE, Tools
from muniment.store.errors import LockedError, UsageError


def events(count: int) -> list[Event]:
    return [Event(event_id=f"e{n}", role="user", text=f"Note {n}.") for n in range(count)]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(Session({"root": str(tmp_path / "root"), "offline": True}))


def test_batches_that_went_in_are_told_beside_one_that_did_not(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def first_only(session: Session, batch: Sequence[Event], **how: Any) -> Any:
        taken.append(len(batch))
        if len(taken) > 1:
            raise LockedError("busy")
        return append(session, batch, **how)

    monkeypatch.setattr(module, "append", first_only)

    told = tools.append(events(APPENDED_AT_ONCE + 2), "s1")["events"]

    assert [one["status"] for one in told[:APPENDED_AT_ONCE]] == ["appended"] * APPENDED_AT_ONCE
    assert [(one["event_id"], one["status"], one["code"]) for one in told[APPENDED_AT_ONCE:]] == [
        ("e100", "failed", "locked"), ("e101", "failed", "locked")
    ]  # fmt: skip
    with pytest.raises(LockedError):  # where nothing went in, nothing is hidden
        tools.append(events(1), "s1")


def test_proposals_that_can_not_be_kept_at_all_do_not_hide_the_events_of_their_turn(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(session: Session, proposals: Sequence[Proposal]) -> list[Proposed]:
        raise LockedError("busy")

    monkeypatch.setattr(proposing, "propose", busy)
    proposal = Proposal(text="Notes.", quote="Note", ref="e0")

    told = tools.complete("s1", events(1), [proposal])

    assert [one["status"] for one in told["events"]] == ["appended"]
    assert [(one["text"], one["status"], one["code"]) for one in told["proposals"]] == [
        ("Notes.", "failed", "locked")
    ]


def test_proposals_of_which_none_can_be_kept_are_an_error(tools: Tools) -> None:
    tools.append(events(1), "s1")

    with pytest.raises(UsageError, match="does not stand") as caught:
        tools.propose([Proposal(text="Sings.", quote="song", ref="e0")])

    assert (caught.value.code, caught.value.hint) == (
        "quote_mismatch", "copy the words exactly, without changes"
    )  # fmt: skip
