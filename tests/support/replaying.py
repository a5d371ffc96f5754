"""What was known at a time, by the plainest means: every change up to then, replayed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from muniment.pipeline.memory.facts import Version


@dataclass(frozen=True, slots=True)
class Change:
    """A recorded change of one version's state."""

    record: str
    version: int
    status: str
    end: str | None
    at: str


def as_known(
    versions: Iterable[Version], changes: Iterable[Change], known_at: str
) -> list[Version]:
    """Return the versions as the ledger had them at an instant: a replay of the changes till then.

    ``changes`` come in the order they were recorded; a version without one by then was not known.
    """
    latest: dict[tuple[str, int], Change] = {}
    for change in changes:
        if change.at <= known_at:
            latest[change.record, change.version] = change
    return [
        replace(one, status=state.status, end=state.end)
        for one in versions
        if (state := latest.get((one.record, one.version))) is not None
    ]
