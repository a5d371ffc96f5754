"""The context to go on with a session: whole components in their order, within one budget."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.pipeline import gist as gists
from muniment.pipeline.agent import sessions
from muniment.pipeline.agent.context import Context, from_item
from muniment.pipeline.memory import decay
from muniment.pipeline.memory.corrected import MARK
from muniment.pipeline.recall.answer import search_hits
from muniment.pipeline.recall.request import LEAST_BUDGET, Filters, Request
from muniment.pipeline.recall.resolve import Resolver
from muniment.store.errors import UsageError
from muniment.store.times import now

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.pipeline.recalling import Reading

AGREEMENTS, MEMORIES, EVENTS = 20, 20, 5
# Those that have a component of their own are recalled, too, and must not take the places.
_APART = ("agreement", "growth", "emotion")
_RECALLED = 4 * MEMORIES
COMPONENTS = ("persona", "checkpoint", "agreements", "memories", "emotion", "events")
_EVENT_CHARACTERS = 500
_GIST_CHARACTERS = 120
_FADING = frozenset({"observation", "event", "emotion"})
_CHECKPOINT_LISTS = ("done", "pending", "constraints")


@dataclass(slots=True)
class Resume:
    """One resume under way; ``first`` is that of a session before anything was said in it.

    ``spoken`` shows unfinished speech among the events.
    """

    opened: "Reading"
    persona: dict[str, Any]
    session_id: str
    query: str | None
    components: tuple[str, ...] = COMPONENTS
    moment: str = field(default_factory=now)
    first: bool = False
    spoken: bool = True

    def document(self, token_budget: int) -> tuple[dict[str, Any], str]:
        """Fill the budget; return the context and the same as Markdown."""
        ledger = self.opened.ledger
        with ledger.snapshot():
            begun = not self.first
            state = (sessions.found(ledger, self.session_id) if begun
                     else sessions.unbegun(self.session_id))  # fmt: skip
            resolver = Resolver(ledger, Filters(), self.moment, with_assistant=True)
            try:
                summary = sessions.summary(ledger, state)
                context = Context(ledger, summary, token_budget, self.opened.count)
                for at, name in enumerate(self.components):
                    rest = self.components[at + 1 :]
                    found = self._make(name, state, resolver)
                    fits = context.offer(name, found, rest) if found else True
                    if name == "persona" and not fits:
                        return context.insufficient(self.components)
                return context.finish()
            finally:
                resolver.gate.close()

    def _make(self, name: str, state: dict[str, Any], resolver: Resolver) -> list[dict[str, Any]]:
        makers: dict[str, Callable[[dict[str, Any], Resolver], Iterator[dict[str, Any]]]] = {
            "persona": self._persona,
            "checkpoint": self._checkpoint,
            "agreements": self._agreements,
            "memories": self._memories,
            "emotion": self._emotion,
            "events": self._events,
        }
        return list(makers[name](state, resolver))

    def _persona(self, _state: dict[str, Any], _resolver: Resolver) -> Iterator[dict[str, Any]]:
        yield {"kind": "persona", "text": self.persona["text"], "trusted": True,
               "time": self.persona["at"], "version": self.persona["version"]}  # fmt: skip

    def _checkpoint(self, _state: dict[str, Any], _resolver: Resolver) -> Iterator[dict[str, Any]]:
        """Yield what the host reported; one that was invalidated is not carried on."""
        found = self.opened.ledger.checkpoints.newest(self.session_id)
        if found is None or found["status"] == "invalidated":
            return
        said = [("goal", found.get("goal")), ("next action", found.get("next_action"))]
        said += [(name, "\n".join(found.get(name) or ())) for name in _CHECKPOINT_LISTS]
        for name, text in said:
            if text:
                kind = f"checkpoint {name}"
                kind += " (stale)" if found["status"] == "stale" else ""
                yield {"kind": kind, "text": text, "time": found["at"], "ref": found["id"]}

    def _agreements(self, _state: dict[str, Any], resolver: Resolver) -> Iterator[dict[str, Any]]:
        yield from self._records(
            resolver, "r.kind IN ('agreement', 'growth')", "r.pinned DESC, r.recorded_at DESC",
            AGREEMENTS,
        )  # fmt: skip

    def _memories(self, state: dict[str, Any], resolver: Resolver) -> Iterator[dict[str, Any]]:
        """Yield what the task or the last words recall; where they recall nothing, what counts.

        So it is before a session's first turn: its pack tells what the question recalls.
        """
        refs = [] if self.first else self._recalled(state)
        others = f"r.kind NOT IN {_APART}"
        if not refs:
            order = "r.pinned DESC, r.importance DESC, r.recorded_at DESC"
            yield from self._records(resolver, others, order, MEMORIES)
            return
        for record, version in refs:
            where = f"{others} AND r.id = ? AND r.version = ?"
            yield from self._records(resolver, where, "r.version_seq", 1, (record, version))

    def _recalled(self, state: dict[str, Any]) -> list[tuple[str, int]]:
        query = self.query or self._topic(state)
        if not query:
            return []
        request = Request(query, filters=Filters(kinds=("record",)), semantic="off")
        hits = search_hits(
            self.opened.ledger, self.opened.index, request,
            clock=lambda: self.moment, limit=_RECALLED, cache=self.opened.cache,
        )  # fmt: skip
        found = [hit["ref"].removeprefix("record:").rpartition("@") for hit in hits
                 if hit["ref"].startswith("record:") and hit["kind"] not in _APART]  # fmt: skip
        return [(record, int(version)) for record, _, version in found[:MEMORIES]]

    def _topic(self, state: dict[str, Any]) -> str:
        """Return the words of the task, else what the user said last."""
        found = self.opened.ledger.checkpoints.newest(self.session_id)
        if found is not None and found["status"] != "invalidated":
            words = " ".join(filter(None, (found.get("goal"), found.get("next_action"))))
            if words:
                return words
        recent = self.opened.ledger.sessions.recent(state["seq"], 10)
        said = [message["text"] for message in recent if message["role"] == "user"]
        return " ".join(said[-2:])[:_EVENT_CHARACTERS]

    def _records(
        self, resolver: Resolver, where: str, order: str, limit: int, values: tuple[Any, ...] = ()
    ) -> Iterator[dict[str, Any]]:
        found = self.opened.ledger.memory.records(
            f"r.status IN ('active', 'conflicted') AND {where} ORDER BY {order} LIMIT {limit}",
            values,
        )
        for record in list(found):
            item = resolver.record(record)
            if item is not None:
                yield self._faded(from_item(item), record["kind"])

    def _emotion(self, _state: dict[str, Any], resolver: Resolver) -> Iterator[dict[str, Any]]:
        """Yield the newest emotion with what is left of it by now."""
        order = "coalesce(r.valid_sort, r.recorded_at) DESC"
        newest = self.opened.ledger.memory.records(
            f"r.status = 'active' AND r.kind = 'emotion' ORDER BY {order} LIMIT 1"
        )
        for record in list(newest):
            felt = record["valid_sort"] or record["recorded_at"]
            strength = decay.emotion(record["salience"], felt, self.moment)
            item = resolver.record(record)
            if item is not None and strength:
                yield {**from_item(item), "strength": round(strength, 3)}

    def _events(self, state: dict[str, Any], resolver: Resolver) -> Iterator[dict[str, Any]]:
        ledger = self.opened.ledger
        digest = sessions.digest(ledger, state)
        if digest:
            yield {"kind": "digest of dropped turns", "text": digest, "time": None}
        messages = ledger.sessions.recent(state["seq"], EVENTS)
        rows = resolver.rows(message["observation"] for message in messages)
        corrected = ledger.readings.corrected_in(message["seq"] for message in messages)
        for message in messages:
            row = rows.get(message["observation"])
            item = None if row is None else resolver.observation(row)
            if item is not None:
                item.kind = message["role"] or item.kind
                item.kind += f" ({MARK})" if message["seq"] in corrected else ""
                yield self._faded(_shortened(from_item(item)), "observation")
        for fragment in ledger.sessions.fragments(state["seq"]) if self.spoken else ():
            yield {"kind": "voice_fragment", "text": fragment["text"], "time": fragment["time"]}

    def _faded(self, item: dict[str, Any], kind: str) -> dict[str, Any]:
        """Show what is old by its gist and, when it is very old, by its month.

        Only what happened or was said fades, and not where somebody asks a question.
        """
        text, time = item["text"], item["time"]
        if kind not in _FADING or not time or not time.endswith("Z"):
            return item
        if kind != "observation" and self.query is not None:
            return item
        detail = decay.detail(kind, time, self.moment)
        if detail != "full":
            text = gists.gist([text], most=_GIST_CHARACTERS)
        return {**item, "text": text, "time": time[:7] if detail == "label" else time}


def _shortened(item: dict[str, Any]) -> dict[str, Any]:
    text = item["text"]
    cut = text if len(text) <= _EVENT_CHARACTERS else text[: _EVENT_CHARACTERS - 1] + "…"
    return {**item, "text": cut}


def resume(
    session: "Session", session_id: str, *, token_budget: int, query: str | None = None
) -> tuple[dict[str, Any], str]:
    """Return the context of a session as a command asks for it."""
    from muniment.pipeline.agent.personas import current
    from muniment.pipeline.recalling import reading

    check_budget(token_budget)
    persona = current(session)
    with reading(session, semantic=False) as opened:
        return Resume(opened, persona, session_id, query).document(token_budget)


def check_budget(token_budget: int, least: int = LEAST_BUDGET) -> None:
    """Raise ``UsageError`` for a budget that nothing fits into."""
    if token_budget < least:
        raise UsageError(
            f"a token budget of {token_budget} is too small",
            code="bad_budget",
            hint=f"use at least {least}",
        )
