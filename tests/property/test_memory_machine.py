"""Whatever is said, approved, corrected, forgotten and pinned in any order: what must hold, holds.

The machine drives the real ledger with a clock set by hand and keeps a copy of everything that was
ever visible; its own model of what is known at which time is a plain list of snapshots.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from support.remembering import Talk
from support.replaying import Change, as_known

from muniment.pipeline import keys
from muniment.pipeline.memory import consolidating, facts
from muniment.pipeline.memory.amending import Correction, correct
from muniment.pipeline.memory.facts import Version
from muniment.pipeline.memory.review import approve, reject
from muniment.store.database import erasing
from muniment.store.forgetting.erase import erase
from muniment.store.forgetting.hide import hide, lift
from muniment.store.forgetting.plan import plan
from muniment.store.forgetting.selection import Selection
from muniment.store.ledger.lookup import Lookup
from muniment.store.times import sort_key

DAYS = [f"20{year}-0{month}-01" for year in (18, 20, 22, 24, 26) for month in (1, 5)]
FUTURE = ["2027-01-01", "2031-01-01"]
SINGLE = {"home": ["Rome", "Oslo", "Lima"], "employer": ["Acme", "Bell"]}
SEVERAL = {"allergy": ["nuts", "milk"], "preference:tea": ["like", "dislike", "prefer"]}
CLAIMS = [(key, value) for table in (SINGLE, SEVERAL) for key in table for value in table[key]]
KEYS = [*SINGLE, *SEVERAL]


class Memory(RuleBasedStateMachine):
    """Claims of one user, changed in every way there is."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.talk = Talk(Path(self.folder.name) / "root")
        self.seen: list[tuple[str, dict[str, set[tuple[str, int]]]]] = []
        self.history: list[tuple[Any, ...]] = []
        self.hidden: set[int] = set()

    def teardown(self) -> None:
        if hasattr(self, "talk"):
            self.talk.store.close()
            self.folder.cleanup()

    # --- what may happen -------------------------------------------------------------------------

    @rule(claim=st.sampled_from(CLAIMS), day=st.sampled_from(DAYS))
    def say(self, claim: tuple[str, str], day: str) -> None:
        self.talk.claim(*claim, day)

    @rule(claim=st.sampled_from(CLAIMS), day=st.sampled_from(FUTURE))
    def announce(self, claim: tuple[str, str], day: str) -> None:
        start = {"utc": f"{day}T00:00:00.000000Z", "precision": "day"}
        self.talk.claim(*claim, "2026-01-01", valid_at=start)

    @rule(claim=st.sampled_from(CLAIMS), day=st.sampled_from(DAYS), approved=st.booleans())
    def propose(self, claim: tuple[str, str], day: str, approved: bool) -> None:
        self.talk.claim(*claim, day, proposer="model", rule="", instructed=False)
        (waiting,) = self.candidates()[-1:]
        if waiting["status"] == "pending":
            self.talk.tick()
            with self.talk.ledger.unit():
                if approved:
                    assert not approve(self.talk.ledger, waiting).refused
                else:
                    reject(self.talk.ledger, waiting, "no")

    @precondition(lambda self: self.rows())
    @rule(data=st.data())
    def take_back(self, data: st.DataObject) -> None:
        row = self.pick(data)
        (candidate,) = self.talk.memory.candidates("c.id = ?", (row["candidate"],))
        with self.talk.ledger.unit():
            reject(self.talk.ledger, candidate, "wrong")

    @precondition(lambda self: self.rows())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """Hide what a claim rests on: it is invalid once nothing shown supports it."""
        hidden = self.evidence_of(self.pick(data))
        with self.talk.ledger.unit():
            hide(self.talk.ledger, Selection(observations=hidden), actor="user")
        self.hidden |= hidden

    @precondition(lambda self: self.hidden)
    @rule(data=st.data())
    def unforget(self, data: st.DataObject) -> None:
        self.talk.tick()
        one = data.draw(st.sampled_from(sorted(self.hidden)))
        with self.talk.ledger.unit():
            change = lift(self.talk.ledger, Selection(observations={one}), actor="user")
            for record, version in change.records:
                row = self.talk.claims().current(record, version)
                self.talk.claims().settle(row["subject"], row["key"])
        self.hidden.discard(one)

    @precondition(lambda self: self.rows())
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        """Forget for good what a claim rests on; of the rest, not a word changes."""
        evidence = self.evidence_of(self.pick(data))
        database, before = self.talk.ledger.database, self.log()
        numbers = ",".join(map(str, evidence)) or "0"
        found = database.execute(f"SELECT DISTINCT asset FROM observation WHERE seq IN ({numbers})")
        selection = Selection(assets={row[0] for row in found})
        self.talk.ledger.tombstones.make_key()
        going = plan(database, selection)
        with self.talk.ledger.unit(), erasing(database):
            erase(self.talk.ledger, going, [], [], actor="user")
        left = self.log()
        assert [entry for entry in before if entry in set(left)] == left
        self.history = left
        kept = {(row["id"], row["version"]) for row in self.rows()}
        self.seen = [
            (at, {key: names & kept for key, names in snapshot.items()})
            for at, snapshot in self.seen
        ]
        shown = database.execute("SELECT seq FROM observation").fetchall()
        self.hidden &= {row[0] for row in shown}

    @precondition(lambda self: self.seen)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        """Ask as recall does what was known at a time: the answer of then, as far as it is left."""
        known_at, snapshot = data.draw(st.sampled_from(self.seen))
        lookup = Lookup(self.talk.ledger.database)
        for key in KEYS:
            then = []
            for row in self.talk.rows(key):
                state = lookup.state_at(row["id"], row["version"], known_at)
                if state is not None:
                    end = sort_key(json.loads(state[1] or "null"))
                    then.append(replace(_version(row), status=state[0], end=end))
            assert _names(facts.holding(then, known_at)) == snapshot[key], (key, known_at)

    @precondition(lambda self: self.rows())
    @rule(data=st.data(), to=st.sampled_from(["archived", "active"]))
    def hide_or_show(self, data: st.DataObject, to: Any) -> None:
        row = self.pick(data)
        shown = row["status"] in {"active", "conflicted", "superseded"}
        if (to == "archived" and shown) or row["status"] == "archived":
            with self.talk.ledger.unit():
                self.talk.claims().set_status(row, to, "by hand")

    @precondition(lambda self: self.rows())
    @rule(data=st.data(), pinned=st.booleans())
    def pin(self, data: st.DataObject, pinned: bool) -> None:
        row = self.pick(data)
        with self.talk.ledger.unit():
            changed = self.talk.claims().pin(row, pinned=pinned)
        assert changed is (row["pinned"] is not pinned)

    @precondition(lambda self: self.rows())
    @rule(data=st.data(), day=st.sampled_from([None, *DAYS]))
    def correct(self, data: st.DataObject, day: str | None) -> None:
        row = self.talk.claims().current(self.pick(data)["id"])
        if row["status"] in {"revoked", "invalidated"}:
            return
        values = [value for key, value in CLAIMS if key == row["key"]]
        since = None if day is None else f"{day}T00:00:00.000000Z"
        change = Correction(value=data.draw(st.sampled_from(values)), valid_at=since)
        with self.talk.ledger.unit():
            correct(self.talk.ledger, row, change)
        with self.talk.ledger.unit():
            again = self.talk.claims().current(row["id"])
            assert not correct(self.talk.ledger, again, change).changed

    @precondition(lambda self: self.talk.claims().conflicts())
    @rule(data=st.data(), both=st.booleans())
    def resolve(self, data: st.DataObject, both: bool) -> None:
        sides = data.draw(st.sampled_from(self.talk.claims().conflicts()))
        kept = data.draw(st.sampled_from(sides))
        with self.talk.ledger.unit():
            self.talk.claims().resolve(kept, "asked", both=both)
        assert self.talk.claims().current(kept["id"], kept["version"])["status"] == "active"

    @rule(days=st.sampled_from(["2026-06-01", "2029-01-01", "2033-01-01"]))
    def let_time_pass(self, days: str) -> None:
        if days > self.talk.now[:10]:
            self.talk.tick(days)
            consolidating.consolidate(self.talk.ledger, {}, self.talk.now)

    @rule()
    def settle_again(self) -> None:
        before = self.log()
        with self.talk.ledger.unit():
            for key in KEYS:
                self.talk.claims().settle("user", key)
        settled = self.log()
        with self.talk.ledger.unit():
            assert all(self.talk.claims().settle("user", key) == 0 for key in KEYS)
        assert settled[: len(before)] == before

    # --- what must hold --------------------------------------------------------------------------

    @invariant()
    def one_value_of_a_key_at_an_instant(self) -> None:
        if not hasattr(self, "talk"):
            return
        for key in SINGLE:
            versions = self.versions(key)
            starts = {one.start for one in versions if one.start} | {self.talk.now}
            for instant in starts:
                assert len(facts.holding(versions, instant)) <= 1, (key, instant)

    @invariant()
    def every_claim_in_force_quotes_words_that_are_there(self) -> None:
        if not hasattr(self, "talk"):
            return
        for row in self.rows():
            assert row["evidence"] or row["status"] not in {"active", "conflicted", "superseded"}
            for item in row["evidence"]:
                observation = self.talk.ledger.evidence.get(item["observation"])
                assert observation is not None
                assert observation.text[item["start"] : item["end"]] == item["quote"]

    @invariant()
    def contradictions_in_force_are_marked(self) -> None:
        if not hasattr(self, "talk"):
            return
        rows = [row for row in self.talk.rows("preference:tea") if row["status"] == "active"]
        for at, one in enumerate(rows):
            for other in rows[at + 1 :]:
                links = self.talk.memory.links(one["id"])
                peace = any(
                    link["relation"] == "compatible" and other["id"] in (link["one"], link["other"])
                    for link in links
                )
                apart = not _version(one).overlaps(_version(other))
                odds = keys.contradict("preference:tea", one["value"], other["value"])
                assert not odds or peace or apart

    @invariant()
    def history_is_only_ever_longer(self) -> None:
        if not hasattr(self, "talk"):
            return
        log = self.log()
        assert log[: len(self.history)] == self.history
        self.history = log

    @invariant()
    def what_was_known_is_a_replay_up_to_then(self) -> None:
        if not hasattr(self, "talk"):
            return
        versions = {key: self.versions(key) for key in KEYS}
        changes = self.changes()
        for known_at, snapshot in self.seen[-8:]:
            for key in KEYS:
                known = as_known(versions[key], changes, known_at)
                assert _names(facts.holding(known, known_at)) == snapshot[key], (key, known_at)
        now = {key: _names(facts.holding(versions[key], self.talk.now)) for key in KEYS}
        self.seen.append((self.talk.now, now))
        self.talk.tick()

    # --- looking ---------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        if not hasattr(self, "talk"):
            return []
        return list(self.talk.memory.records("1 ORDER BY r.version_seq"))

    def pick(self, data: st.DataObject) -> dict[str, Any]:
        rows = self.rows()
        self.talk.tick()
        return rows[data.draw(st.integers(0, len(rows) - 1))]

    def evidence_of(self, row: dict[str, Any]) -> set[int]:
        names = ",".join(f"'{item['observation']}'" for item in row["evidence"])
        found = self.talk.ledger.database.execute(
            f"SELECT seq FROM observation WHERE id IN ({names})"
        )
        return {int(number) for (number,) in found}

    def candidates(self) -> list[dict[str, Any]]:
        return list(self.talk.memory.candidates("1 ORDER BY c.seq"))

    def versions(self, key: str) -> list[Version]:
        return [_version(row) for row in self.talk.rows(key)]

    def log(self) -> list[tuple[Any, ...]]:
        return list(self.talk.ledger.database.execute("SELECT * FROM revision ORDER BY seq"))

    def changes(self) -> list[Change]:
        rows = self.talk.ledger.database.execute(
            "SELECT r.id, x.version, x.status, coalesce(x.invalid_at, v.invalid_at), x.at "
            "FROM revision x JOIN record r ON r.seq = x.record JOIN record_version v "
            "ON v.record = x.record AND v.version = x.version ORDER BY x.seq"
        )
        return [
            Change(str(record), int(version), str(status), sort_key(json.loads(end or "null")),
                   str(at))
            for record, version, status, end, at in rows
        ]  # fmt: skip


def _version(row: dict[str, Any]) -> Version:
    return Version(
        row["id"], row["version"], row["value"], row["valid_sort"], sort_key(row["invalid_at"]),
        row["version_seq"], row["status"],
    )  # fmt: skip


def _names(versions: list[Version]) -> set[tuple[str, int]]:
    return {(one.record, one.version) for one in versions}


TestMemory = Memory.TestCase
TestMemory.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
