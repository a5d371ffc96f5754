"""``show --why-time``: every claim on when something was, the chosen one first, and why."""

from typing import Any

from muniment.pipeline.refs import Ref
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.ledger import Ledger

_SOURCES = {
    "own": "said by the message or event itself",
    "exif_offset": "the camera's time with its offset from UTC",
    "exif_gps": "the camera's time, its zone worked out from the satellites' time",
    "exif": "the camera's time; it does not say in which zone",
    "sidecar": "a file beside it",
    "container": "the recording's own header",
    "header": "the message that it came with",
    "file_name": "the file's name",
    "mtime": "when the file was last changed",
}


def why_time(ledger: Ledger, ref: Ref) -> dict[str, Any]:
    """Return the claims on the time of an asset or observation, in the order of their worth.

    An observation's own time comes first; else it has its asset's, and what was made from an asset
    has that of the asset.
    """
    own, asset = _subject(ledger, ref)
    owner, claims = _claims(ledger, asset)
    if own is not None:
        claims = [{**own, "source": "own", "rank": 0, "confidence": 1.0}, *claims]
    told = [_told(claims, place) for place in range(len(claims))]
    return {
        "ref": str(ref),
        "asset": asset,
        "time_of": owner,
        "chosen": told[0] if told else None,
        "claims": told,
    }


def _subject(ledger: Ledger, ref: Ref) -> tuple[dict[str, Any] | None, str]:
    if ref.kind == "asset":
        if ledger.assets.row(ref.id) is None:
            raise NotFoundError(f"no asset {ref.id} in this scope")
        return None, ref.id
    if ref.kind != "observation":
        raise UsageError("only assets and observations have a time of capture")
    row = ledger.evidence.get(ref.id)
    if row is None:
        raise NotFoundError(f"no observation {ref.id} in this scope")
    return row.occurred, row.asset


def _claims(ledger: Ledger, asset: str) -> tuple[str, list[dict[str, Any]]]:
    """Return whose claims count, and the claims: an asset's own, else those of what held it."""
    seen: set[str] = set()
    owner = asset
    while owner not in seen:
        seen.add(owner)
        claims = ledger.evidence.times(owner)
        above = ledger.assets.parents(owner)
        if claims or not above:
            return owner, claims
        owner = above[0]
    return asset, []


def _told(claims: list[dict[str, Any]], place: int) -> dict[str, Any]:
    claim = claims[place]
    return {
        **claim,
        "what": _SOURCES.get(claim["source"], claim["source"]),
        "zone": _zone(claim),
        "chosen": place == 0,
        "why": _why(claims, place),
    }


def _zone(claim: dict[str, Any]) -> str:
    if claim["offset"] is None:
        return "unknown: the wall time is kept as it is, in no zone"
    return f"{claim['offset']} from {claim['zone_source'] or claim['source']}"


def _why(claims: list[dict[str, Any]], place: int) -> str:
    best, claim = claims[0], claims[place]
    if place == 0:
        return "the best-ranked source that says anything" if claims[1:] else "the only claim"
    if claim["rank"] > best["rank"]:
        return f"{claim['source']} ranks behind {best['source']}"
    if claim["confidence"] < best["confidence"]:
        return f"less sure than the other {best['source']} claim"
    return "as good as the chosen one; the earlier of the two is taken"
