"""``muniment list``."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command
from muniment.store.ids import record_ref
from muniment.store.ledger.shown import CANDIDATE, RECORD

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

KINDS = (
    "assets", "observations", "episodes", "candidates", "records", "sessions", "runs",
    "tombstones", "entities", "topics", "duplicates",
)  # fmt: skip


@command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--status", help="Only candidates, records, episodes or sessions so.")
@click.option("--family", help="Only assets of this family, such as image or chat.")
@click.option("--observation-kind", help="Only observations of this kind, such as ocr.")
@click.option("--entity-kind", help="Only entities of this kind, such as person or place.")
@click.option(
    "--asset", metavar="REF", help="Only what rests on this asset (sha256:... or a path)."
)
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, a summary last.")
def list_objects(session: Session, kind: str, jsonl: bool, **wanted: Any) -> None:
    """List objects of one kind."""
    from itertools import islice

    from muniment.pipeline.output import to_json, write

    with session.workspace().reading() as ledger:
        found = islice(_objects(ledger, kind, wanted), wanted["limit"])
        if jsonl:
            count = 0
            for count, item in enumerate(found, start=1):  # noqa: B007 (counted for the summary)
                write(sys.stdout, to_json(item) + "\n")
            write(sys.stdout, to_json({"type": "summary", "count": count}) + "\n")
            return
        items = list(found)
        document = {"kind": kind, "count": len(items), "items": items}
        session.output.answer(document, "\n".join(map(_line, items)))


def _objects(ledger: "Ledger", kind: str, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from _LISTERS[kind](ledger, wanted)


def _assets(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    family = wanted["family"]
    where = ("a.family = ?", (family,)) if family else ("1", ())
    for row in ledger.assets.rows(*where):
        fields = row._asdict()
        fields.pop("seq")
        attempts = ledger.attempts.latest(row.seq)
        yield {
            "ref": row.id,
            **fields,
            "attempts": {attempt["reader"]: attempt["status"] for attempt in attempts},
            "reasons": {a["reader"]: a["code"] for a in attempts if a["code"]},
        }


def _observations(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from muniment.pipeline.objects import observation_document
    from muniment.pipeline.refs import resolve

    where, values = ["1"], []
    if wanted["observation_kind"]:
        where.append("o.kind = ?")
        values.append(wanted["observation_kind"])
    if wanted["asset"]:
        where.append("a.id = ?")
        values.append(resolve(ledger, wanted["asset"]).id)
    for row in ledger.evidence.live(" AND ".join(where) + " ORDER BY o.seq", tuple(values)):
        yield {"ref": f"observation:{row.id}", **observation_document(ledger, row)}


def _episodes(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    status = wanted["status"] or "open"
    for found in ledger.episodes.all("e.status = ?", (status,)):
        yield {"ref": f"episode:{found['id']}", **found}


def _candidates(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    status = wanted["status"]
    where = f"{CANDIDATE} AND (?1 IS NULL OR c.status = ?1) ORDER BY c.seq"
    for found in ledger.memory.candidates(where, (status,)):
        yield {"ref": f"candidate:{found['id']}", **found}


def _records(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    status = wanted["status"] or "active"
    # Who asks for what is hidden looks for what to bring back.
    shown = "1" if status == "invalidated" else RECORD
    where = f"{shown} AND r.status = ? ORDER BY r.version_seq"
    for found in ledger.memory.records(where, (status,)):
        yield {"ref": record_ref(found), **found}


def _runs(ledger: "Ledger", _wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for found in ledger.attempts.runs():
        yield {"ref": f"run:{found['id']}", **found}


def _tombstones(ledger: "Ledger", _wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for found in ledger.tombstones.all():
        yield {"ref": f"tombstone:{found['id']}", **found}


def _entities(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from muniment.pipeline.entities.documents import listing

    return listing(ledger, wanted["entity_kind"])


def _topics(ledger: "Ledger", _wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from muniment.pipeline.entities.topics import topics

    for found in topics(ledger):
        yield {"ref": f"topic:{found['id']}", **found}


def _duplicates(ledger: "Ledger", _wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from muniment.pipeline.duplicates import groups

    yield from groups(ledger)


def _sessions(ledger: "Ledger", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from muniment.pipeline.agent.sessions import summary

    status = wanted["status"]
    where = ("s.status = ?", (status,)) if status else ("1", ())
    for state in ledger.sessions.all(*where):
        yield summary(ledger, state)


_LISTERS = {
    "assets": _assets,
    "observations": _observations,
    "episodes": _episodes,
    "candidates": _candidates,
    "records": _records,
    "sessions": _sessions,
    "runs": _runs,
    "tombstones": _tombstones,
    "duplicates": _duplicates,
    "entities": _entities,
    "topics": _topics,
}


def _line(item: dict[str, Any]) -> str:
    from muniment.pipeline.output import printable

    words = (item.get(name) for name in ("title", "text", "name", "label", "command"))
    told = next(filter(None, words), "")
    states = (item.get(name) for name in ("reason", "status", "mode", "kind", "family"))
    state = next(filter(None, states), "")
    return printable(f"{item['ref']}  {state}  {' '.join(told.split())[:100]}", one_line=True)
