"""How assets stand to each other: sidecars, halves of a live photo, media that a message names."""

import json
from typing import Any

import apsw

from muniment.store.ids import canonical_text
from muniment.store.times import now


class Links:
    """The links of a ledger; a link says something of two assets and changes neither."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def add(self, asset: int, other: int, relation: str, basis: dict[str, Any]) -> bool:
        """Link an asset to what it was found to belong with; return whether that is new."""
        before = self._database.total_changes()
        self._database.execute(
            "INSERT INTO link (asset, other, relation, basis, at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (asset, other, relation, canonical_text(basis), now()),
        )
        return self._database.total_changes() > before

    def of(self, asset: str) -> list[dict[str, Any]]:
        """Return the links of an asset from both sides; one to what is hidden is left out."""
        rows = self._database.execute(
            "SELECT o.id, l.relation, 'out', l.basis, l.seq FROM link l "
            "JOIN asset a ON a.seq = l.asset JOIN asset_now o ON o.seq = l.other WHERE a.id = ?1 "
            "UNION ALL SELECT o.id, l.relation, 'in', l.basis, l.seq FROM link l "
            "JOIN asset a ON a.seq = l.other JOIN asset_now o ON o.seq = l.asset WHERE a.id = ?1 "
            "ORDER BY 5",
            (asset,),
        )
        return [
            {"asset": other, "relation": relation, "direction": direction,
             "basis": json.loads(basis)}
            for other, relation, direction, basis, _ in rows
        ]  # fmt: skip
