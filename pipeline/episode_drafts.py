"""What grouping takes and gives: rows of observations in, drafts of episodes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from muniment.pipeline.gist import gist
from muniment.store.ids import made
from muniment.store.times import local_text, parse_local, parse_utc, utc_text

RULE_VERSION = "1"
NAMED_PARTICIPANTS = 3
TITLE_CHARACTERS = 120
SECOND_CHARACTERS = len("YYYY-MM-DDTHH:MM:SS")

# what says most about an episode comes first; ``metadata`` says nothing of what happened
_TELLING = ("message", "event", "visual", "asr", "text", "page_text", "subtitle", "ocr", "contact")


class EpisodeInput(NamedTuple):
    """One observation as grouping sees it.

    ``asset`` is the original that it belongs to (a key frame's is its video). ``instant`` is the
    sort time (UTC text) or null, ``occurred`` the fields of its moment. ``place`` is (latitude,
    longitude) in degrees. ``position`` orders rows of equal time. ``text`` may be a sample.
    """

    observation: str
    asset: str
    family: str
    kind: str
    instant: str | None
    thread: str | None
    author: str | None
    place: tuple[float, float] | None
    source: str
    duration_ms: int | None
    name: str
    text: str
    occurred: Mapping[str, Any] | None = None
    position: int = 0


class GroupKey(NamedTuple):
    """Rows of different keys never share an episode; ``kind`` is the episode's."""

    kind: str
    source: str
    name: str


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """An episode before the ledger gives it a version; ``members`` are in order of time.

    ``start`` and ``end`` are fields of a moment, ``first`` and ``last`` the instants that they sort
    by; ``place`` is the earliest known position.
    """

    id: str
    anchor: str
    rule: str
    kind: str
    title: str
    gist: str
    start: Mapping[str, Any] | None
    end: Mapping[str, Any] | None
    first: str | None
    last: str | None
    participants: tuple[str, ...]
    place: Mapping[str, float] | None
    source: str
    members: tuple[str, ...]
    gist_basis: str = "extractive"


def draft_of(key: GroupKey, ordered: Sequence[EpisodeInput]) -> EpisodeDraft:
    """Make one episode of rows in order of time; its anchor is the least by time, then id."""
    anchor = min(ordered, key=lambda row: (row.instant is None, row.instant or "", row.observation))
    timed = [row for row in ordered if row.instant is not None]
    ending = max(timed, key=_end, default=None)
    participants = tuple(dict.fromkeys(row.author for row in ordered if row.author))
    return EpisodeDraft(
        id=made("ep", anchor.observation, RULE_VERSION),
        anchor=anchor.observation,
        rule=RULE_VERSION,
        kind=key.kind,
        title=_title(key, ordered, participants),
        gist=gist(_telling_texts(ordered)),
        start=_moment(timed[0]) if timed else None,
        end=_later(_moment(ending), ending.duration_ms or 0) if ending else None,
        first=timed[0].instant if timed else None,
        last=_end(ending) if ending else None,
        participants=participants,
        place=_place(ordered),
        source=key.source,
        members=tuple(row.observation for row in ordered),
    )


def _end(row: EpisodeInput) -> str:
    """Return the instant at which what a row belongs to is over."""
    begun = row.instant or ""
    if not row.duration_ms:
        return begun
    return utc_text(parse_utc(begun) + timedelta(milliseconds=row.duration_ms))


def _title(key: GroupKey, ordered: Sequence[EpisodeInput], people: Sequence[str]) -> str:
    if key.kind == "conversation":
        names = ", ".join(people[:NAMED_PARTICIPANTS]) or key.name
        more = len(people) - NAMED_PARTICIPANTS
        title = f"{names} +{more}" if more > 0 else names
    else:
        assets = len({row.asset for row in ordered})
        name = ordered[0].name or gist((row.text for row in ordered), TITLE_CHARACTERS)
        title = f"{name} +{assets - 1}" if assets > 1 and key.kind == "moments" else name
    day = _day(ordered) if key.kind in ("conversation", "moments") else ""
    return f"{' '.join(title.split())[:TITLE_CHARACTERS]} · {day}".removesuffix(" · ")


def _day(ordered: Sequence[EpisodeInput]) -> str:
    moment = _moment(ordered[0]) if ordered[0].instant else {}
    return str(moment.get("local") or moment.get("utc") or "")[:10]


def _telling_texts(ordered: Sequence[EpisodeInput]) -> list[str]:
    """Return the texts of the most telling kind that is there."""
    for kind in _TELLING:
        texts = [row.text for row in ordered if row.kind == kind and row.text.strip()]
        if texts:
            return texts
    return []


def _moment(row: EpisodeInput) -> Mapping[str, Any]:
    return row.occurred or {"utc": row.instant, "local": None}


def _later(moment: Mapping[str, Any], milliseconds: int) -> Mapping[str, Any]:
    """Shift the fields of a moment; a local time known to the day only stays."""
    if not milliseconds:
        return moment
    shift = timedelta(milliseconds=milliseconds)
    utc, local = moment.get("utc"), moment.get("local")
    later = dict(moment)
    if utc:
        later["utc"] = utc_text(parse_utc(utc) + shift)
    if local and len(local) >= SECOND_CHARACTERS:
        later["local"] = local_text(parse_local(local) + shift)
    return later


def _place(ordered: Sequence[EpisodeInput]) -> Mapping[str, float] | None:
    places = [row.place for row in ordered if row.place is not None]
    return {"latitude": places[0][0], "longitude": places[0][1]} if places else None
