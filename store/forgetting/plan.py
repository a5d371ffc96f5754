"""Everything that goes with a selection, as a set of rows; nothing of the ledger is written.

The set grows until nothing more follows: rows that point at what goes, what was made from it,
claims that quote it, episodes that tell of it. A file that holds a part of it and something else
is *reduced*: its bytes go, and the text that was read of the rest takes their place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import apsw

from muniment.store.database import number, rows
from muniment.store.forgetting.fragments import replaced_by
from muniment.store.forgetting.going import going
from muniment.store.forgetting.reports import carrying
from muniment.store.forgetting.selection import Selection

# A file made smaller is read by no reader; what was read of it before stays.
REDUCED_FAMILY = "redacted"
_STATEMENT = "statement"
_LEAST_QUOTED = 12  # characters; shorter texts stand in other ones by chance

_TABLES = """
CREATE TEMP TABLE IF NOT EXISTS going (tbl TEXT, seq INTEGER, PRIMARY KEY (tbl, seq)) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS reduced (seq INTEGER PRIMARY KEY);
DELETE FROM temp.going;
DELETE FROM temp.reduced;
"""


class Reference(NamedTuple):
    """A column that points at another table's ``seq``; ``numbered`` rows have a ``seq`` too."""

    table: str
    column: str
    target: str
    numbered: bool


# These do not take their row along: another candidate may stand in, another event comes before.
REPOINTED = {("record_version", "candidate"), ("session_state", "dropped")}


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes, by table; the rows themselves stand in ``temp.going`` of the connection."""

    counts: dict[str, int]
    reduced: int
    files: int
    bytes: int
    seen_elsewhere: int

    def as_dict(self) -> dict[str, Any]:
        """Return the plan by kind and count."""
        kinds = {
            "observation",
            "episode",
            "candidate",
            "record",
            "event",
            "session",
            "checkpoint",
            "persona",
        }
        shown = {f"{kind}s": self.counts.get(kind, 0) for kind in sorted(kinds)}
        shown["entities"] = self.counts.get("entity", 0)
        return {
            "assets": self.counts.get("asset", 0), **shown,
            "sightings": self.counts.get("sighting", 0), "reduced": self.reduced,
            "files": self.files, "bytes": self.bytes, "seen_elsewhere": self.seen_elsewhere,
        }  # fmt: skip


def plan(database: apsw.Connection, selection: Selection, *, keep_containers: bool = False) -> Plan:
    """Work out everything that goes with a selection, into ``temp.going`` and ``temp.reduced``."""
    database.execute(_TABLES)
    for table, numbers in selection.by_table().items():
        database.executemany(
            "INSERT OR IGNORE INTO temp.going VALUES (?, ?)", ((table, n) for n in numbers)
        )
    if selection.everything:
        _everything(database)
    known = references(database)
    size = -1
    while size != (size := _size(database)):
        for reference in known:
            _follow(database, reference)
        for statement in _rules(keep_containers=keep_containers):
            database.execute(statement)
    database.executemany(
        "INSERT INTO temp.going VALUES ('checkpoint', ?)", [(one,) for one in carrying(database)]
    )
    return _counted(database, len(selection.personas))


def inside_of(database: apsw.Connection, assets: set[int]) -> set[int]:
    """Return assets with what is inside of them and nowhere else."""
    database.execute(_TABLES)
    database.executemany(
        "INSERT OR IGNORE INTO temp.going VALUES ('asset', ?)", [(one,) for one in assets]
    )
    size = -1
    while size != (size := _size(database)):
        database.execute(f"INSERT OR IGNORE INTO temp.going SELECT 'asset', * FROM ({_DERIVED})")
    return set(numbers(database, f"SELECT * FROM {_PARTS}"))


def references(database: apsw.Connection) -> list[Reference]:
    """Return every reference between the tables, read from the schema itself."""
    found = []
    for (table,) in rows(
        database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ):
        columns = {row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)",
                                                      (table,))}  # fmt: skip
        for target, column, to in database.execute(
            'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (table,)
        ):
            if to == "seq" and (table, column) not in REPOINTED:
                found.append(Reference(table, column, target, "seq" in columns))
    return found


def _everything(database: apsw.Connection) -> None:
    """Add what belongs to the scope as a whole and to no single object."""
    for table in ("own_name", "checkpoint", "model_call", "consolidation", "proposal_attempt"):
        database.execute(f"INSERT OR IGNORE INTO temp.going SELECT '{table}', seq FROM {table}")


def _follow(database: apsw.Connection, reference: Reference) -> None:
    if reference.numbered:
        table, column, target, _ = reference
        database.execute(
            f"INSERT OR IGNORE INTO temp.going SELECT '{table}', seq FROM {table} "
            f"WHERE {column} IN {going(target)}"
        )


def _rules(*, keep_containers: bool) -> Iterator[str]:
    """Yield what follows from what goes by meaning, not by a reference."""
    for table, statements in _FOLLOWING.items():
        for statement in statements:
            yield f"INSERT OR IGNORE INTO temp.going SELECT '{table}', * FROM ({statement})"
    if not keep_containers:
        yield f"INSERT OR IGNORE INTO temp.reduced {_CONTAINERS}"
    yield f"INSERT OR IGNORE INTO temp.reduced {_TOUCHED}"
    yield f"DELETE FROM temp.reduced WHERE seq IN {going('asset')}"


_PARTS = f"{going('asset')}"
# What is inside of something that goes; a copy seen by itself, or inside of what stays, stays.
_DERIVED = f"""
SELECT d.asset FROM derivation d WHERE d.parent IN {_PARTS}
AND NOT EXISTS (SELECT 1 FROM derivation x WHERE x.asset = d.asset AND x.parent <> x.asset
  AND x.parent NOT IN {_PARTS})
