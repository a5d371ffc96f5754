"""Pages of what was seen: the timeline by day, assets by kind, one asset, one observation."""

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

from muniment.pipeline.objects import describe
from muniment.pipeline.refs import Ref
from muniment.pipeline.serving.web.layout import facts, main, more, page
from muniment.pipeline.serving.web.links import Linked, to
from muniment.pipeline.serving.web.media import plays
from muniment.pipeline.view.exhibits import exhibit_of
from muniment.pipeline.view.figures import figure
from muniment.pipeline.view.markup import Markup, join, name_of, tag
from muniment.pipeline.view.words import Words, add_labels, when
from muniment.store.errors import NotFoundError
from muniment.store.ledger.browsing import Browsing

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger
    from muniment.store.rows import AssetRow

PAGE = 60
LINES = 100
_DAY = len("2026-03-02")
_PREVIEW_CHARACTERS = 300
_PICTURED = ("image/", "video/")

add_labels(
    {
        "undated": ("No date", "无日期"),
        "month": ("Month", "月份"),
        "size": ("Size", "大小"),
        "kind": ("Kind", "类型"),
        "captured_at": ("Captured", "拍摄／记录时间"),
        "place": ("Place", "地点"),
        "seen_at": ("Seen at", "出现于"),
        "made_from_it": ("Made from it", "由此派生"),
        "what_was_read": ("What was read", "识别内容"),
        "reading": ("Reading", "读取"),
        "whole_file": ("The whole file", "完整文件"),
        "in_episode": ("In the episode", "所属片段"),
        "of_asset": ("In", "出自"),
        "superseded": ("Superseded by a later reading", "已被更新的识别取代"),
        "page_no": ("Page {page}", "第 {page} 页"),
    }
)


def timeline(
    ledger: "Ledger", words: Words, before: tuple[str, int] | None, month: str | None
) -> str:
    """Return a page of the timeline, from a place or a month downwards."""
    browsing = Browsing(ledger.database)
    # A month ends before anything that sorts after its last day.
    start = (f"{month}-99", 0) if month else before
    found = browsing.timeline(start, PAGE)
    days = [
        tag("section", None, tag("h2", None, day), _grid([one.asset for one in dated], words))
        for day, dated in groupby(found, key=lambda one: one.sort[:_DAY])
    ]
    following = None
    if len(found) == PAGE:
        last = found[-1]
        following = to("timeline", before=f"{last.sort}~{last.asset.seq}")
    content = main(
        words("timeline"), _months(browsing.months(), month, words), days or _nothing(words),
        more(words, following),
    )  # fmt: skip
    return page(words("timeline"), words, content, here="timeline")


def _months(months: list[str], chosen: str | None, words: Words) -> Markup | None:
    if not months:
        return None
    options = [tag("option", {"value": one, "selected": one == chosen}, one) for one in months]
    chooser = tag("select", {"name": "month", "aria-label": words("month")}, options)
    return tag(
        "form", {"class": "find", "action": to("timeline"), "method": "get"},
        chooser, tag("button", {"type": "submit"}, "→"),
    )  # fmt: skip


class Families:
    """The families of a scope's assets, read on as more are sniffed: a scan is too much a page."""

    def __init__(self) -> None:
        self._read: tuple[int, int, frozenset[str]] = (0, 0, frozenset())

    def of(self, ledger: "Ledger") -> list[str]:
        """Return them in order. A ledger that was restored or lost rows is read from the start."""
        inode, newest, known = self._read
        now = (ledger.paths.ledger.stat().st_ino, ledger.assets.newest_type())
        if now[0] != inode or now[1] < newest:
            newest, known = 0, frozenset()
        if now[1] > newest:
            known |= frozenset(ledger.assets.families(newest))
        self._read = (*now, known)
        return sorted(known)


def assets(
    ledger: "Ledger", words: Words, families: list[str], family: str | None, before: int | None
) -> str:
    """Return a page of assets of a kind, the last ones first."""
    found = Browsing(ledger.database).assets(family, before, PAGE)
    kinds = [
        tag(
            "a",
            {"class": "chip", "href": to("assets", family=one),
             "aria-current": "page" if one == family else None},
            words(one),
        )
        for one in families
    ]  # fmt: skip
    everything = tag(
        "a", {"class": "chip", "href": to("assets"), "aria-current": None if family else "page"},
        words("all_kinds"),
    )  # fmt: skip
    following = to("assets", family=family, before=found[-1].seq) if len(found) == PAGE else None
    content = main(
        words("assets"), tag("p", None, everything, kinds),
        _grid(found, words) if found else _nothing(words), more(words, following),
    )  # fmt: skip
    return page(words("assets"), words, content, here="assets")


def _grid(rows: Iterable["AssetRow"], words: Words) -> Markup:
    return tag("ul", {"class": "grid"}, [tag("li", None, tile(row, words)) for row in rows])


def tile(row: "AssetRow", words: Words) -> Markup:
    """Return an asset as a small picture, or its kind where it has none, over its name."""
    if row.media_type.startswith(_PICTURED) or row.media_type == "application/pdf":
        look = tag("img", {"src": to("thumb", row.id), "alt": "", "loading": "lazy",
                           "width": 160, "height": 115})  # fmt: skip
    else:
        look = tag("span", {"class": "sign", "aria-hidden": "true"}, words(row.family))
    name = tag("span", {"class": "name"}, name_of(row.name or row.media_type))
    return tag("a", {"href": to("asset", row.id)}, look, name)


