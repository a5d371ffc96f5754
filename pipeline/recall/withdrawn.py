"""What observations say that answers no more: corrected since, or said to be a record that is not.

A statement was made to be its records, so it answers while one of them does.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from muniment.store.ledger.lookup import Lookup
from muniment.store.ledger.readings import Readings
from muniment.store.rows import ObservationRow

Spans = dict[str, list[tuple[int, int]]]


def withdrawn(
    readings: Readings,
    lookup: Lookup,
    rows: Mapping[str, ObservationRow],
    stating: AbstractSet[str],
    is_in_force: Callable[[dict[str, Any]], bool],
) -> Spans:
    """Return the places of such words, by the ids of the observations that hold them.

    ``stating`` are the producers of statements.
    """
    found = readings.corrected(rows)
    stated = {key for key, row in rows.items() if row.producer in stating}
    if stated:
        for key, spans in _without_record(lookup, stated, is_in_force).items():
            found.setdefault(key, []).extend(spans)
    return found


def _without_record(
    lookup: Lookup, stated: set[str], is_in_force: Callable[[dict[str, Any]], bool]
) -> Spans:
    held: Spans = {key: [] for key in stated}
    lost: Spans = {key: [] for key in stated}
    for version in lookup.resting_on(stated):
        spans = held if is_in_force(version) else lost
        for item in version["evidence"]:
            if item["observation"] in stated:
                spans[item["observation"]].append((item["start"], item["end"]))
    return {
        key: [span for span in spans if not any(_overlap(span, other) for other in held[key])]
        for key, spans in lost.items()
    }


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
