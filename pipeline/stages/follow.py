"""Bring an index up to date with the ledger: only what changed since the index's marks.

Observations come first, then episodes, then records; each batch is one transaction of the index
together with the mark that it moves, so an interruption costs one batch at most.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.pipeline.stages.documents import (
    LINE_REACH,
    MESSAGE_REACH,
    SEARCHABLE_STATES,
    episode_document,
    observation_document,
    record_document,
)
from muniment.store.database import number
from muniment.store.index.documents import Document
from muniment.store.ledger.changes import FOLLOWED, Around, Changes
from muniment.store.ledger.lookup import Lookup

if TYPE_CHECKING:
    from muniment.store.index.ports import IndexWriter
    from muniment.store.ledger import Ledger
    from muniment.store.rows import IndexedRow

# A larger batch writes fewer rows of postings, and is held in memory; an interruption costs one.
BATCH = 8_192
BATCH_BYTES = 8 * 1024 * 1024

# Mark of the index -> table of the ledger; members also move observations, which has its own mark.
_EPISODE_MARKS = {"episode_version": "episode_version", "episode_joined": "episode_member"}

Report = Callable[[int], None]


@dataclass(slots=True)
class Counts:
    """What a refresh did to the index."""

    indexed: int = 0
    removed: int = 0

    def add(self, indexed: int, removed: int) -> None:
        """Add up one batch."""
        self.indexed += indexed
        self.removed += removed


def indexable(ledger: "Ledger") -> dict[str, int]:
    """Count what an index would hold, by kind."""
    states = ", ".join(f"'{state}'" for state in sorted(SEARCHABLE_STATES))
    counted = {
        "observations": "observation_live",
        "episodes": "episode_now WHERE seq IN (SELECT episode FROM membership)",
        "records": f"record_now WHERE status IN ({states})",
    }
    return {
        name: number(ledger.database, f"SELECT count(*) FROM {of}")  # noqa: S608 (our own names)
        for name, of in counted.items()
    }


class Follower:
    """Follows one ledger with one index."""

    def __init__(
        self, ledger: "Ledger", index: "IndexWriter", report: Report = lambda _: None
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._report = report
        self._changes = Changes(ledger.database)
        self._lookup = Lookup(ledger.database)

    def marks(self) -> dict[str, int]:
        """Return how far the index has come in every followed table."""
        return {table: int(self._index.get_mark(table)) for table in FOLLOWED}

    def is_behind(self) -> bool:
        """Tell whether the ledger has anything that the index has not followed."""
        return self.marks() != self._changes.marks()

    def catch_up(self) -> Counts:
        """Follow everything up to now; return what that took."""
        with self._ledger.snapshot():
            counts = Counts()
            newest = self._changes.marks()
            self._touched(counts, newest)
            self._new(counts)
            self._episodes(counts, newest)
            self._records(counts, newest)
        return counts

    def renew(self, observations: Sequence[int], records: Sequence[str]) -> None:
        """Write documents anew that stand beside what was erased, and stand where the ledger does.

        Rows that went may have been the newest: the marks go back with them.
        """
        with self._ledger.snapshot():
            for at in range(0, len(observations), BATCH):
                with self._index.transaction():
                    self._put(observations[at : at + BATCH], self._indexed())
            with self._index.transaction():
                for record in records:
                    self._put_record(record)
                for table, newest in self._changes.marks().items():
                    if int(self._index.get_mark(table)) > newest:
                        self._index.set_mark(table, newest)

    def _touched(self, counts: Counts, newest: dict[str, int]) -> None:
        """Look again at older observations whose asset, date or episode changed."""
        touched = self._changes.touched(self.marks())
        for at in range(0, len(touched), BATCH):
            with self._index.transaction():
                counts.add(*self._put(touched[at : at + BATCH], self._indexed()))
        with self._index.transaction():
            for table in (
                "coverage", "capture_time", "episode_member", "tombstone_member", "tombstone_lift",
                "misreading",
            ):  # fmt: skip
                self._index.set_mark(table, newest[table])

    def _new(self, counts: Counts) -> None:
        mark = before = self._indexed()
        while numbers := self._changes.observations_after(mark, BATCH, BATCH_BYTES):
            mark = numbers[-1]
            with self._index.transaction():
                counts.add(*self._put(numbers, before))
                self._index.set_mark("observation", mark)
            self._report(len(numbers))

    def _indexed(self) -> int:
        """Return the number of the newest observation that the index has followed."""
        return int(self._index.get_mark("observation"))

    def _put(self, numbers: Sequence[int], before: int) -> tuple[int, int]:
        """Add those of the observations that are live, drop the others; return both counts.

        Messages beside them are renewed, for their context names their neighbours. What stands past
        ``before`` is not: it is indexed from this same snapshot of the ledger, and names them.
        """
        rows = self._ledger.evidence.indexed(numbers)
        around = self._around(numbers)
        beside = {
            neighbour.seq
            for number in numbers
            if number not in rows or rows[number].thread is not None
            for side in around[number]
            for neighbour in side
        }
        others = self._ledger.evidence.indexed(
            sorted(seq for seq in beside - set(numbers) if seq <= before)
        )
        around |= self._around(list(others))
        documents = self._documents([*rows.values(), *others.values()], around)
        gone = [number for number in numbers if number not in rows]
        removed = self._index.remove(
            f"observation:{identity}" for identity in self._changes.ids(gone).values()
        )
        self._index.add(documents)
        return len(rows), removed

    def _around(self, numbers: Sequence[int]) -> dict[int, Around]:
        found: dict[int, Around] = {}
        for at in range(0, len(numbers), BATCH):
            part = numbers[at : at + BATCH]
            found |= self._changes.around_many(part, MESSAGE_REACH, LINE_REACH)
        return found

    def _documents(self, rows: Sequence["IndexedRow"], around: dict[int, Around]) -> list[Document]:
        assets = self._changes.assets({row.asset for row in rows})
        episodes = self._ledger.episodes.of_observations(row.id for row in rows)
        return [
            observation_document(row, assets.get(row.asset), around[row.seq], episodes.get(row.id))
            for row in rows
        ]

    def _episodes(self, counts: Counts, newest: dict[str, int]) -> None:
        version, member = (int(self._index.get_mark(name)) for name in _EPISODE_MARKS)
        changed = self._changes.episodes_after(version, member)
        for at in range(0, len(changed), BATCH):
            with self._index.transaction():
                counts.add(*self._put_episodes(changed[at : at + BATCH]))
        with self._index.transaction():
            for name, table in _EPISODE_MARKS.items():
                self._index.set_mark(name, newest[table])

    def _put_episodes(self, ids: Sequence[str]) -> tuple[int, int]:
        """Add episodes that join something; of one member there is nothing more to be found."""
        small = self._changes.small_episodes(ids)
        marks = ",".join("?" * len(ids))
        found = list(self._ledger.episodes.all(f"e.id IN ({marks})", tuple(ids)))
        told = [one for one in found if one["id"] not in small or one["place"]]
        kept = {one["id"] for one in told}
        gone = self._index.remove(f"episode:{one}" for one in ids if one not in kept)
        return self._index.add(map(episode_document, told)), gone

    def _records(self, counts: Counts, newest: dict[str, int]) -> None:
        mark = int(self._index.get_mark("revision"))
        while mark < newest["revision"]:
            revised = self._ledger.memory.revisions_after(mark, BATCH)
            mark = revised[-1][0]
            with self._index.transaction():
                for record in dict.fromkeys(record for _, record in revised):
                    counts.add(*self._put_record(record))
                self._index.set_mark("revision", mark)

    def _put_record(self, record: str) -> tuple[int, int]:
        added, gone = [], []
        for version in self._lookup.versions_of(record):
            if version["status"] not in SEARCHABLE_STATES:
                gone.append(f"record:{record}@{version['version']}")
                continue
            first = version["evidence"][0]["observation"] if version["evidence"] else ""
            row = self._ledger.evidence.get(first)
            asset = None if row is None else self._changes.assets([row.asset]).get(row.asset)
            added.append(record_document(version, row, asset))
        removed = self._index.remove(gone)
        return self._index.add(added), removed
