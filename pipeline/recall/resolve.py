"""Turn refs into live items: records in force, live observations, assets that are still whole.

A ref that leads to none is dropped and counted; nothing that was only found is ever returned.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from muniment.pipeline.memory.corrected import left_of
from muniment.pipeline.recall.evidence_gate import EvidenceGate
from muniment.pipeline.recall.fuse import Fused
from muniment.pipeline.recall.gists import quoted_members
from muniment.pipeline.recall.items import Item, Proof
from muniment.pipeline.recall.request import Filters
from muniment.pipeline.recall.withdrawn import withdrawn
from muniment.store.ids import record_ref
from muniment.store.ledger import Ledger
from muniment.store.ledger.lookup import Lookup
from muniment.store.rows import ObservationRow
from muniment.store.times import sort_key

OWN_ORIGINS = ("user", "external", "media", "third_party")
ASSISTANT_ORIGINS = ("agent", "tool")
JOINED = " … "
_MOST_STANDING = 200
_EPISODE_MEMBERS = 400


class Resolver:
    """Resolves the hits of one recall; ``failed`` counts what the evidence gate dropped."""

    def __init__(self, ledger: Ledger, filters: Filters, now: str, *, with_assistant: bool) -> None:
        self.gate = EvidenceGate(ledger)
        self.failed = 0
        self._ledger = ledger
        self._lookup = Lookup(ledger.database)
        self._filters = filters
        self._now = now
        self._at = filters.as_of or now
        # What is left of observations that answer in part alone.
        self._left: dict[str, tuple[str, ...]] = {}
        self._origins = OWN_ORIGINS + (ASSISTANT_ORIGINS if with_assistant else ())

    def items(self, plane: str, hits: Sequence[Fused]) -> list[Item]:
        """Return the items of the hits of a plane, best first."""
        resolve = {
            "observation": self.observations, "record": self.records, "episode": self.episodes,
        }  # fmt: skip
        return resolve[plane](hits)

    # --- observations ----------------------------------------------------------------------------

    def observations(self, hits: Sequence[Fused]) -> list[Item]:
        """Return the items of observation hits, best first."""
        rows = self.rows_at(hit.number for hit in hits)
        items = []
        for hit in hits:
            row = rows.get(hit.key.removeprefix("observation:"))
            item = None if row is None else self.observation(row)
            if item is not None:
                take(item, hit)
                items.append(item)
        return items

    def rows(self, ids: Iterable[str]) -> dict[str, ObservationRow]:
        """Return those observations that are live, of an origin asked for, and known in time."""
        return self._answering(self._ledger.evidence.live_by_id(ids))

    def rows_at(self, numbers: Iterable[int]) -> dict[str, ObservationRow]:
        """Return the same, by id, of the observations with these sequence numbers.

        What answers no more is left out: corrected since, or stated to be a record that is not.
        """
        return self._standing_words(self._answering(self._ledger.evidence.live_at(numbers)))

    def _answering(
        self, rows: dict[str, ObservationRow], *, of_any_origin: bool = False
    ) -> dict[str, ObservationRow]:
        kept = {
            key: row
            for key, row in rows.items()
            if (of_any_origin or row.origin in self._origins) and self._is_due(row)
        }
        if self._filters.known_at is not None and kept:
            known = self._lookup.known(kept, self._filters.known_at)
            kept = {key: row for key, row in kept.items() if key in known}
        self.gate.load(row.asset for row in kept.values())
        return kept

    def _standing_words(self, rows: dict[str, ObservationRow]) -> dict[str, ObservationRow]:
        """Leave out what answers no more, unless the past is asked about."""
        if self._filters.known_at is not None or self._filters.include_history or not rows:
            return rows
        taken_back = withdrawn(
            self._ledger.readings, self._lookup, rows, self._stating,
            lambda record: self._status_in_force(record) is not None,
        )  # fmt: skip
        for key, spans in taken_back.items():
            if spans:
                self._left[key] = left_of(rows[key].text, spans)
        return {key: row for key, row in rows.items() if self._left.get(key, (row.text,))}

    @cached_property
    def _stating(self) -> set[str]:
        """The producers of statements; none comes in while one recall reads."""
        return self._lookup.stating()

    def versions(self, record: str) -> list[dict[str, Any]]:
        """Return every version of a record with its state and evidence, oldest first."""
        return self._lookup.versions_of(record)

    def observation(self, row: ObservationRow) -> Item | None:
        """Return the item of one live observation whose asset passes the gate.

        Of one that answers in part alone, it says that part.
        """
        left = self._left.get(row.id)
        proofs = [self._proof(row, quote) for quote in left or (row.text,)]
        proven = [proof for proof in proofs if proof is not None]
        if not proven:
            return None
        return Item(
            ref=f"observation:{row.id}",
            plane="observation",
            kind=row.kind,
            text=JOINED.join(proof.quote for proof in proven),
            time=time_of(row),
            proofs=proven,
            group=row.thread or row.asset,
            asset=row.asset,
            whole=left is None,
        )

    def _is_due(self, row: ObservationRow) -> bool:
        as_of = self._filters.as_of
        return as_of is None or row.instant is None or row.instant <= as_of

    def _proof(self, row: ObservationRow, quote: str) -> Proof | None:
        asset = self.gate.proven(row.asset)
        if asset is None or (quote is not row.text and quote not in row.text):
            self.failed += 1
            return None
        return Proof(row, asset, quote)

    # --- records ---------------------------------------------------------------------------------

    def records(self, hits: Sequence[Fused]) -> list[Item]:
        """Return the items of record hits that are in force, best first."""
        versions = {hit.key: _version(hit.key) for hit in hits}
        found = {
            (record["id"], record["version"]): record
            for record in self._lookup.record_versions(versions.values())
        }
        items = []
        for hit in hits:
            record = found.get(versions[hit.key])
            item = None if record is None else self.record(record)
            if item is not None:
                take(item, hit)
                items.append(item)
        return items

    def standing(self, relevance: Mapping[str, float], limit: int) -> list[Item]:
        """Return what always holds: the pinned, then preferences and instructions by relevance.

        ``relevance`` is what the signals gave a record, by its ref; the others follow by weight.
        """
        records = self._lookup.standing(_MOST_STANDING)
        records.sort(key=lambda one: (not one["pinned"], -relevance.get(record_ref(one), 0.0)))
        items = (self.record(record) for record in records[:limit])
        return [item for item in items if item is not None]

    def record(self, record: dict[str, Any]) -> Item | None:
        """Return the item of a record version, null when it is not in force or not proven."""
        status = self._status_in_force(record)
        if status is None or not self._kind_wanted(record["kind"]):
            return None
        proofs = self._record_proofs(record)
        if not proofs:
            return None
        return Item(
            ref=record_ref(record),
            plane="record",
            kind=record["kind"],
            text=record["text"],
            time=_moment_text(record["valid_at"]) or time_of(proofs[0].row),
            proofs=proofs,
            asset=proofs[0].row.asset,
            group=record["id"],
            status=status,
            subject=record["subject"],
            key=record["key"],
            pinned=record["pinned"],
            importance=record["importance"],
        )

    def _record_proofs(self, record: dict[str, Any]) -> list[Proof]:
        evidence = record["evidence"]
        found = self._ledger.evidence.live_by_id(item["observation"] for item in evidence)
        foreign = any(row.origin not in self._origins for row in found.values())
        # What the owner has approved is the owner's, whoever said the words that it rests on.
        owned = foreign and self._lookup.is_approved(record["version_seq"])
        rows = self._answering(found, of_any_origin=owned)
        proofs = []
        for item in evidence:
            row = rows.get(item["observation"])
            if row is not None and row.text[item["start"] : item["end"]] == item["quote"]:
                proof = self._proof(row, item["quote"])
                proofs += [proof] if proof else []
        return proofs

    def _status_in_force(self, record: dict[str, Any]) -> str | None:
        """Return the state that lets a version answer this request, or null."""
        status, closes = record["status"], record["invalid_at"]
        if self._filters.known_at is not None:
            state = self._lookup.state_at(record["id"], record["version"], self._filters.known_at)
            if state is None:
                return None
            status, closes = state[0], json.loads(state[1]) if state[1] else None
        if status not in allowed_states(self._filters):
            return None
        if record["valid_sort"] is not None and record["valid_sort"] > self._at:
            return None
        closed = sort_key(closes)
        past = closed is not None and closed <= self._at
        return None if past and not self._filters.include_history else status

    def _kind_wanted(self, kind: str) -> bool:
        kinds = self._filters.kinds
        return not kinds or "record" in kinds or kind in kinds

    # --- episodes --------------------------------------------------------------------------------

    def episodes(self, hits: Sequence[Fused]) -> list[Item]:
        """Return the items of episode hits whose gist is proven by live members, best first."""
        items = []
        for hit in hits:
            episode = self._ledger.episodes.get(hit.key.removeprefix("episode:"))
            item = None if episode is None else self._episode(episode)
            if item is not None:
                take(item, hit)
                items.append(item)
        return items

    def _episode(self, episode: dict[str, Any]) -> Item | None:
        members = self._ledger.episodes.members(episode["id"])[:_EPISODE_MEMBERS]
        rows = self._standing_words(self.rows(members))
        shown = [(row, self._left.get(key, (row.text,)))
                 for key in members if (row := rows.get(key)) is not None]  # fmt: skip
        quoted = quoted_members(episode["gist"], shown)
        proofs = [self._proof(row, quote) for row, quote in quoted]
        proven = [proof for proof in proofs if proof is not None]
        if not proven:
            return None
        # Only what the shown members say themselves: the rest of a gist would be unproven.
        said = JOINED.join(dict.fromkeys(proof.quote for proof in proven))
        return Item(
            ref=f"episode:{episode['id']}",
            plane="episode",
            kind=episode["kind"],
            text=f"{episode['title']}: {said}",
            time=_moment_text(episode["start"]),
            proofs=proven,
            group=episode["id"],
            asset=proven[0].row.asset,
        )


def take(item: Item, hit: Fused) -> None:
    """Give an item the score of its hit and where that came from."""
    item.score, item.signals = hit.score, hit.signals
    item.parts, item.scores = hit.parts, hit.scores


def allowed_states(filters: Filters) -> frozenset[str]:
    """Return the record states that may answer under these filters."""
    states = {"active", "conflicted"}
    if filters.as_of or filters.include_history:
        states.add("superseded")
    if filters.include_archived:
        states.add("archived")
    return frozenset(states)


def time_of(row: ObservationRow) -> str | None:
    """Return an observation's time: an instant, or wall time where no zone is known."""
    return _moment_text(row.occurred) or row.instant


def _moment_text(moment: Mapping[str, Any] | None) -> str | None:
    return None if moment is None else moment["utc"] or moment["local"]


def _version(ref: str) -> tuple[str, int]:
    record, _, version = ref.removeprefix("record:").rpartition("@")
    return record, int(version)
