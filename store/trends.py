"""How a scope grew: what was captured, kept and held true, month by month; reads only."""

from collections.abc import Iterable
from typing import Any

from muniment.store import access
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger

_CAPTURED = (
    "SELECT substr(c.sort, 1, 7), a.family, count(*) FROM capture_now c "
    "JOIN asset_now a ON a.seq = c.asset GROUP BY 1, 2 ORDER BY 1, 2"
)
_RECORDED = (
    "SELECT substr(r.created_at, 1, 7), n.kind, count(*) FROM record r JOIN record_now n "
    "ON n.record = r.seq AND n.version = (SELECT max(version) FROM record_version "
    "WHERE record = r.seq) GROUP BY 1, 2 ORDER BY 1, 2"
)
_SOURCES = "SELECT source, count(DISTINCT asset) FROM sighting GROUP BY source ORDER BY 2 DESC, 1"
_GROWTH = "SELECT substr(created_at, 1, 10), count(*), sum(size) FROM asset GROUP BY 1 ORDER BY 1"


def trends(root: Root, scope: Scope) -> dict[str, Any]:
    """Return the series of a scope.

    ``media`` and ``memories`` count by month and kind, media by the time of capture, memories by
    the time of the first version. ``sources`` counts assets. ``growth`` holds one row a day with
    totals up to its end, in bytes. ``recalls`` are the last ones, in milliseconds.
    """
    with Ledger.read(root, scope) as ledger, ledger.snapshot():
        database = ledger.database
        return {
            "media": _by_month(database.execute(_CAPTURED)),
            "memories": _by_month(database.execute(_RECORDED)),
            "sources": dict(database.execute(_SOURCES)),
            "growth": _running(database.execute(_GROWTH)),
            "recalls": [
                {"at": at, "milliseconds": round(taken, 2)}
                for at, taken in access.durations(ledger.paths.access)
            ],
        }


def _by_month(rows: Iterable[tuple[Any, ...]]) -> dict[str, dict[str, int]]:
    months: dict[str, dict[str, int]] = {}
    for month, kind, count in rows:
        months.setdefault(str(month), {})[str(kind)] = int(str(count))
    return months


def _running(rows: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    assets = size = 0
    days = []
    for day, count, added in rows:
        assets += int(str(count))
        size += int(str(added))
        days.append({"day": str(day), "assets": assets, "bytes": size})
    return days