def asset(ledger: "Ledger", words: Words, identity: str, after: int) -> str:
    """Return the page of an asset: the thing itself, where it comes from, what was read in it."""
    found = describe(ledger, Ref("asset", identity))
    content = main(
        found["name"] or found["media_type"],
        _itself(found, words),
        _provenance(found, words),
        _readings(ledger, words, identity, after),
    )
    return page(found["name"] or words("assets"), words, content, here="assets")


def _itself(found: dict[str, Any], words: Words) -> Markup:
    media_type, address = found["media_type"], to("media", found["id"])
    name = found["name"] or media_type
    if media_type.startswith("image/"):
        return tag("div", {"class": "picture"}, tag("img", {"src": to("look", found["id"]),
                                                              "alt": name}))  # fmt: skip
    if media_type == "application/pdf":
        return tag("div", {"class": "picture"}, tag("img", {"src": to("look", found["id"]),
                                              "alt": words.fill("page_no", page=1)}))  # fmt: skip
    if plays(media_type):
        kind = "video" if media_type.startswith("video/") else "audio"
        wave = tag("img", {"class": "wave", "src": to("wave", found["id"]), "alt": ""})
        player = tag(kind, {"controls": True, "preload": "metadata", "src": address,
                            "aria-label": name})  # fmt: skip
        return join(wave if kind == "audio" else None, player)
    return Markup("")


def _provenance(found: dict[str, Any], words: Words) -> Markup:
    captured = found["captured"] or {}
    time = captured.get("local") or captured.get("utc")
    place = found["place"]
    sightings = [
        tag("div", None, name_of(str(one["path"])), " ", tag("span", {"class": "soft"},
            f"{one['origin']} · {when(one['seen_at'])}"))
        for one in found["sightings"]
    ]  # fmt: skip
    derived = [
        tag("div", None, tag("a", {"href": to("asset", one["asset"])},
                             name_of(one["name"] or one["relation"])), f" · {one['relation']}")
        for one in found["derived_assets"][:LINES]
    ]  # fmt: skip
    attempts = [
        tag("div", None, f"{one['reader']}: {one['status']}", f" ({one['code']})" if one["code"]
            else None)
        for one in found["attempts"]
    ]  # fmt: skip
    return facts(
        [
            (words("kind"), found["media_type"]),
            (words("size"), f"{found['size']:,} B"),
            (words("captured_at"), f"{when(time)} ({captured['source']})" if time else None),
            (words("place"), f"{place['latitude']:.5f}, {place['longitude']:.5f}"
             if place else None),
            (words("seen_at"), sightings),
            (words("made_from_it"), derived),
            (words("reading"), attempts),
            ("SHA-256", found["id"].removeprefix("sha256:")),
            (words("whole_file"), tag("a", {"href": to("media", found["id"])}, "⇩")),
        ]
    )  # fmt: skip


def _readings(ledger: "Ledger", words: Words, identity: str, after: int) -> Markup:
    ids = Browsing(ledger.database).observations_of(identity, after, LINES)
    rows = sorted(ledger.evidence.live_by_id(ids).values(), key=lambda row: row.seq)
    lines = [
        tag(
            "li",
            None,
            tag("a", {"class": "place", "href": to("observation", row.id)},
                words.place(row.locator)),
            tag("span", {"class": "soft"}, f"{words(row.kind)} "),
            tag("bdi", None, row.author, ": ") if row.author else None,
            tag("span", {"dir": "auto"}, row.text[:_PREVIEW_CHARACTERS]),
        )
        for row in rows
    ]  # fmt: skip
    following = to("asset", identity, after=rows[-1].seq) if len(ids) == LINES else None
    return tag(
        "section", None, tag("h2", None, words("what_was_read")),
        tag("ul", {"class": "rows"}, lines) if lines else _nothing(words),
        more(words, following, "more"),
    )  # fmt: skip


def observation(ledger: "Ledger", words: Words, identity: str) -> str:
    """Return the page of an observation: the place itself, and who read it there."""
    row = ledger.evidence.get(identity)
    if row is None:
        raise NotFoundError(f"no observation {identity} in this scope")
    exhibit = exhibit_of(ledger, row)
    episode = ledger.episodes.of_observations([row.id]).get(row.id)
    producer = ledger.evidence.producer_of(row.producer)
    found = facts(
        [
            (words("of_asset"), tag("a", {"href": to("asset", row.asset)},
                                    name_of(str(exhibit.cited["name"])))),
            (words("in_episode"), tag("a", {"href": to("episode", episode)}, "→")
             if episode else None),
            (words("read_by"), " ".join(producer[key] for key in ("adapter", "version", "model")
                                        if producer.get(key))),
        ]
    )  # fmt: skip
    old = None if ledger.evidence.is_live(row.id) else tag("p", None, words("superseded"))
    content = main(words.place(row.locator), old, tag("article", None,
                   figure(exhibit, Linked(), words, anchor="evidence")), found)  # fmt: skip
    return page(str(exhibit.cited["name"]), words, content)


def _nothing(words: Words) -> Markup:
    return tag("p", {"class": "soft"}, words("nothing"))


def place_of(text: str | None) -> tuple[str, int] | None:
    """Read the place in the timeline that a page goes on from; one that is none is the start."""
    sort, _, number = (text or "").rpartition("~")
    return (sort, int(number)) if sort and number.isdecimal() else None
