"""The receipt of a hard forget: what was erased by kind and count, and what looking again found.

No content is in it, and no name of what went.
"""

from typing import TYPE_CHECKING, Any

from muniment.pipeline.forgetting.copies import Copies, Wanted, copies
from muniment.pipeline.forgetting.erasing import Erased
from muniment.store.errors import NotFoundError
from muniment.store.times import now

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

_MOST_SHOWN = 200
_MOST_ASKED = 5


def receipt(session: "Session", erased: Erased, wanted: Wanted) -> dict[str, Any]:
    """Look for what was erased on every reading path, and put the answer together."""
    reading = _read_paths(session, erased)
    clean = not erased.scan.hits and not any(reading.values())
    something = erased.tombstone is not None or erased.resumed
    holding, unread = copies(session, erased, wanted) if something else Copies([], [])
    return {
        "status": "erased" if erased.tombstone else "resumed" if erased.resumed else "unchanged",
        "mode": "hard",
        "tombstone": erased.tombstone,
        "scope": session.workspace().scope.as_dict(),
        "at": now(),
        "erased": None if erased.plan is None else erased.plan.as_dict(),
        "resumed": erased.resumed,
        "checks": {
            "looked_for": erased.samples.as_dict(),
            "read_paths": reading,
            "files": erased.scan.files,
            "bytes": erased.scan.bytes,
            "still_in": erased.scan.hits,
        },
        "clean": clean,
        "backups": holding,
        "backups_unread": unread,
        "dry_run": False,
    }


def _read_paths(session: "Session", erased: Erased) -> dict[str, int]:
    """Count what each reading path still gives out of it; 0 everywhere is right."""
    from muniment.pipeline.objects import describe
    from muniment.pipeline.recalling import answer
    from muniment.pipeline.refs import Ref

    found = dict.fromkeys(("show", "list", "recall"), 0)
    with session.workspace().reading() as ledger:
        for kind, identity in erased.samples.refs[:_MOST_SHOWN]:
            try:
                describe(ledger, Ref(kind, identity))
            except NotFoundError:
                continue
            found["show"] += 1
        for passage in erased.samples.passages:
            found["list"] += _listed(ledger.database, passage)
    for passage in erased.samples.passages[:_MOST_ASKED]:
        pack, _ = answer(session, passage, {"token_budget": 4_000})
        found["recall"] += _told(pack, passage)
    return found


def _listed(database: Any, passage: str) -> int:
    statements = (
        "SELECT count(*) FROM observation WHERE instr(text, ?1)",
        "SELECT count(*) FROM record_now WHERE instr(text, ?1)",
        "SELECT count(*) FROM candidate_now WHERE instr(text, ?1)",
        "SELECT count(*) FROM episode_now WHERE instr(gist, ?1) OR instr(title, ?1)",
        "SELECT count(*) FROM entity_name_now WHERE instr(name, ?1)",
    )
    return sum(int(database.execute(one, (passage,)).fetchone()[0]) for one in statements)


def _told(pack: dict[str, Any], passage: str) -> int:
    items = [item["text"] for section in pack["sections"] for item in section["items"]]
    quotes = [citation["quote"] for citation in pack["citations"]]
    return sum(passage in text for text in (*items, *quotes))
