"""Let a user say things to a small real store at set times, and look at what became of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from support.stores import TinyStore

from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.policy import Policy
from muniment.pipeline.proposers.base import CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.stages.propose import Proposals, passage_of
from muniment.store.times import parse_utc, utc_text


def at(day: str) -> str:
    """Return the instant of a day such as ``2024-05-01``."""
    return f"{day}T00:00:00.000000Z"


class Talk:
    """A store, a user who talks, and a clock that is set by hand."""

    def __init__(self, folder: Path) -> None:
        self.store = TinyStore(folder)
        self.ledger = self.store.ledger
        self.memory = self.ledger.memory
        self.now = at("2026-03-10")
        self.memory.clock = lambda: self.now
        self._count = 0

    def claims(self, actor: str = "user") -> Claims:
        """Return the claims of the store as one actor changes them."""
        return Claims(self.ledger, actor)

    def tick(self, day: str | None = None) -> str:
        """Let a microsecond pass, or go to a day; return the new time."""
        if day is not None:
            self.now = at(day)
        else:
            moment = parse_utc(self.now)
            self.now = utc_text(moment.replace(microsecond=moment.microsecond + 1))
        return self.now

    def passage(self, text: str, day: str | None = None, **line: Any) -> Passage:
        """Store a message and return it as proposers see it."""
        self._count += 1
        fields = {"kind": "message", "role": "user", "time": at(day) if day else None} | line
        (observation,) = self.store.file(
            f"message-{self._count}.txt",
            [_line(text, fields)],
            data=f"{self._count}: {text}".encode(),
        )
        row = self.ledger.evidence.get(observation)
        assert row is not None
        return passage_of(row)

    def say(self, text: str, day: str | None = None, **line: Any) -> Proposals:
        """Store a message and let the rules and the gate decide on it."""
        passage = self.passage(text, day, **line)
        self.tick()
        with self.ledger.unit():
            proposals = Proposals(self.ledger, Policy())
            proposals.take(RulesProposer().propose([passage]), {passage.observation: passage})
        return proposals

    def claim(self, key: str | None, value: str | None, day: str, **fields: Any) -> Proposals:
        """Let a message state a claim as the user's own, whatever its words."""
        passage = self.passage(f"{key}: {value}", day)
        draft = CandidateDraft(
            type="semantic", kind="fact", text=passage.text, basis="user_statement",
            evidence=Quote(passage.observation, passage.text, 0, len(passage.text)),
            proposer="remember", rule="remember", subject="user", key=key, value=value,
            confidence=1.0, instructed=True,
        )  # fmt: skip
        self.tick()
        with self.ledger.unit():
            proposals = Proposals(self.ledger, fields.pop("policy", Policy()))
            proposals.take([replace(draft, **fields)], {passage.observation: passage})
        return proposals

    def rows(self, key: str | None, subject: str | None = "user") -> list[dict[str, Any]]:
        """Return the versions of a key in the order of insertion."""
        return self.claims().rows(subject, key)

    def shown(self, key: str) -> list[tuple[str, str, str | None]]:
        """Return (value, state, end day) of a key's versions in the order of their starts."""
        rows = sorted(self.rows(key), key=lambda row: (row["valid_sort"], row["version_seq"]))
        return [
            (row["value"], row["status"], (row["invalid_at"] or {}).get("utc", "")[:10] or None)
            for row in rows
        ]


def _line(text: str, fields: dict[str, Any]) -> Any:
    from support.stores import Line

    return Line(text, **fields)
