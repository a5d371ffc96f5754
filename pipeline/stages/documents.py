"""What stands in the index for an observation, an episode, a record: pure functions of rows.

The context of a message or line (its neighbours, its date, its heading) lifts the right one into
the first ten far more often than any other change that was measured; ``bench_recall`` repeats it.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muniment.pipeline.keys import asked_by
from muniment.store.ids import record_ref
from muniment.store.index.documents import Document
from muniment.store.times import sort_key

if TYPE_CHECKING:
    from muniment.store.ledger.changes import AssetFacts, Neighbour
    from muniment.store.rows import IndexedRow, ObservationRow

# Two messages on each side measured best (one: 1 point less, three: 1 point less).
MESSAGE_REACH = 2
LINE_REACH = 6
CONTEXT_CHARACTERS = 300
# Records in these states can answer some question; the others never come back.
SEARCHABLE_STATES = frozenset({"active", "conflicted", "superseded", "archived", "revoked"})

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def observation_document(
    row: "IndexedRow",
    asset: "AssetFacts | None",
    around: "tuple[Sequence[Neighbour], Sequence[Neighbour]]",
    episode: str | None,
) -> Document:
    """Return the document of a live observation."""
    context = [*_neighbours(around), date_words(row.local or row.instant), row.heading]
    return Document(
        ref=f"observation:{row.id}",
        kind=row.kind,
        text=row.text,
        title=_joined(row.author, None if asset is None else asset.name),
        context=_joined(*context),
        asset=row.asset,
        seq=row.seq,
        instant=row.instant,
        family=None if asset is None else asset.family,
        origin=row.origin,
        role=row.role,
        source=None if asset is None else asset.source,
        session=row.thread,
        path=None if asset is None else asset.path.decode("utf-8", "backslashreplace"),
        confidence=row.confidence,
        group=episode or row.thread or row.asset,
        author=row.author,
    )


def episode_document(episode: dict[str, Any]) -> Document:
    """Return the document of an episode's current version."""
    start = episode["start"]
    place = episode["place"] or {}
    return Document(
        ref=f"episode:{episode['id']}",
        kind="episode",
        text=episode["gist"],
        title=_joined(episode["title"], *(episode["participants"] or ())),
        context=_joined(
            *(value for value in place.values() if isinstance(value, str)),
            date_words((start or {}).get("local") or (start or {}).get("utc")),
        ),
        seq=episode["version_seq"],
        instant=sort_key(start),
        source=episode["source"],
        confidence=1.0,
        group=episode["id"],
    )


def record_document(
    record: dict[str, Any], row: "ObservationRow | None", asset: "AssetFacts | None"
) -> Document:
    """Return the document of a record version; ``row`` is its first evidence."""
    quotes = " ".join(item["quote"] for item in record["evidence"])
    instant = record["valid_sort"] or (row.instant if row else None) or record["recorded_at"]
    return Document(
        ref=record_ref(record),
        kind="record",
        text=record["text"],
        title=_joined(record["subject"], asked_by(record["key"]), record["value"]),
        context=_joined(quotes[:CONTEXT_CHARACTERS], date_words(instant)),
        asset=row.asset if row else None,
        seq=record["version_seq"],
        instant=instant,
        family=asset.family if asset else None,
        role=record["status"],
        source=asset.source if asset else None,
        session=row.thread if row else None,
        path=asset.path.decode("utf-8", "backslashreplace") if asset else None,
        confidence=record["confidence"],
    )


def embedded_text(name: str | None, text: str) -> str:
    """Return the text that a vector is made of: who spoke, or a title, and what was said."""
    return f"{name}: {text}" if name else text


def date_words(local: str | None, *, han: bool = True) -> str:
    """Write a day the ways people ask for it, in Chinese, too, unless ``han`` is false.

    >>> date_words("2023-05-08T13:56:00")
    '8 May 2023 2023-05-08 2023年5月8日'
    """
    return _date_words(local[:10], han) if local else ""


@lru_cache(maxsize=1_024)
def _date_words(local: str, han: bool) -> str:
    words = _in_both(local)
    return words if han or not words else words[: words.rindex(" ")]


def _in_both(local: str) -> str:
    if not local[:4].isdigit():
        return ""
    year, month, day = local[:4], local[5:7], local[8:10]
    if not month:
        return f"{year} {year}年"
    if not month.isdigit() or not 1 <= int(month) <= len(_MONTHS):
        return ""
    name = _MONTHS[int(month) - 1]
    if not day:
        return f"{name} {year} {year}年{int(month)}月"
    return f"{int(day)} {name} {year} {local[:10]} {year}年{int(month)}月{int(day)}日"


def _neighbours(around: "tuple[Sequence[Neighbour], Sequence[Neighbour]]") -> list[str]:
    """Return the texts beside an observation in their order, each side within a bound."""
    before, after = (_bounded(side) for side in around)
    return [*reversed(before), *after]


def _bounded(side: "Iterable[Neighbour]") -> list[str]:
    left = CONTEXT_CHARACTERS
    texts = []
    for _, _, said, author in side:
        text = f"{author}: {said}" if author else said
        texts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return texts


def _joined(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)
