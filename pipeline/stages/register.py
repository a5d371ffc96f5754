"""Register: path to asset. Bytes are kept before the row that names them; nothing is decoded.

Small files are committed in groups; a file that shows no sign of change costs one ``stat``.
"""

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muniment.adapters.formats.sniff import SNIFFER_VERSION
from muniment.pipeline.stages.admission import FORGOTTEN, Admission
from muniment.pipeline.stages.bounds import Bounds
from muniment.pipeline.stages.capture import RANKS, time_in_name, time_of_change
from muniment.pipeline.stages.run import Run
from muniment.pipeline.stages.sniffing import type_of
from muniment.pipeline.stages.walk import Found, Left, Missing, Walked
from muniment.store.assets import Stat, Taken, take_file, take_stream
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from muniment.store.ports import AssetStore

GROUP_FILES = 256
GROUP_BYTES = 8 * 1024 * 1024
GROUP_SECONDS = 1.0


@dataclass(slots=True)
class Registration:
    """The files of one command on their way into the ledger."""

    run: Run
    source: str = "folder"
    origin: str = "external"
    dry_run: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    _waiting: list[tuple[bytes, Taken]] = field(default_factory=list)
    _bytes: int = 0
    _since: float = 0.0
    _planned: set[str] = field(default_factory=set)

    def take(self, walked: Iterable[Walked]) -> None:
        """Register every file; one that can't be read is noted and the rest go on."""
        tally = self.run.tally
        for item in walked:
            if self.run.out_of_time:
                tally.warnings.append(self.run.ending)
                break
            if isinstance(item, Left):
                tally.skip(item.path, item.reason)
            elif isinstance(item, Missing):
                tally.fail(item.path, "register", item.code, item.message)
            else:
                self._file(item)
            self.run.progress.advance()
        self._flush()

    def _file(self, found: Found) -> None:
        tally = self.run.tally
        tally.add("scanned")
        reason = self.bounds.leaves_out(found.path)
        if reason is not None:
            tally.skip(found.path, reason)
            return
        try:
            known = self._unchanged(found.path)
            if known is not None and not self._is_hidden(known):
                tally.add("unchanged")
                return
            if known is not None and not self.run.allow_forgotten:
                tally.skip(found.path, FORGOTTEN)
                return
            taken = take_file(found.path, self.kept, self.run.scratch)
        except InputError as error:
            if error.status == "skipped":
                tally.skip(found.path, error.code)
            else:
                tally.fail(found.path, "register", error.code, error.message)
            return
        self._add(found.path, taken)

    @property
    def kept(self) -> "AssetStore | None":
        """Where large bytes are kept; null when nothing is to be written."""
        return None if self.dry_run else self.run.ledger.assets.store

    def take_text(self, name: bytes, taken: Taken) -> None:
        """Register bytes that came from elsewhere than a file, under a name made for them."""
        self._add(name, taken)
        self._flush()

    def _unchanged(self, path: bytes) -> str | None:
        """Return the asset of a file that shows no sign of change."""
        try:
            stat = Stat.of(os.stat(path))  # noqa: PTH116 (a name is bytes here)
        except OSError:
            return None  # taking it says what is wrong
        return self.run.ledger.assets.unchanged(path, stat, self.source, self.origin)

    def _is_hidden(self, asset: str) -> bool:
        return self.run.ledger.tombstones.hides(asset)

    def _plan(self, path: bytes, taken: Taken) -> None:
        if not self.run.allow_forgotten and Admission(self.run.ledger).is_forgotten(taken.asset):
            self.run.tally.skip(path, FORGOTTEN)
            return
        known = taken.asset in self._planned or self.run.ledger.assets.number(taken.asset)
        self._planned.add(taken.asset)
        self.run.tally.add("duplicates" if known else "registered")

    def _add(self, path: bytes, taken: Taken) -> None:
        if self.dry_run:
            self._plan(path, taken)
            return
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append((path, taken))
        self._bytes += len(taken.data or b"")
        full = len(self._waiting) >= GROUP_FILES or self._bytes >= GROUP_BYTES
        if full or time.monotonic() - self._since > GROUP_SECONDS:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        today = datetime.now(UTC)
        counts = dict.fromkeys(("registered", "duplicates", "unchanged"), 0)
        admission = Admission(self.run.ledger, allow=self.run.allow_forgotten)
        with self.run.ledger.unit():
            for path, taken in self._waiting:
                if admission.admits_asset(taken.asset):
                    counts[self._row(path, taken, today)] += 1
                else:
                    self.run.tally.skip(path, FORGOTTEN)
        admission.discard()
        for name, count in counts.items():
            self.run.tally.add(name, count)
        self._waiting.clear()
        self._bytes = 0

    def _row(self, path: bytes, taken: Taken, today: datetime) -> str:
        """Write the rows of one file; return what it counts as."""
        ledger = self.run.ledger
        name = os.path.basename(path).decode("utf-8", "replace")  # noqa: PTH119
        number, new = ledger.assets.add(taken)
        if new:
            kind = type_of(ledger, taken, name)
            ledger.assets.add_type(number, kind.media_type, kind.family, SNIFFER_VERSION)
        seen = ledger.assets.see(
            (number, taken.asset), path, source=self.source, origin=self.origin,
            size=taken.size, run=self.run.id, stat=taken.stat,
        )  # fmt: skip
        if seen:
            self._times(number, name, taken, today)
        return "registered" if new else "duplicates" if seen else "unchanged"

    def _times(self, number: int, name: str, taken: Taken, today: datetime) -> None:
        told = {"file_name": (time_in_name(name, today), 0.6)}
        if taken.stat is not None:
            told["mtime"] = (time_of_change(taken.stat.mtime_ns), 0.3)
        for source, (moment, confidence) in told.items():
            if moment is not None:
                self.run.ledger.evidence.add_time(number, moment, source, RANKS[source], confidence)


def text_from_stdin(registration: Registration) -> None:
    """Register what stands on standard input as one text."""
    taken = take_stream(sys.stdin.buffer, registration.kept, registration.run.scratch)
    registration.run.tally.add("scanned")
    registration.take_text(b"stdin:" + taken.asset.encode(), taken)
