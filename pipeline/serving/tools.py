"""What an agent may ask of a warm store, as plain functions: no protocol here."""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from muniment.pipeline.agent import checkpoints, personas
from muniment.pipeline.agent.appending import Outcome, append, follow_up
from muniment.pipeline.agent.events import Event, read_event
from muniment.pipeline.agent.proposing import Proposal, propose, propose_of_turn
from muniment.pipeline.agent.resuming import Resume, check_budget
from muniment.pipeline.agent.turns import prepare
from muniment.pipeline.agent.working import pack_of
from muniment.pipeline.objects import describe
from muniment.pipeline.recall.request import instant
from muniment.pipeline.refs import KINDS, resolve
from muniment.pipeline.serving.calls import ALONE, Call
from muniment.pipeline.serving.paging import paged, session_object
from muniment.pipeline.serving.warm import Warm
from muniment.store.errors import MunimentError, NotFoundError, UsageError
from muniment.store.ids import digest, record_ref
from muniment.store.ledger.sessions import LEFT_OPEN

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

HOST = "mcp"
PAGE_CHARACTERS = 4_000
KEPT_QUESTIONS = 64
APPENDED_AT_ONCE = 100
# An agent forgets things that it can name, never a folder, a session or the scope.
FORGETTABLE = ("record", "observation", "event", "candidate")


