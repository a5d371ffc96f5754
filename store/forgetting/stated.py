"""Statements that were made to be a claim: they are hidden with it, and come back with it."""

import apsw

from muniment.store.database import rows
from muniment.store.forgetting.plan import numbers
from muniment.store.forgetting.selection import Selection, as_json

_STATEMENT = "o.producer IN (SELECT seq FROM producer WHERE role = 'statement')"
_BEHIND = """
SELECT e.observation FROM record_version v JOIN record_evidence e ON e.version = v.seq
WHERE v.record IN (SELECT value FROM json_each(?1))
UNION SELECT e.observation FROM candidate_now c JOIN candidate_evidence e ON e.candidate = c.seq
WHERE c.seq IN (SELECT value FROM json_each(?2)) AND c.status = ?3
"""
# The same words said at another time go with them, unless another record rests on those.
_STATED = f"""
SELECT o.seq, o.asset FROM observation o WHERE {_STATEMENT}
AND o.asset IN (SELECT o.asset FROM observation o WHERE {_STATEMENT} AND o.seq IN ({_BEHIND}))
AND NOT EXISTS (SELECT 1 FROM record_evidence e JOIN record_now r ON r.version_seq = e.version
  WHERE e.observation = o.seq AND r.status NOT IN ('revoked', 'invalidated')
  AND r.record NOT IN (SELECT value FROM json_each(?1)))
"""
_WHOLE = """
SELECT a.seq FROM asset_now a WHERE a.family = 'statement'
AND a.seq IN (SELECT value FROM json_each(?1)) AND NOT EXISTS (SELECT 1 FROM observation o
  WHERE o.asset = a.seq AND o.seq NOT IN (SELECT value FROM json_each(?2)))
"""
_HIDDEN = f"""
SELECT o.seq, o.asset FROM observation o WHERE {_STATEMENT} AND o.seq IN ({_BEHIND})
"""
_FORGOTTEN = """
SELECT m.{kind} FROM tombstone_member m WHERE m.{kind} IN (SELECT value FROM json_each(?))
AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq)
"""


def add_statements(database: apsw.Connection, selection: Selection) -> None:
    """Add what was said to be the selected claims, and is no other record's evidence."""
    claims = (as_json(selection.records), as_json(selection.candidates), "pending")
    found = list(rows(database, _STATED, claims))
    said, assets = {seq for seq, _ in found}, {asset for _, asset in found}
    selection.observations |= said
    selection.assets.update(numbers(database, _WHOLE, (as_json(assets), as_json(said))))


def add_hidden_statements(database: apsw.Connection, selection: Selection) -> None:
    """Add what was said to be those of the selected claims that are forgotten."""
    records, candidates = (
        as_json(numbers(database, _FORGOTTEN.format(kind=kind), (as_json(chosen),)))
        for kind, chosen in (("record", selection.records), ("candidate", selection.candidates))
    )
    for seq, asset in rows(database, _HIDDEN, (records, candidates, "rejected")):
        selection.observations.add(seq)
        selection.assets.add(asset)
