"""Pages of episodes: what belongs together, as it was said and seen."""

from itertools import groupby
from typing import TYPE_CHECKING, Any

from muniment.pipeline.memory.timeline import day_words
from muniment.pipeline.objects import describe
from muniment.pipeline.refs import Ref
from muniment.pipeline.serving.web.browsing import tile
from muniment.pipeline.serving.web.layout import facts, main, more, page
from muniment.pipeline.serving.web.links import to
from muniment.pipeline.view.markup import Markup, name_of, tag
from muniment.pipeline.view.words import Words, add_labels, when
from muniment.store.ledger.browsing import Browsing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muniment.store.ledger import Ledger
    from muniment.store.rows import ObservationRow

PAGE = 60
MEMBERS = 100
_PREVIEW_CHARACTERS = 200

add_labels(
    {
        "participants": ("Participants", "参与者"),
        "time_span": ("Time", "时间"),
        "gist": ("Gist", "摘要"),
        "alongside": ("At the same time", "同时"),
        "moments": ("moments", "时刻"),
        "conversation": ("conversation", "对话"),
    }
)


def episodes(ledger: "Ledger", words: Words, before: int | None) -> str:
    """Return a page of episodes, the last made first."""
    found = Browsing(ledger.database).episodes(before, PAGE)
    lines = [
        tag(
            "li",
            None,
            tag("time", None, when(one["local"] or one["utc"])),
            tag("a", {"href": to("episode", one["id"])}, name_of(one["title"])),
            tag("span", {"class": "soft"}, f" {words(one['kind'])}"),
            tag("div", {"class": "soft", "dir": "auto"}, _preview(one["gist"])),
        )
        for one in found
    ]
    following = to("episodes", before=found[-1]["seq"]) if len(found) == PAGE else None
    nothing = tag("p", {"class": "soft"}, words("nothing"))
    content = main(
        words("episodes"), tag("ul", {"class": "rows"}, lines) if lines else nothing,
        more(words, following),
    )  # fmt: skip
    return page(words("episodes"), words, content, here="episodes")


def episode(ledger: "Ledger", words: Words, identity: str, offset: int) -> str:
    """Return an episode with a page of its members."""
    found = describe(ledger, Ref("episode", identity))
    members = [one.removeprefix("observation:") for one in found["members"]]
    shown = members[offset : offset + MEMBERS]
    rows = ledger.evidence.live_by_id(shown)
    here = [rows[one] for one in shown if one in rows]
    end = offset + MEMBERS
    following = to("episode", identity, offset=end) if end < len(members) else None
    content = main(
        found["title"],
        _about(found, words),
        _media(ledger, here, words),
        _said(ledger, here, words),
        more(words, following, "more"),
    )
    return page(found["title"], words, content, here="episodes")


def _about(found: dict[str, Any], words: Words) -> Markup:
    span = [day_words(found[name]) for name in ("start", "end")]
    place = found["place"]
    where = f"{place['latitude']:.4f}, {place['longitude']:.4f}" if place else None
    beside = [
        tag("a", {"class": "chip", "href": to("episode", one.removeprefix("episode:"))}, "→")
        for one in found["context"]
    ]
    return facts(
        [
            (words("kind"), words(found["kind"])),
            (words("time_span"), " – ".join(dict.fromkeys(one for one in span if one))),
            (words("participants"), ", ".join(map(str, found["participants"] or []))),
            (words("place"), where),
            (words("gist"), tag("span", {"dir": "auto"}, found["gist"])),
            (words("alongside"), beside),
        ]
    )


def _media(ledger: "Ledger", rows: "Iterable[ObservationRow]", words: Words) -> Markup | None:
    assets = [ledger.assets.row(one) for one in dict.fromkeys(row.asset for row in rows)]
    tiles = [tag("li", None, tile(one, words)) for one in assets if one is not None]
    return tag("ul", {"class": "grid"}, tiles) if tiles else None


def _said(ledger: "Ledger", rows: "list[ObservationRow]", words: Words) -> list[Markup]:
    own = frozenset(ledger.evidence.own_names())
    parts = []
    for talk, group in groupby(rows, key=lambda row: row.kind == "message"):
        if talk:
            parts.append(tag("ol", {"class": "talk"}, [_bubble(row, own) for row in group]))
        else:
            parts.append(tag("ul", {"class": "rows"}, [_line(row, words) for row in group]))
    return parts


def _bubble(row: "ObservationRow", own: frozenset[str]) -> Markup:
    mine = "mine" if row.author in own else None
    link = tag("a", {"href": to("observation", row.id)}, when(row.instant) or "→")
    who = [name_of(row.author), " · "] if row.author else []
    return tag(
        "li", {"class": mine, "dir": "auto"}, tag("span", {"class": "who"}, *who, link), row.text
    )


def _line(row: "ObservationRow", words: Words) -> Markup:
    place = tag("a", {"class": "place", "href": to("observation", row.id)},
                words.place(row.locator))  # fmt: skip
    kind = tag("span", {"class": "soft"}, f"{words(row.kind)} ")
    return tag("li", None, place, kind, tag("span", {"dir": "auto"}, _preview(row.text)))


def _preview(value: str) -> str:
    return value if len(value) <= _PREVIEW_CHARACTERS else value[:_PREVIEW_CHARACTERS] + "…"
