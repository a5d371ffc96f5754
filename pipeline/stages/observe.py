"""Observe: asset to observations, by every reader that has not finished with it.

Light text is read in this process; the rest in worker processes, one lane a model role, or on a
cluster. What an asset and reader gave is written whole or not at all, together with what else came
within a quarter of a second: an interruption costs that and the items in hand.
"""

import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.adapters import registry
from muniment.adapters.ports import ReaderSpec, Source
from muniment.pipeline.stages.reading import STAGE, Channels, Prepared, ReadingWriter
from muniment.pipeline.stages.run import Run
from muniment.pipeline.stages.sniffing import sniff_again
from muniment.pipeline.tasks import Executor, ReaderSetup, Task, TaskResult
from muniment.store.ids import digest
from muniment.store.rows import AssetRow

if TYPE_CHECKING:
    from muniment.adapters.models.settings import ModelSettings
    from muniment.store.asset_places import Elsewhere

# A group is committed when it is this large, or when so long has passed since the last commit.
GROUP = 128
HOLD_SECONDS = 0.25
LANES = ("inline", "parse", "ocr", "transcribe")
# What nobody reads is a result, too: it has a status and a reason.
_UNREAD = {"empty": ("empty", "empty_file", "the file has no bytes")}
# Statements are read where they are made, what a forget left of a file was read before.
UNREAD_FAMILIES = frozenset({"statement", "redacted"})
_NO_READER = ("unsupported", "no_reader", "no reader for this kind of file")


class Observation:
    """One observe stage: what is to do, in which lane, and what came of it."""

    def __init__(self, run: Run, models: "ModelSettings", light: Executor, heavy: Executor) -> None:
        self._run = run
        self._models = models
        self._light = light
        self._heavy = heavy
        self._batch = _Batch(run)

    def observe(self) -> None:
        """Read whatever is not read yet, light text first."""
        sniff_again(self._run, STAGE, UNREAD_FAMILIES | {"event"})
        with self._run.ledger.unit():
            self._run.ledger.evidence.add_own_names(self._run.settings["me"])
        me = self._run.ledger.evidence.own_names()
        channels = [Channels.of(reader, self._models, me) for reader in registry.readers()]
        with self._run.ledger.unit():
            for channel in channels:
                # A producer that was switched back to has nothing left to do, but counts again:
                # not one that stands in for a better one while memory is short.
                if channel.preferred is None:
                    self._run.ledger.attempts.reinstate(
                        STAGE, channel.reader.name, channel.fingerprint, self._run.id
                    )
        inline = [channel for channel in channels if channel.reader.lane == "inline"]
        heavy = [channel for channel in channels if channel not in inline]
        # What was taken out of containers is read in turn, until nothing new comes out.
        newest = -1
        while newest != (newest := self._run.ledger.assets.newest_type()):
            self._name_unread([channel.reader for channel in channels])
            self._read(inline, self._light)
            self._read(heavy, self._heavy)
            if self._run.out_of_time:
                break

    def settle(self) -> None:
        """Commit what has waited long enough; call it now and then while results are awaited."""
        self._batch.settle()

    def _read(self, channels: list[Channels], executor: Executor) -> None:
        again = self._run.retry_failed
        work = {c.reader.name: self._to_do(c, retry_failed=again) for c in channels}
        total = sum(map(len, work.values()))
        if not total:
            return
        self._run.progress.start("observe", total)
        writers = {c.reader.name: ReadingWriter(self._run, c) for c in channels}
        pending: dict[str, tuple[ReaderSpec, AssetRow]] = {}
        for result in executor.run(self._tasks(channels, work, pending)):
            reader, asset = pending.pop(result.key)
            self._batch.add(writers[reader.name], asset, result)
            if self._run.out_of_time:
                self._run.tally.warnings.append(self._run.ending)
                break
        self._batch.commit()
        for channel in channels:
            self._advance(channel)

    def _to_do(self, channel: Channels, *, retry_failed: bool = False) -> list[AssetRow]:
        attempts = self._run.ledger.attempts
        after = 0 if retry_failed else attempts.mark(STAGE, channel.mark)
        families = channel.reader.families
        found = attempts.to_do(
            STAGE, channel.finished_by, families, after=after, retry_failed=retry_failed
        )
        return list(found)

    def _tasks(
        self,
        channels: list[Channels],
        work: dict[str, list[AssetRow]],
        pending: dict[str, tuple[ReaderSpec, AssetRow]],
    ) -> Iterator[Task]:
        lanes = sorted(channels, key=lambda channel: LANES.index(channel.reader.lane))
        for channel in lanes:
            for asset in work[channel.reader.name]:
                key = f"{channel.reader.name}:{asset.seq}"
                pending[key] = (channel.reader, asset)
                yield Task(
                    key, channel.reader, self._source(asset, key), elsewhere=self._elsewhere(asset)
                )

    def _elsewhere(self, asset: AssetRow) -> "Elsewhere | None":
        return None if asset.storage == "inline" else self._run.ledger.assets.store.elsewhere

    def _source(self, asset: AssetRow, key: str) -> Source:
        assets = self._run.ledger.assets
        inline = asset.storage == "inline"
        here = not inline and assets.store.elsewhere is None
        return Source(
            asset=asset.id,
            size=asset.size,
            media_type=asset.media_type,
            family=asset.family,
            name=asset.name,
            scratch=_scratch(self._run, key),
            path=assets.file(asset.id) if here else None,
            data=assets.inline_bytes(asset.seq) if inline else None,
            depth=assets.depth(asset.seq) if asset.derived else 0,
        )

    def _advance(self, channel: Channels) -> None:
        """Move the mark over what is finished, so that the next run starts behind it."""
        ledger = self._run.ledger
        left = self._to_do(channel)
        mark = ledger.assets.type_number(left[0].seq) - 1 if left else ledger.assets.newest_type()
        with ledger.unit():
            ledger.attempts.set_mark(STAGE, mark, channel.mark)

    def _name_unread(self, readers: Iterable[ReaderSpec]) -> None:
        """Give what no reader takes its status, once."""
        ledger = self._run.ledger
        taken = UNREAD_FAMILIES.union(*(reader.families for reader in readers))
        fingerprint = digest("unread", sorted(taken))
        families = [family for family in ledger.assets.families() if family not in taken]
        after = ledger.attempts.mark(STAGE, fingerprint)
        with ledger.unit():
            for asset in list(ledger.attempts.to_do(STAGE, (fingerprint,), families, after=after)):
                status, code, message = _UNREAD.get(asset.family, _NO_READER)
                ledger.attempts.add(
                    asset.seq, STAGE, "none", fingerprint, status=status, code=code,
                    message=message, run=self._run.id,
                )  # fmt: skip
                self._run.tally.skip(_path_of(self._run, asset), code)
            ledger.attempts.set_mark(STAGE, ledger.assets.newest_type(), fingerprint)


