"""What kept bytes are, from their first and last kilobytes; the name is only a hint."""

import contextlib

from muniment.adapters import registry
from muniment.adapters.formats.sniff import (
    HEAD_BYTES,
    SNIFFER_VERSION,
    TAIL_BYTES,
    Sniffed,
    sniff,
)
from muniment.pipeline.stages.run import Run
from muniment.store.assets import Taken
from muniment.store.errors import DamageError
from muniment.store.ids import digest
from muniment.store.ledger import Ledger
from muniment.store.records import Producer
from muniment.store.rows import AssetRow

STAGE = "sniff"
_BATCH = 500


def type_of(ledger: Ledger, taken: Taken, name: str) -> Sniffed:
    """Sniff bytes that are kept already."""
    if taken.data is not None:
        return sniff(taken.data, taken.data[-TAIL_BYTES:], taken.size, name)
    start = max(0, taken.size - TAIL_BYTES)
    tail = ledger.assets.store.read(taken.asset, start, TAIL_BYTES)
    return sniff(taken.head, tail, taken.size, name)


def sniff_again(run: Run, stage: str, apart: frozenset[str]) -> None:
    """Look anew at what an older sniffer named; a reader that it was wrongly given to is retired.

    ``stage`` is that of the readers, ``apart`` the families that none of them reads.
    """
    attempts, assets = run.ledger.attempts, run.ledger.assets
    after, last = attempts.mark(STAGE, SNIFFER_VERSION), assets.newest()
    while old := assets.sniffed_otherwise(SNIFFER_VERSION, apart, after, _BATCH):
        after = old[-1].seq
        with run.ledger.unit():
            for row in old:
                with contextlib.suppress(DamageError, OSError):  # verify tells of lost bytes
                    _sniff_one(run, row, stage)
    if last > after or last > attempts.mark(STAGE, SNIFFER_VERSION):
        with run.ledger.unit():
            attempts.set_mark(STAGE, last, SNIFFER_VERSION)


def _sniff_one(run: Run, row: AssetRow, stage: str) -> None:
    found = type_of(run.ledger, _kept(run.ledger, row), row.name)
    run.ledger.assets.add_type(row.seq, found.media_type, found.family, SNIFFER_VERSION)
    if found.family != row.family:
        _retire(run, row.seq, found.family, stage)


def _kept(ledger: Ledger, row: AssetRow) -> Taken:
    if row.storage == "inline":
        data = ledger.assets.inline_bytes(row.seq)
        return Taken(row.id, row.size, data, data)
    return Taken(row.id, row.size, None, ledger.assets.store.read(row.id, 0, HEAD_BYTES))


def _retire(run: Run, asset: int, family: str, stage: str) -> None:
    """Let nothing of readers that don't read this family count any longer."""
    attempts = run.ledger.attempts
    fit = {reader.name for reader in registry.readers() if family in reader.families}
    stale = [(kind, role) for kind, role, reader in attempts.covered(asset) if reader not in fit]
    if not stale:
        return
    attempt = attempts.add(
        asset, stage, "none", digest(STAGE, SNIFFER_VERSION), status="skipped",
        code="sniffed_anew", message=f"it is known to be of the {family} family", run=run.id,
    )  # fmt: skip
    covered = []
    for kind, role in stale:
        nobody = Producer(adapter=STAGE, version=SNIFFER_VERSION, role=role)
        covered.append((kind, role, run.ledger.evidence.producer(nobody)[0]))
    attempts.cover(asset, attempt, covered)