class Tools:
    """The tools of one scope; each call checks what it is given and is safe beside others."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.warm = Warm(session)
        # Questions, not answers: what is forgotten meanwhile must not be given out again.
        self._asked: OrderedDict[str, tuple[str, dict[str, Any], str | None]] = OrderedDict()
        self._guard = threading.Lock()

    def recall(
        self, query: str, asked: dict[str, Any], session_id: str | None, call: Call = ALONE
    ) -> tuple[dict[str, Any], str]:
        """Return the pack of a question, and the same as Markdown."""
        with self.warm.reading(semantic=asked.get("semantic"), call=call) as opened:
            shown = {**asked, "semantic": opened.embedder is not None}
            return pack_of(opened, query, shown, session_id)

    def keep(self, query: str, asked: dict[str, Any], session_id: str | None) -> str:
        """Keep a question for a while; return the id that its pack can be read again by."""
        identity = digest(query, asked, session_id)[:16]
        with self._guard:
            self._asked[identity] = (query, asked, session_id)
            self._asked.move_to_end(identity)
            while len(self._asked) > KEPT_QUESTIONS:
                self._asked.popitem(last=False)
        return identity

    def pack(self, identity: str) -> str:
        """Return the pack of a question that was asked lately, as it is answered now."""
        with self._guard:
            found = self._asked.get(identity)
        if found is None:
            raise NotFoundError("this pack is no longer kept", hint="recall it again")
        return self.recall(*found)[1]

    def read(self, ref: str, offset: int, limit: int) -> dict[str, Any]:
        """Return an object with its provenance, its text one page at a time."""
        kind = ref.partition(":")[0]
        if kind not in (*KINDS, "sha256") and "_" not in kind:
            raise UsageError(
                f"{ref!r} is not a reference", hint="use one that recall gave: observation:obs_…"
            )
        with self.warm.reading(semantic=False) as opened:
            found = resolve(opened.ledger, ref)
            if found.kind == "session":
                document = session_object(opened.ledger, found, offset, limit)
            else:
                document = describe(opened.ledger, found)
        return paged(document, offset, limit)

    def remember(
        self, text: str, key: str | None, value: str | None, valid_at: str | None
    ) -> dict[str, Any]:
        """Keep what the user asked to remember."""
        from muniment.pipeline.remembering import Statement, keep

        return keep(self.session, Statement(text, key, value, valid_at), dry_run=False)

    def propose(self, proposals: list[Proposal]) -> dict[str, Any]:
        """Keep proposals for the owner to approve. Raises ``UsageError`` where none can be kept."""
        made = propose(self.session, proposals)
        if all(one.status == "failed" for one in made):
            first = made[0]
            raise UsageError(first.message or "", code=first.code, hint=first.hint or "")
        return {"candidates": [one.as_dict() for one in made]}

    def correct(
        self, ref: str, text: str | None, value: str | None, valid_at: str | None, reason: str
    ) -> dict[str, Any]:
        """Say what a record should say; the old version is kept and no longer answers."""
        from muniment.pipeline.commands.amend import record_row
        from muniment.pipeline.memory.amending import Correction, correct

        if text is None and value is None and valid_at is None:
            raise UsageError("say what is right: text, value or valid_at")
        since = None if valid_at is None else instant(valid_at)
        with self.warm.workspace.writing() as ledger:
            row = record_row(ledger, ref)
            with ledger.unit():
                kept = correct(ledger, row, Correction(text, value, since, reason))
        return {
            "status": "corrected" if kept.changed else "unchanged",
            "record": kept.ref,
            "corrects": record_ref(row),
        }

    def forget(self, refs: list[str]) -> dict[str, Any]:
        """Hide what is named from every answer; the user can bring it back."""
        from muniment.pipeline.forgetting.hiding import forget
        from muniment.store.forgetting.selection import Wanted

        for ref in refs:
            if ref.partition(":")[0] not in FORGETTABLE:
                raise UsageError(
                    f"{ref!r} can't be forgotten from here",
                    hint=f"name one of: {', '.join(f'{kind}:…' for kind in FORGETTABLE)}",
                )
        return forget(self.session, refs, Wanted(), dry_run=False)

    def timeline(
        self, about: str, before: str | None, after: str | None, offset: int, limit: int
    ) -> dict[str, Any]:
        """Return what held when of a key, a family of keys, a subject."""
        from muniment.pipeline.memory.timeline import rows_about, timeline

        until = None if before is None else instant(before)
        since = None if after is None else instant(after)
        with self.warm.reading(semantic=False) as opened:
            spans = timeline(rows_about(opened.ledger, about), before=until, after=since)
        if not spans:
            raise NotFoundError(
                f"nothing is known of {about!r}",
                hint="name the key or subject of a record, as memory_read shows them",
            )
        page = spans[offset : offset + limit]
        end = offset + len(page)
        return {
            "about": about, "spans": page, "count": len(spans),
            "next_offset": end if end < len(spans) else None,
        }  # fmt: skip

    def append(
        self, events: list[Event], session_id: str | None, call: Call = ALONE
    ) -> dict[str, Any]:
        """Take events in, then let proposers read them.

        A call that is taken back ends between two batches: what is in is whole, and the same call
        again takes the rest.
        """
        own = session_id or self.session.settings["session"]
        checked = [read_event(event.model_dump(), own) for event in events]
        outcomes: list[Outcome] = []
        closed: list[str] = []
        for at in range(0, len(checked), APPENDED_AT_ONCE):
            batch = checked[at : at + APPENDED_AT_ONCE]
            try:
                taken, ended = append(self.session, batch, host=HOST)
            except MunimentError as error:
                if not outcomes:
                    raise
                taken, ended = [Outcome.refused(event, error) for event in batch], []
            outcomes += taken
            closed += ended
            call.report(len(outcomes), len(checked))
            call.check()
        return {
            "events": [outcome.as_dict() for outcome in outcomes],
            "closed": closed,
            **follow_up(self.session, call.is_gone),
        }

    def complete(
        self, session_id: str, events: list[Event], proposals: list[Proposal], call: Call = ALONE
    ) -> dict[str, Any]:
        """Take the events of a turn in, then what the agent proposes to remember of them."""
        done = self.append(events, session_id, call)
        call.check()
        made = propose_of_turn(self.session, proposals)
        return {**done, "proposals": [one.as_dict() for one in made]}

    def resume(
        self, session_id: str, token_budget: int, query: str | None, call: Call = ALONE
    ) -> tuple[dict[str, Any], str]:
        """Return the context to go on with a session."""
        check_budget(token_budget)
        persona = personas.current(self.session)
        with self.warm.reading(semantic=False, call=call) as opened:
            return Resume(opened, persona, session_id, query).document(token_budget)

    def prepare(
        self, session_id: str, query: str, token_budget: int, call: Call = ALONE
    ) -> tuple[dict[str, Any], str]:
        """Return pack and resume context under one budget."""
        persona = personas.current(self.session)
        with self.warm.reading(call=call) as opened:
            asked = {"token_budget": token_budget, "semantic": opened.embedder is not None}
            return prepare(opened, persona, session_id, query, asked)

    def save_checkpoint(self, session_id: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Keep the state of a task."""
        return checkpoints.save(self.session, session_id, checkpoints.read_checkpoint(fields))

    def persona(self) -> dict[str, Any]:
        """Return who the assistant is for the user."""
        return personas.current(self.session)

    def close_left_open(self) -> list[str]:
        """Close the sessions that an earlier server of this agent left open when it died."""
        from muniment.store import manifest

        root = self.warm.workspace.root
        paths = root.scope(self.warm.workspace.scope)
        if manifest.state_of(root) is not manifest.RootState.CURRENT or not paths.ledger.exists():
            return []
        with self.warm.workspace.writing() as ledger, ledger.unit():
            left = ledger.sessions.left_open(HOST, self.session.settings["agent"])
            return [name for number, name in left if ledger.sessions.end(number, LEFT_OPEN)]