class _Batch:
    """Results that are committed together."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._committed = time.monotonic()
        self._waiting: list[tuple[ReadingWriter, AssetRow, TaskResult, Prepared]] = []

    def add(self, writer: ReadingWriter, asset: AssetRow, result: TaskResult) -> None:
        """Take a result; commit when enough have come together, or the last commit is long ago."""
        found = writer.prepare(result.findings, result.failure)
        self._waiting.append((writer, asset, result, found))
        if len(self._waiting) >= GROUP:
            self.commit()
        self.settle()

    def settle(self) -> None:
        """Commit what is waiting if the last commit is long ago."""
        if self._waiting and time.monotonic() - self._committed >= HOLD_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Write what is waiting, durably, and only then count it."""
        with self._run.ledger.unit():
            ended = [
                (asset, result, writer.write(asset, found, round(result.seconds * 1000)))
                for writer, asset, result, found in self._waiting
            ]
            for _, _, result, _ in self._waiting:
                self._run.ledger.audit.keep(result.calls)
        for writer, *_ in self._waiting:
            writer.discard()
        self._waiting.clear()
        self._committed = time.monotonic()
        for asset, result, status in ended:
            shutil.rmtree(_scratch(self._run, result.key), ignore_errors=True)
            self._run.tally.add("observed")
            if status == "failed" and result.failure is not None:
                failure = result.failure
                path = _path_of(self._run, asset)
                self._run.tally.fail(path, STAGE, failure.code, failure.message)
            self._run.progress.advance(failed=int(status == "failed"), note=asset.name)


def _scratch(run: Run, key: str) -> Path:
    return run.scratch / digest(key)[:16]


def _path_of(run: Run, asset: AssetRow) -> bytes:
    sightings = run.ledger.assets.sightings(asset.id)
    return bytes(sightings[-1]["path"]) if sightings else asset.id.encode()


def setup_of(run: Run, models: "ModelSettings") -> ReaderSetup:
    """Return what every reading process of a run is given."""
    return ReaderSetup(models, run.limits, tuple(run.settings["languages"]))
