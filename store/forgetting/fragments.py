"""Unfinished voice fragments in a forget: those that an utterance replaced go with it."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import apsw

from muniment.store.database import rows

if TYPE_CHECKING:
    from muniment.store.forgetting.selection import Wanted

_UNTIL = """
SELECT f.seq FROM event e JOIN event f ON f.session = e.session AND f.fragment IS NOT NULL
AND f.seq < e.seq AND f.seq > coalesce((SELECT max(p.seq) FROM event p
  WHERE p.session = e.session AND p.spoken AND p.asset IS NOT NULL AND p.seq < e.seq), 0)
WHERE e.spoken AND e.asset IN ({assets})
"""

# A time as the host wrote it, as an instant; one without a zone counts as UTC here.
_MEETING = """
SELECT e.seq FROM event e JOIN session s ON s.seq = e.session WHERE e.fragment IS NOT NULL
AND (?1 = '[]' OR json_extract(e.fragment, '$.author') IN (SELECT value FROM json_each(?1)))
AND (?2 IS NULL OR s.id = ?2)
AND (?3 IS NULL OR coalesce(strftime('%Y-%m-%dT%H:%M:%f000Z', e.occurred), e.at) >= ?3)
AND (?4 IS NULL OR coalesce(strftime('%Y-%m-%dT%H:%M:%f000Z', e.occurred), e.at) < ?4)
"""


def replaced_by(assets: str) -> str:
    """Return the subquery of the fragments that utterances replaced; ``assets`` selects theirs."""
    return _UNTIL.format(assets=assets)


def fragments_among(
    database: apsw.Connection, events: Iterable[int], assets: Iterable[int],
    observations: Iterable[int],
) -> set[int]:  # fmt: skip
    """Return the fragments that events are, and those that assets or observations replaced."""
    utterances = (
        "SELECT value FROM json_each(?2) UNION SELECT o.asset FROM observation o "
        "WHERE o.seq IN (SELECT value FROM json_each(?3))"
    )
    found = rows(
        database,
        "SELECT seq FROM event WHERE fragment IS NOT NULL "
        f"AND seq IN (SELECT value FROM json_each(?1)) UNION {replaced_by(utterances)}",
        tuple(json.dumps(sorted(numbers)) for numbers in (events, assets, observations)),
    )
    return {int(row[0]) for row in found}


def meeting(database: apsw.Connection, wanted: "Wanted") -> set[int]:
    """Return the fragments that meet every condition."""
    values = (json.dumps(list(wanted.authors)), wanted.session, wanted.since, wanted.until)
    return {int(row[0]) for row in rows(database, _MEETING, values)}
