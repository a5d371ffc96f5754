"""What there is to look at behind a citation: how it is shown, and what stands around it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.store.ledger.changes import Changes

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger
    from muniment.store.rows import ObservationRow

AROUND = 2
PICTURE, CLIP, TALK, TEXT = "picture", "clip", "talk", "text"
_BESIDE = {"message", "text", "asr", "subtitle"}


class Spoken(NamedTuple):
    """A message or line: who said it, and whether that is the owner of the scope."""

    author: str | None
    text: str
    own: bool


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One cited place: ``look`` is how it is shown, ``quote`` an exact part of ``text``.

    ``cited`` holds the fields of a pack's citation, its id included.
    """

    cited: Mapping[str, Any]
    observation: str
    look: str
    text: str
    author: str | None = None
    own: bool = False
    before: tuple[Spoken, ...] = ()
    after: tuple[Spoken, ...] = ()

    @property
    def asset(self) -> str:
        """The asset that it lies in."""
        return str(self.cited["asset"])

    @property
    def locator(self) -> Mapping[str, Any]:
        """Where in the asset."""
        locator: Mapping[str, Any] = self.cited["locator"]
        return locator

    @property
    def picture_key(self) -> tuple[Any, ...]:
        """What tells its picture from others: several boxes may lie in one."""
        locator = self.locator
        return self.asset, locator["type"], locator.get("page"), locator.get("at_ms")

    @property
    def quote_span(self) -> tuple[int, int]:
        """Where in the text the quote stands; nowhere, where it is not a part of it."""
        quote = str(self.cited["quote"] or "")
        at = self.text.find(quote) if quote else -1
        return (at, at + len(quote)) if at >= 0 else (0, 0)


def exhibits_of(ledger: "Ledger", citations: Iterable[Mapping[str, Any]]) -> dict[str, Exhibit]:
    """Return what the citations of a pack lead to, by their ids."""
    named = {str(cited["id"]): cited for cited in citations}
    ids = [_observation_id(cited) for cited in named.values()]
    rows = ledger.evidence.live_by_id(ids)
    own = frozenset(ledger.evidence.own_names())
    found = {}
    for name, cited in named.items():
        row = rows.get(_observation_id(cited))
        if row is not None:
            found[name] = _exhibit(ledger, row, cited, own)
    return found


def exhibit_of(ledger: "Ledger", row: "ObservationRow") -> Exhibit:
    """Return one observation as it is looked at by itself, the whole of it cited."""
    asset = ledger.assets.row(row.asset)
    occurred = row.occurred or {}
    cited = {
        "id": row.id,
        "ref": f"observation:{row.id}",
        "asset": row.asset,
        "name": asset.name if asset else "",
        "media_type": asset.media_type if asset else "",
        "locator": row.locator,
        "quote": row.text,
        "origin": row.origin,
        "producer": ledger.evidence.producer_of(row.producer).get("adapter", ""),
        "confidence": row.confidence,
        "captured_at": occurred.get("utc") or occurred.get("local") or row.instant,
    }
    return _exhibit(ledger, row, cited, frozenset(ledger.evidence.own_names()))


def look_of(locator: Mapping[str, Any], media_type: str) -> str:
    """Return how a place is shown: as a picture, a clip, a talk, or plain text."""
    kind = locator["type"]
    if kind in {"bbox", "frame"} or (kind == "page" and media_type == "application/pdf"):
        return PICTURE
    if kind == "time" and media_type.startswith(("audio/", "video/")):
        return CLIP
    return TALK if kind == "message" else TEXT


def _exhibit(
    ledger: "Ledger", row: "ObservationRow", cited: Mapping[str, Any], own: frozenset[str]
) -> Exhibit:
    before, after = _around(ledger, row, own)
    return Exhibit(
        cited=cited,
        observation=row.id,
        look=look_of(row.locator, str(cited["media_type"])),
        text=row.text,
        author=row.author,
        own=row.author in own if row.author else row.origin == "user",
        before=before,
        after=after,
    )


def _around(
    ledger: "Ledger", row: "ObservationRow", own: frozenset[str]
) -> tuple[tuple[Spoken, ...], tuple[Spoken, ...]]:
    if row.kind not in _BESIDE:
        return (), ()
    before, after = Changes(ledger.database).around(row.seq, AROUND)
    spoken = [
        tuple(Spoken(one.author, one.text, one.author in own) for one in side)
        for side in (reversed(before), after)
    ]
    return spoken[0], spoken[1]


def _observation_id(cited: Mapping[str, Any]) -> str:
    return str(cited["ref"]).removeprefix("observation:")