AND NOT EXISTS (SELECT 1 FROM sighting s WHERE s.asset = d.asset
  AND (s.parent IS NULL OR s.parent NOT IN {_PARTS}))
"""
# What was made from the whole of a reduced file, or stands where a message was that goes.
_MADE = f"""
SELECT d.asset FROM derivation d JOIN temp.reduced r ON r.seq = d.parent
WHERE NOT EXISTS (SELECT 1 FROM sighting s WHERE s.asset = d.asset
  AND (s.parent IS NULL OR s.parent <> d.parent))
AND (NOT EXISTS (SELECT 1 FROM derivation x WHERE x.asset = d.asset AND x.observe)
  OR EXISTS (SELECT 1 FROM observation o WHERE o.asset = d.parent AND o.seq IN
    {going("observation")} AND json_extract(o.locator, '$.index') =
    json_extract(d.locator, '$.index')))
"""
# What holds a part of what goes in its own bytes.
_CONTAINERS = f"""
SELECT d.parent FROM derivation d WHERE d.asset IN {_PARTS} AND d.parent NOT IN {_PARTS}
UNION SELECT s.parent FROM sighting s WHERE s.asset IN {_PARTS} AND s.parent IS NOT NULL
  AND s.parent NOT IN {_PARTS}
UNION SELECT d.parent FROM derivation d JOIN temp.reduced r ON r.seq = d.asset
  WHERE d.parent NOT IN {_PARTS}
"""
_TOUCHED = f"""
SELECT DISTINCT o.asset FROM observation o WHERE o.seq IN {going("observation")}
AND o.asset NOT IN {_PARTS}
"""
# Of a reduced file no older reading stays; what is said of the file as a whole goes.
_SUPERSEDED = """
SELECT o.seq FROM observation o JOIN temp.reduced r ON r.seq = o.asset
WHERE o.kind = 'metadata' OR o.seq NOT IN (SELECT seq FROM observation_newest)
"""
_EMPTY = f"""
SELECT r.seq FROM temp.reduced r WHERE NOT EXISTS
  (SELECT 1 FROM observation o WHERE o.asset = r.seq AND o.seq NOT IN {going("observation")})
AND NOT EXISTS (SELECT 1 FROM derivation d WHERE d.parent = r.seq AND d.asset NOT IN {_PARTS})
"""
_QUOTING = f"SELECT candidate FROM candidate_evidence WHERE observation IN {going('observation')}"
# A claim that another candidate supports stays with that one's words.
_CLAIMED = f"""
SELECT v.record FROM record_version v WHERE v.candidate IN {going("candidate")}
AND NOT EXISTS (SELECT 1 FROM record_support s WHERE s.version = v.seq
  AND s.candidate NOT IN {going("candidate")})
"""
_LINEAGE = f"""
SELECT l.one FROM record_link l WHERE l.relation = 'corrects' AND l.other IN {going("record")}
UNION SELECT l.other FROM record_link l WHERE l.relation = 'corrects'
  AND l.one IN {going("record")}
"""
_BEHIND = f"""
SELECT v.candidate FROM record_version v WHERE v.record IN {going("record")}
UNION SELECT s.candidate FROM record_support s JOIN record_version v ON v.seq = s.version
  WHERE v.record IN {going("record")}
"""
# A statement was made to be that record: it has no other use.
_STATED = f"""
SELECT o.asset FROM record_version v JOIN record_evidence e ON e.version = v.seq
JOIN observation o ON o.seq = e.observation JOIN asset_type t ON t.asset = o.asset
WHERE v.record IN {going("record")} AND t.family = '{_STATEMENT}'
"""
# Any episode that it was ever a member of may have told of it; ids of what is moved change.
_TELLING = f"""
SELECT m.episode FROM episode_member m WHERE m.observation IN {going("observation")}
UNION SELECT m.episode FROM episode_member m JOIN observation o ON o.seq = m.observation
  JOIN temp.reduced r ON r.seq = o.asset
