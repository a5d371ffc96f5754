"""Any object of a scope as a plain document, with its provenance."""

import json
from typing import Any

from muniment.pipeline.episodes import Span, overlapping
from muniment.pipeline.memory.timeline import versions_shown
from muniment.pipeline.output import path_fields
from muniment.pipeline.refs import Ref
from muniment.store.errors import NotFoundError
from muniment.store.ledger import Ledger
from muniment.store.ledger.shown import CANDIDATE
from muniment.store.rows import ObservationRow
from muniment.store.times import sort_key

# Where to look for an object, if not in a list of its kind.
_ELSEWHERE = {
    "entity": "list entities", "event": "list sessions", "persona": "persona show",
}  # fmt: skip


def describe(ledger: Ledger, ref: Ref) -> dict[str, Any]:
    """Return the object that a reference names."""
    found = _DESCRIBERS[ref.kind](ledger, ref)
    if found is None:
        raise NotFoundError(
            f"no {ref.kind} {ref.id} in this scope",
            hint=f"see: muniment {_ELSEWHERE.get(ref.kind, f'list {ref.kind}s')}",
        )
    return {"ref": str(ref), "object": ref.kind, **found}


def _asset(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    row = ledger.assets.row(ref.id)
    if row is None:
        return None
    times = ledger.evidence.times(ref.id)
    return {
        "id": row.id,
        "name": row.name,
        "size": row.size,
        "media_type": row.media_type,
        "family": row.family,
        "storage": row.storage,
        "derived": row.derived,
        "captured": times[0] if times else None,
        "captured_claims": times,
        "place": ledger.evidence.place(ref.id),
        "links": ledger.links.of(ref.id),
        "near_duplicates": ledger.duplicates.like(ref.id),
        "sightings": [_sighting(found) for found in ledger.assets.sightings(ref.id)],
        "attempts": ledger.attempts.latest(row.seq),
        "derived_assets": [
            {**found, "locator": json.loads(found["locator"] or "null")}
            for found in ledger.assets.derivations(ref.id)
        ],
        "observations": [f"observation:{found.id}" for found in ledger.evidence.of_asset(ref.id)],
    }


def _sighting(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, **path_fields(bytes(found["path"])), "metadata": json.loads(found["metadata"])}


def _observation(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    row = ledger.evidence.get(ref.id)
    return None if row is None else observation_document(ledger, row)


def observation_document(ledger: Ledger, row: ObservationRow) -> dict[str, Any]:
    """Return an observation with its producer in words and its file's name."""
    fields = row._asdict()
    fields.pop("seq")
    asset = ledger.assets.row(row.asset)
    return {
        **fields,
        "producer": {"fingerprint": row.producer, **ledger.evidence.producer_of(row.producer)},
        "live": ledger.evidence.is_live(row.id),
        "misread": ledger.readings.marked(row.id),
        "corrects": ledger.readings.corrects(row.id),
        "name": asset.name if asset else None,
        "media_type": asset.media_type if asset else None,
        "episode": ledger.episodes.of_observations([row.id]).get(row.id),
    }


def _episode(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    found = ledger.episodes.get(ref.id)
    if found is None:
        return None
    members = [f"observation:{member}" for member in ledger.episodes.members(ref.id)]
    context = [f"episode:{other}" for other in _overlapping(ledger, found)]
    return {**_without_numbers(found), "members": members, "context": context}


def _overlapping(ledger: Ledger, episode: dict[str, Any]) -> tuple[str, ...]:
    """Return the talk around media of the same source and time, or the media in a talk."""
    same = ledger.episodes.all("e.status = 'open' AND e.source = ?", (episode["source"],))
    spans = [
        Span(
            other["id"],
            other["kind"],
            other["source"],
            sort_key(other["start"]),
            sort_key(other["end"] or other["start"]),
        )
        for other in same
    ]
    return overlapping(spans).get(episode["id"], ())


def _record(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    versions = versions_shown(ledger, ref.id)
    wanted = [found for found in versions if ref.version in {None, found["version"]}]
    if not wanted:
        return None
    return {
        **_without_numbers(wanted[-1]),
        "executable": False,
        "grants_permissions": False,
        "evidence": _evidence(ledger, wanted[-1]["evidence"]),
        "related": [f"record:{other}" for other in ledger.pairs.related(ref.id)],
        "revisions": ledger.memory.revisions(ref.id),
    }


def _candidate(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    found = next(ledger.memory.candidates(f"{CANDIDATE} AND c.id = ?", (ref.id,)), None)
    if found is None:
        return None
    return {**_without_numbers(found), "evidence": _evidence(ledger, found["evidence"])}


def _run(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    return next((found for found in ledger.attempts.runs() if found["id"] == ref.id), None)


def _session(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    from muniment.pipeline.agent.sessions import document

    return document(ledger, ref.id)


def _event(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    event = ledger.sessions.event(ref.id)
    if event is None:
        return None
    rows = [] if event.asset is None else list(ledger.evidence.of_asset(event.asset))
    hidden = ledger.sessions.hides(event.seq)
    fragment = json.loads(event.fragment) if event.fragment and not hidden else {}
    return {
        "id": event.id,
        "session": event.session,
        "asset": event.asset,
        "role": rows[0].role if rows else fragment.get("role"),
        "text": "".join(row.text for row in rows) or fragment.get("text"),
        "unfinished": event.asset is None,
        "taken_in_at": event.at,
        "observations": [f"observation:{row.id}" for row in rows],
    }


def _evidence(ledger: Ledger, evidence: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each quote where it is to be found."""
    documents = []
    for item in evidence:
        row = ledger.evidence.get(item["observation"])
        asset = ledger.assets.row(row.asset) if row else None
        documents.append(
            {
                **item,
                "asset": row.asset if row else None,
                "name": asset.name if asset else None,
                "locator": row.locator if row else None,
                "origin": row.origin if row else None,
            }
        )
    return documents


def _without_numbers(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out the ledger's own row numbers."""
    inner = {"seq", "version_seq", "revision_seq", "valid_sort"}
    return {name: value for name, value in found.items() if name not in inner}


def _tombstone(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    return next((found for found in ledger.tombstones.all() if found["id"] == ref.id), None)


def _persona(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    from muniment.store import personas

    if not ref.id.isdecimal():
        return None
    with personas.reading(ledger.root, ledger.scope) as held:
        found = held.version(int(ref.id))
    return found and {"id": ref.id, "user": ledger.scope.user, **found}


def _entity(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    from muniment.pipeline.entities.documents import whole

    return whole(ledger, ref.id)


def _topic(ledger: Ledger, ref: Ref) -> dict[str, Any] | None:
    from muniment.pipeline.entities.topics import topics

    return next((found for found in topics(ledger) if found["id"] == ref.id), None)


_DESCRIBERS = {
    "persona": _persona,
    "entity": _entity,
    "topic": _topic,
    "tombstone": _tombstone,
    "asset": _asset,
    "observation": _observation,
    "episode": _episode,
    "record": _record,
    "candidate": _candidate,
    "run": _run,
    "session": _session,
    "event": _event,
}
