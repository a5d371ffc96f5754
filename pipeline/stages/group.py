"""Group: observations to episodes, touching only the runs that something new fell into."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from muniment.pipeline.episode_drafts import EpisodeDraft, EpisodeInput, GroupKey
from muniment.pipeline.episodes import MEDIA_GAP, THREAD_GAP, group_key, group_rows
from muniment.pipeline.stages.run import Tally
from muniment.store.ledger import Ledger
from muniment.store.ledger.grouping import AssetFacts
from muniment.store.rows import ObservationRow

STAGE = "group"
BATCH = 5_000
SAMPLE_CHARACTERS = 2_000
_SPREAD = {"conversation", "mail", "moments"}


class Groups:
    """One group stage."""

    def __init__(self, ledger: Ledger, tally: Tally) -> None:
        self._tally = tally
        self._ledger = ledger
        self._facts: dict[int, AssetFacts] = {}
        self._rows: dict[int, ObservationRow] = {}

    def group(self) -> None:
        """Bring the episodes up to date with every observation since the last time."""
        attempts = self._ledger.attempts
        mark = attempts.mark(STAGE)
        while touched := self._ledger.grouping.touched(mark, BATCH):
            self._rows = {row.seq: row for row in self._ledger.evidence.after(mark, BATCH)}
            self._facts.clear()
            mark = touched[-1][0]
            with self._ledger.unit():
                self._draft(touched)
                attempts.set_mark(STAGE, mark)

    def regroup(self, observations: Iterable[int]) -> None:
        """Draft the episodes of some live observations anew, inside the caller's unit."""
        touched = self._ledger.grouping.owners(observations)
        for at in range(0, len(touched), BATCH):
            self._rows.clear()
            self._draft(touched[at : at + BATCH])

    def _draft(self, touched: list[tuple[int, int]]) -> None:
        drafts = [
            draft for key, rows in self._neighbourhoods(touched) for draft in group_rows(key, rows)
        ]
        members = (member for draft in drafts for member in draft.members)
        before = self._ledger.episodes.of_observations(members)
        for draft in drafts:
            self._put(draft, before)

    def _neighbourhoods(
        self, touched: list[tuple[int, int]]
    ) -> Iterator[tuple[GroupKey, list[EpisodeInput]]]:
        """Yield each touched key with all the rows that its episodes depend on, once a run."""
        self._know(owner for _, owner in touched)
        keys = {
            number: group_key(self._input(self._row(number), owner)) for number, owner in touched
        }
        whole = self._ledger.grouping.of_assets(
            {owner for number, owner in touched if keys[number].kind not in _SPREAD}
        )
        done: set[int] = set()
        for number, owner in touched:
            if number in done:
                continue
            key = keys[number]
            members = self._spread(key, self._row(number), owner) or [
                (member, owner) for member in whole.get(owner, [number])
            ]
            self._know(other for _, other in members)
            inputs = {
                member: self._input(self._row(member), other)
                for member, other in dict([*members, (number, owner)]).items()
            }
            mine = {member: item for member, item in inputs.items() if group_key(item) == key}
            done.update(mine)
            yield key, list(mine.values())

    def _spread(self, key: GroupKey, row: ObservationRow, owner: int) -> list[tuple[int, int]]:
        """Return the run of an episode that spans assets or a part of one; else nothing."""
        grouping = self._ledger.grouping
        if key.kind in {"conversation", "mail"} and row.thread is not None:
            gap = THREAD_GAP if key.kind == "conversation" else timedelta.max
            return [(seq, owner) for seq in grouping.thread_run(row.thread, row.instant, gap)]
        if key.kind == "moments" and row.instant is not None:
            run = dict.fromkeys(grouping.media_run(row.instant, MEDIA_GAP))
            members = grouping.of_assets(run)
            return [(seq, other) for other in run for seq in members.get(other, [])]
        return []

    def _know(self, assets: Iterable[int]) -> None:
        """Load the facts of assets that are not known yet, all at once."""
        missing = {asset for asset in assets if asset not in self._facts}
        if missing:
            self._facts |= self._ledger.grouping.facts(missing)

    def _row(self, number: int) -> ObservationRow:
        if number not in self._rows:
            self._rows[number] = next(self._ledger.evidence.live("o.seq = ?", (number,)))
        return self._rows[number]

    def _input(self, row: ObservationRow, asset: int) -> EpisodeInput:
        facts = self._facts[asset]
        return EpisodeInput(
            observation=row.id,
            asset=facts.asset,
            family=facts.family,
            kind=row.kind,
            instant=row.instant,
            thread=row.thread,
            author=row.author,
            place=facts.place,
            source=facts.source,
            duration_ms=facts.duration_ms,
            name=facts.name,
            text=row.text[:SAMPLE_CHARACTERS],
            occurred=row.occurred or _moment(facts),
            position=_position(row.locator),
        )

    def _put(self, draft: EpisodeDraft, before: dict[str, str]) -> None:
        fields: dict[str, Any] = {
            "kind": draft.kind, "title": draft.title, "gist": draft.gist,
            "gist_basis": draft.gist_basis, "start": draft.start, "end": draft.end,
            "participants": list(draft.participants), "place": draft.place,
            "source": draft.source, "status": "open",
        }  # fmt: skip
        number, changed = self._ledger.episodes.put(draft.id, draft.anchor, draft.rule, fields)
        self._ledger.episodes.join(number, draft.members)
        if changed:
            self._tally.add("episodes")
        self._retire({before[member] for member in draft.members if member in before} - {draft.id})

    def _retire(self, episodes: Iterable[str]) -> None:
        """Mark episodes whose members have all moved on."""
        for episode in sorted(episodes):
            known = self._ledger.episodes.get(episode)
            if known and not self._ledger.episodes.count_members(known["seq"]):
                self._ledger.episodes.put(
                    episode, known["anchor"], known["rule"], {**known, "status": "merged"}
                )


def _position(locator: dict[str, Any]) -> int:
    """Return where in its asset a row stands, whatever order it arrived in."""
    for name in ("index", "start", "start_ms", "at_ms", "page"):
        if isinstance(locator.get(name), int):
            return int(locator[name])
    return 0


def _moment(facts: AssetFacts) -> dict[str, Any] | None:
    return None if facts.moment is None else dict(json.loads(facts.moment))