"""
_COVERING = f"""
SELECT c.seq FROM checkpoint c JOIN event e ON e.session = c.session
WHERE (e.seq IN {going("event")} OR e.asset IN (SELECT o.asset FROM record_version v
  JOIN record_evidence r ON r.version = v.seq JOIN observation o ON o.seq = r.observation
  WHERE v.record IN {going("record")}))
AND e.seq <= coalesce(c.last_event, e.seq) AND e.at <= c.at
"""
_REPORTING = f"""
SELECT c.seq FROM checkpoint c WHERE EXISTS (SELECT 1 FROM json_tree(c.state) j, observation o
  WHERE j.type = 'text' AND o.seq IN {going("observation")} AND length(o.text) >= {_LEAST_QUOTED}
  AND (instr(j.atom, o.text) OR (length(j.atom) >= {_LEAST_QUOTED} AND instr(o.text, j.atom))))
"""

# What an utterance replaced says the same before it was finished.
_REPLACED = replaced_by(f"SELECT * FROM {_PARTS} UNION SELECT seq FROM temp.reduced")
# A sidecar says things of its picture and of nothing else.
_ABOUT = f"SELECT other FROM link WHERE relation = 'sidecar' AND asset IN {_PARTS}"

# What the user said of another name repeats the name that it is told of.
_RENAMED = f"""
SELECT o.asset FROM entity_name n JOIN observation o ON o.seq = n.observation
WHERE n.via = 'user' AND n.entity IN (
  SELECT x.entity FROM entity_name x WHERE x.seq IN {going("entity_name")} AND x.via <> 'user'
  AND NOT EXISTS (SELECT 1 FROM entity_name y WHERE y.entity = x.entity
    AND y.folded = x.folded AND y.seq NOT IN {going("entity_name")}))
"""
# An entity is what it is called: without a name that stays there is none.
_NAMELESS = f"""
SELECT n.entity FROM entity_name n WHERE n.seq IN {going("entity_name")}
AND NOT EXISTS (SELECT 1 FROM entity_name x WHERE x.entity = n.entity
  AND x.seq NOT IN {going("entity_name")})
"""
# Files that nothing was read of have no words that a report could be compared with.
_UNREAD = f"""
WITH RECURSIVE told(asset) AS (
  SELECT o.asset FROM observation o WHERE o.seq IN {going("observation")} AND o.kind <> 'metadata'
  UNION SELECT d.parent FROM told t JOIN derivation d ON d.asset = t.asset)
SELECT count(*) FROM asset a WHERE a.seq IN {_PARTS} AND NOT a.derived
AND a.seq NOT IN (SELECT asset FROM told)
AND NOT EXISTS (SELECT 1 FROM link l WHERE l.other = a.seq AND l.relation = 'sidecar')
"""

_FOLLOWING: dict[str, tuple[str, ...]] = {
    "asset": (_DERIVED, _MADE, _EMPTY, _STATED, _ABOUT, _RENAMED),
    "observation": (_SUPERSEDED,),
    "candidate": (_QUOTING, _BEHIND),
    "record": (_CLAIMED, _LINEAGE),
    "episode": (_TELLING,),
    "event": (_REPLACED,),
    "checkpoint": (_COVERING, _REPORTING),
    "entity": (_NAMELESS,),
}


def _size(database: apsw.Connection) -> int:
    return number(
        database, "SELECT (SELECT count(*) FROM temp.going) + (SELECT count(*) FROM temp.reduced)"
    )


def _counted(database: apsw.Connection, personas: int) -> Plan:
    found = database.execute("SELECT tbl, count(*) FROM temp.going GROUP BY tbl ORDER BY tbl")
    touched = f"(seq IN {_PARTS} OR seq IN (SELECT seq FROM temp.reduced))"
    others = {"persona": personas, "unread": number(database, _UNREAD)}
    return Plan(
        counts={**dict(found), **{name: count for name, count in others.items() if count}},
        reduced=number(database, "SELECT count(*) FROM temp.reduced"),
        files=number(database, "SELECT count(*) FROM asset WHERE storage = 'file' "
                     f"AND {touched}"),
        bytes=number(database, f"SELECT sum(size) FROM asset WHERE {touched}"),
        seen_elsewhere=number(
            database,
            "SELECT count(*) FROM (SELECT asset FROM sighting WHERE asset IN "
            f"{_PARTS} GROUP BY asset HAVING count(DISTINCT path) > 1)",
        ),
    )  # fmt: skip


def numbers(database: apsw.Connection, statement: str, values: Iterable[Any] = ()) -> list[int]:
    """Return the one column of a statement as numbers."""
    return [int(row[0]) for row in database.execute(statement, tuple(values))]
