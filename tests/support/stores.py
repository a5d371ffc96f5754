"""Build small real stores quickly: a ledger from a list of texts, and the index that follows it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from muniment.store import files
from muniment.store.assets import take_stream
from muniment.store.ids import made
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.ledger.evidence import observation_id
from muniment.store.records import (
    Candidate,
    CharLocator,
    Evidence,
    Locator,
    MessageLocator,
    Moment,
    Observation,
    Producer,
)
from muniment.store.times import moment_fields, parse_utc

CREATED = "2026-01-01T00:00:00.000000Z"
RUN = "run_test"


@dataclass
class Line:
    """One observation to be stored; what is not said takes the plainest value."""

    text: str
    kind: str = "text"
    author: str | None = None
    time: str | None = None
    locator: Locator | None = None
    thread: str | None = None
    origin: str | None = None
    role: str | None = None
    confidence: float = 1.0
    producer: Producer | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


def moment(instant: str) -> Moment:
    """Return a moment for a UTC instant such as ``2026-03-02T10:00:00Z``."""
    whole = instant if "." in instant else instant.removesuffix("Z") + ".000000Z"
    return Moment(**moment_fields(parse_utc(whole), zone_source="utc"))  # type: ignore[arg-type]


class TinyStore:
    """A root with one scope, open for writing; one method a thing to put into it."""

    def __init__(self, folder: Path, scope: Scope | None = None) -> None:
        self.root = Root(folder)
        for path in (folder, self.root.temporary):
            files.make_directory(path)
        self.ledger = Ledger.create(self.root, scope or Scope())
        self.paths = self.ledger.paths
        self.reader = Producer(adapter="plain_text", version="1", role="text")
        self._notes = 0
        with self.ledger.unit():
            self.ledger.attempts.start_run(RUN, "test")

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def note(self, text: str, *, name: str | None = None, **line: Any) -> str:
        """Store a text as a file of its own with one observation; return the observation's id."""
        self._notes += 1
        (observation,) = self.file(
            name or f"note-{self._notes}.txt", [Line(text, **line)], data=text.encode()
        )
        return observation

    def notes(
        self, texts: Iterable[str], captured: Callable[[int], str] | None = None, **line: Any
    ) -> list[str]:
        """Store many notes in one transaction; ``captured`` dates the note of a number."""
        texts = list(texts)
        with self.ledger.unit():
            return [
                self._put(f"/notes/note-{n}.txt", [Line(text, **line)], text.encode(),
                          captured=captured(n) if captured else None)[0]
                for n, text in enumerate(texts, self._notes + 1)
            ]  # fmt: skip

    def chat(
        self, messages: Sequence[tuple[str, str, str | None]], *, name: str = "chat.txt",
        thread: str = "chat", origin: str = "user",
    ) -> list[str]:  # fmt: skip
        """Store a chat of (author, text, instant); return the ids of its messages."""
        lines = [
            Line(
                text,
                kind="message",
                author=author,
                time=time,
                thread=thread,
                origin=origin,
                locator=MessageLocator(index=index, author=author),
            )
            for index, (author, text, time) in enumerate(messages)
        ]
        return self.file(name, lines)

    def file(  # noqa: PLR0913 (a file has this many sides)
        self, name: str, lines: Sequence[Line], *, data: bytes | None = None,
        media_type: str = "text/plain", family: str = "text", origin: str = "user",
        captured: str | None = None,
    ) -> list[str]:  # fmt: skip
        """Store an asset seen at ``/notes/NAME`` with its observations; return their ids."""
        path = name if name.startswith("/") else f"/notes/{name}"
        with self.ledger.unit():
            return self._put(
                path, lines, data, media_type=media_type, family=family, origin=origin,
                captured=captured,
            )  # fmt: skip

    def observe_again(
        self, observation: str, text: str, *, version: str = "2", kind: str = "text"
    ) -> str:
        """Let a newer version of the reader read an asset once more: the old text is superseded."""
        row = self.ledger.evidence.get(observation)
        assert row is not None
        number = self.ledger.assets.number(row.asset)
        assert number is not None
        producer = Producer(adapter="plain_text", version=version, role="text")
        with self.ledger.unit():
            return self._observe(number, row.asset, [Line(text, kind=kind)], producer, "user")[0]

    def record(  # noqa: PLR0913 (a record has this many sides)
        self, text: str, observation: str, quote: str | None = None, *, kind: str = "fact",
        status: str = "active", pinned: bool = False, valid_at: str | None = None,
        invalid_at: str | None = None, importance: float = 0.5, **fields: Any,
    ) -> str:  # fmt: skip
        """Store an active record that rests on a quote of an observation; return its id."""
        row = self.ledger.evidence.get(observation)
        assert row is not None
        words = quote or row.text
        start = row.text.index(words)
        claim = Candidate(
            id=made("cand", text, observation, words),
            type=fields.pop("type", "semantic"),
            kind=kind,  # type: ignore[arg-type]
            text=text,
            basis=fields.pop("basis", "user_statement"),
            confidence=1.0,
            valid_at=None if valid_at is None else moment(valid_at),
            evidence=(
                Evidence(observation=observation, quote=words, start=start,
                         end=start + len(words)),
            ),
            proposer="rules",
            created_at=CREATED,
            **fields,
        )  # fmt: skip
        memory = self.ledger.memory
        with self.ledger.unit():
            number = memory.propose(claim)
            assert number is not None
            memory.decide(number, "active", "test", "test")
            record = memory.activate(number, claim, importance=importance, actor="test")
            if status != "active" or pinned or invalid_at:
                closes = None if invalid_at is None else moment(invalid_at).model_dump()
                memory.revise(
                    record, 1, action="test", status=status, actor="test", reason="test",
                    pinned=pinned, invalid_at=closes,
                )  # fmt: skip
        return record

    def revise(self, record: str, status: str, *, pinned: bool = False) -> None:
        """Append a change of a record's state."""
        with self.ledger.unit():
            self.ledger.memory.revise(
                record, 1, action="test", status=status, actor="test", reason="test", pinned=pinned
            )

    def episode(
        self, observations: Sequence[str], *, title: str = "Chat", gist: str = "",
        kind: str = "conversation",
    ) -> str:  # fmt: skip
        """Store an episode of observations; its gist defaults to the first one's text."""
        rows = [self.ledger.evidence.get(observation) for observation in observations]
        first = rows[0]
        assert first is not None
        episode = made("ep", observations[0], "1")
        fields: dict[str, Any] = {
            "kind": kind, "title": title, "gist": gist or first.text, "gist_basis": "extractive",
            "start": first.occurred, "end": None, "participants": [], "place": None,
            "source": "notes", "status": "open",
        }  # fmt: skip
        with self.ledger.unit():
            number, _ = self.ledger.episodes.put(episode, observations[0], "1", fields)
            self.ledger.episodes.join(number, observations)
        return episode

    def _put(  # noqa: PLR0913 (as file)
        self, path: str, lines: Sequence[Line], data: bytes | None = None, *,
        media_type: str = "text/plain", family: str = "text", origin: str = "user",
        captured: str | None = None,
    ) -> list[str]:  # fmt: skip
        self._notes += 1
        content = "\n".join(line.text for line in lines).encode() if data is None else data
        # The name makes the bytes its own, so that equal texts in two files stay two assets.
        content += f"\n{path}".encode() if data is None or lines else b""
        taken = take_stream(BytesIO(content), self.ledger.assets.store, self.root.temporary)
        assets = self.ledger.assets
        number, new = assets.add(taken)
        if new:
            assets.add_type(number, media_type, family, "1")
        assets.see(
            (number, taken.asset), path.encode(), source="notes", origin=origin,
            size=taken.size, run=RUN,
        )  # fmt: skip
        if captured:
            self.ledger.evidence.add_time(number, moment(captured).model_dump(), "exif", 1, 1.0)
        return self._observe(number, taken.asset, lines, self.reader, origin)

    def _observe(
        self, number: int, asset: str, lines: Sequence[Line], reader: Producer, origin: str
    ) -> list[str]:
        evidence, attempts = self.ledger.evidence, self.ledger.attempts
        producers = {reader: evidence.producer(reader)}
        for line in lines:
            if line.producer is not None:
                producers[line.producer] = evidence.producer(line.producer)
        attempt = attempts.add(
            number, "observe", reader.adapter, producers[reader][1], status="ok", run=RUN
        )
        covered = {(line.kind, (line.producer or reader)) for line in lines}
        attempts.cover(
            number, attempt, [(kind, one.role, producers[one][0]) for kind, one in covered]
        )
        rows = [
            _observation(asset, line, producers[line.producer or reader][1], origin, place)
            for place, line in enumerate(lines)
        ]
        numbers = {fingerprint: number for number, fingerprint in producers.values()}
        evidence.add(rows, number, numbers, attempt)
        return [row.id for row in rows]


def _observation(asset: str, line: Line, producer: str, origin: str, place: int) -> Observation:
    locator = line.locator or CharLocator(
        start=0, end=len(line.text), line_start=place + 1, line_end=place + 1
    )
    return Observation(
        id=observation_id(asset, line.kind, locator.model_dump(), producer, place),
        asset=asset,
        kind=line.kind,
        text=line.text,
        locator=locator,
        producer=producer,
        confidence=line.confidence,
        origin=line.origin or origin,  # type: ignore[arg-type]
        role=line.role,
        author=line.author,
        thread=line.thread,
        occurred=None if line.time is None else moment(line.time),
        attributes=line.attributes,
        created_at=CREATED,
    )
