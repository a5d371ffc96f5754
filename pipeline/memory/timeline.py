"""The history of facts, as rows for programs and in words for people."""

from collections.abc import Iterable
from typing import Any

from muniment.store.ids import record_ref
from muniment.store.ledger import Ledger
from muniment.store.ledger.shown import RECORD
from muniment.store.times import sort_key

_FIRST = "0001-01-01T00:00:00.000000Z"
_CUT = {"year": 4, "month": 7, "day": 10, "hour": 13}
_MINUTE = 16
_EPISODES = 500


def history(ledger: Ledger, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return versions with everything that happened to each, oldest first."""
    found = []
    for row in rows:
        revisions = [
            {name: value for name, value in revision.items() if name != "version"}
            for revision in ledger.memory.revisions(row["id"])
            if revision["version"] == row["version"]
        ]
        found.append(
            {
                "ref": record_ref(row),
                "subject": row["subject"],
                "key": row["key"],
                "value": row["value"],
                "text": row["text"],
                "kind": row["kind"],
                "status": row["status"],
                "valid_at": row["valid_at"],
                "invalid_at": row["invalid_at"],
                "recorded_at": row["recorded_at"],
                "pinned": row["pinned"],
                "evidence": row["evidence"],
                "supporters": ledger.memory.supporters(row["version_seq"]),
                "links": ledger.memory.links(row["id"]),
                "revisions": revisions,
            }
        )
    return found


def rows_about(ledger: Ledger, name: str) -> list[dict[str, Any]]:
    """Return the versions of a key, of a family of keys, or of a subject, in order of validity."""
    folded = name.strip()
    rows = ledger.memory.records(
        f"{RECORD} AND (r.key = ?1 OR r.key LIKE ?2 ESCAPE '\\' OR r.subject = ?1 COLLATE NOCASE)",
        (folded, _escaped(folded) + ":%"),
    )
    return sorted(rows, key=lambda row: (row["valid_sort"] or "", row["version_seq"]))


def versions_shown(ledger: Ledger, record: str) -> list[dict[str, Any]]:
    """Return the versions of a record that may be shown, oldest first."""
    return list(ledger.memory.records(f"{RECORD} AND r.id = ? ORDER BY r.version", (record,)))


def timeline(
    rows: Iterable[dict[str, Any]], *, before: str | None = None, after: str | None = None
) -> list[dict[str, Any]]:
    """Return what held when, in order of validity; what was taken back is left out.

    ``before`` keeps what began earlier, ``after`` what held at or after it.
    """
    spans: list[dict[str, Any]] = []
    for row in rows:
        start, end = row["valid_sort"] or _FIRST, sort_key(row["invalid_at"])
        if row["status"] in {"revoked", "invalidated"} or (end is not None and end <= start):
            continue
        if (before and start >= before) or (after and end is not None and end <= after):
            continue
        spans.append(
            {
                "ref": record_ref(row),
                "kind": row["kind"],
                "subject": row["subject"],
                "key": row["key"],
                "value": row["value"],
                "text": row["text"],
                "from": row["valid_at"],
                "until": row["invalid_at"],
                "status": row["status"],
                "words": in_words(row),
            }
        )
    return spans


def episodes_between(
    ledger: Ledger, *, before: str | None = None, after: str | None = None
) -> list[dict[str, Any]]:
    """Return the episodes of a stretch of time, in order."""
    spans = []
    for episode in ledger.episodes.all("e.status = ?", ("open",)):
        start = sort_key(episode["start"])
        if start is None or (before and start >= before) or (after and start < after):
            continue
        spans.append(
            {
                "ref": f"episode:{episode['id']}",
                "kind": "episode",
                "subject": None,
                "key": None,
                "value": None,
                "text": episode["title"],
                "from": episode["start"],
                "until": episode["end"],
                "status": episode["status"],
                "words": f"{day_words(episode['start'])}: {episode['title']}",
            }
        )
    return sorted(spans, key=lambda span: sort_key(span["from"]) or "")[-_EPISODES:]


def in_words(row: dict[str, Any]) -> str:
    """Write one interval as a person would.

    >>> day = {"utc": "2024-05-01T00:00:00.000000Z", "local": None, "precision": "day"}
    >>> row = {"key": "home", "value": "Rome", "text": "", "subject": "user"}
    >>> in_words({**row, "valid_at": day, "invalid_at": None, "status": "active"})
    'since 2024-05-01: home = Rome'
    """
    start, end = day_words(row["valid_at"]), day_words(row["invalid_at"])
    when = f"{start} to {end}" if end else f"since {start}" if start else "always"
    who = "" if row["subject"] in (None, "user") else f"{row['subject']}: "
    what = f"{row['key']} = {row['value']}" if row["key"] and row["value"] else row["text"]
    note = {"conflicted": " (in conflict)", "archived": " (archived)"}.get(row["status"], "")
    return f"{when}: {who}{what}{note}"


def day_words(moment: dict[str, Any] | None) -> str:
    """Write a moment as exactly as it is known, to the minute at most."""
    if moment is None:
        return ""
    text = str(moment.get("local") or moment["utc"]).rstrip("Z")
    cut = text[: _CUT.get(moment.get("precision") or "", _MINUTE)].replace("T", " ")
    return cut.removesuffix(" 00:00")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
