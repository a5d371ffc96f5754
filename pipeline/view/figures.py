"""Draw one exhibit: a picture with its box, a player at its span, a talk, or the words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from muniment.pipeline.view.exhibits import CLIP, PICTURE, TALK, Exhibit, Spoken
from muniment.pipeline.view.markup import Markup, join, name_of, tag, text
from muniment.pipeline.view.words import Words, clock, when

_LABEL_CHARACTERS = 160
_CORNERS = ("x", "y", "w", "h")
_CONTEXT_CHARACTERS = 400
# A share of the sides that a frame stands off by, so that it does not cover small letters.
_MARGIN = 0.004


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture to draw a box on: an address of its own, or a symbol of the page with its size."""

    address: str = ""
    symbol: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Played:
    """Something to play: ``whole`` where the address leads to the whole recording."""

    address: str
    media_type: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """Why something can't be shown: a label of the page, or a reason of the reader's."""

    reason: str


class Media(Protocol):
    """Where pictures and sound come from: put into the page, or served beside it."""

    def picture(self, exhibit: Exhibit) -> Pictured | Missing:
        """Return the picture, page or frame that an exhibit's box lies in."""
        ...

    def player(self, exhibit: Exhibit) -> Played | Missing:
        """Return what plays an exhibit's span."""
        ...

    def link(self, exhibit: Exhibit) -> str | None:
        """Return where more is told of an exhibit, if anywhere."""
        ...


def figure(exhibit: Exhibit, media: Media, words: Words, *, anchor: str) -> Markup:
    """Return an exhibit as a figure that can be linked to by ``anchor``."""
    drawn = _DRAWN.get(exhibit.look, _words)(exhibit, media, words)
    # Reachable by keyboard, so that a followed citation is where the next key acts.
    return tag("figure", {"id": anchor, "tabindex": "-1"}, _caption(exhibit, media, words), drawn)


def _caption(exhibit: Exhibit, media: Media, words: Words) -> Markup:
    cited = exhibit.cited
    address = media.link(exhibit)
    name = name_of(_shortened(str(cited["name"] or cited["media_type"] or "")))
    facts: list[Markup] = [text(words.place(exhibit.locator))]
    if cited["captured_at"]:
        facts.append(text(f"{words('captured')} {when(cited['captured_at'])}"))
    facts.append(text(f"{words('from_origin')} {words(str(cited['origin']))}"))
    facts.append(text(f"{words('read_by')} {cited['producer']}"))
    facts.append(text(f"{words('confidence')} {round(float(cited['confidence']), 2)}"))
    parts = [tag("b", None, tag("a", {"href": address}, name) if address else name), *facts]
    return tag("figcaption", None, *_between(parts, " · "))


def _picture(exhibit: Exhibit, media: Media, words: Words) -> Markup:
    found = media.picture(exhibit)
    if isinstance(found, Missing):
        return join(_why_not(found, exhibit, words), _quotation(exhibit))
    label = words.fill(
        "picture_of", name=exhibit.cited["name"], place=words.place(exhibit.locator),
        quote=_shortened(str(exhibit.cited["quote"] or exhibit.text)),
    )  # fmt: skip
    return join(tag("div", {"class": "picture"}, _drawn(found, exhibit, label)),
                _quotation(exhibit))  # fmt: skip


def _drawn(found: Pictured, exhibit: Exhibit, label: str) -> Markup:
    width, height = found.width or 1, found.height or 1
    boxes = _frames(exhibit.locator, width, height)
    view = f"0 0 {width} {height}"
    if found.symbol:
        used = tag("use", {"href": f"#{found.symbol}"})
        return tag(
            "svg", {"role": "img", "aria-label": label, "viewBox": view, "width": width,
                    "height": height}, used, boxes,
        )  # fmt: skip
    return join(
        tag("img", {"src": found.address, "alt": label, "loading": "lazy", "decoding": "async"}),
        tag(
            "svg", {"class": "over", "aria-hidden": "true", "viewBox": view,
                    "preserveAspectRatio": "none"}, boxes,
        ),
    )  # fmt: skip


def _frames(locator: Mapping[str, Any], width: int, height: int) -> Markup:
    """Draw the box twice, light under bright, so that it is seen on any ground."""
    box = locator if locator["type"] == "bbox" else locator.get("bbox")
    if box is None or any(box.get(side) is None for side in _CORNERS):
        return Markup("")
    x, y, w, h = (float(box[side]) for side in _CORNERS)
    left, top = max(0.0, x - _MARGIN), max(0.0, y - _MARGIN)
    right, bottom = min(1.0, x + w + _MARGIN), min(1.0, y + h + _MARGIN)
    corners = box.get("quad") or ((left, top), (right, top), (right, bottom), (left, bottom))
    points = " ".join(f"{across * width:.5g},{down * height:.5g}" for across, down in corners)
    one = tag("polygon", {"class": "frame", "points": points})
    return join(one, one)


def _clip(exhibit: Exhibit, media: Media, words: Words) -> Markup:
    found = media.player(exhibit)
    if isinstance(found, Missing):
        return join(_why_not(found, exhibit, words), _lines(exhibit))
    name = exhibit.cited["name"]
    label = words.fill(
        "sound_of", name=name, place=words.place(exhibit.locator),
        quote=_shortened(exhibit.text),
    )  # fmt: skip
    start, end = exhibit.locator["start_ms"] / 1000, exhibit.locator["end_ms"] / 1000
    place = f"#t={start:g},{end:g}" if found.whole else ""
    kind = "video" if found.media_type.startswith("video/") else "audio"
    player = tag(
        kind,
        {"controls": True, "preload": "metadata", "aria-label": label,
         "src": f"{found.address}{place}"},
    )  # fmt: skip
    said = (
        words.fill("starts_at", time=clock(exhibit.locator["start_ms"]))
        if found.whole
        else words.fill("clip_only", name=name)
    )
    return join(player, tag("p", {"class": "soft"}, said), _lines(exhibit))


def _talk(exhibit: Exhibit, _media: Media, words: Words) -> Markup:
    own = Spoken(exhibit.author, exhibit.text, exhibit.own)
    bubbles = [
        *(_bubble(one) for one in exhibit.before),
        _bubble(own, cited=exhibit),
        *(_bubble(one) for one in exhibit.after),
    ]
    return tag("ol", {"class": "talk", "aria-label": words("evidence")}, bubbles)


def _bubble(one: Spoken, cited: Exhibit | None = None) -> Markup:
    who = tag("span", {"class": "who"}, name_of(_shortened(one.author))) if one.author else None
    kind = " ".join(
        name for name, holds in (("mine", one.own), ("cited", cited is not None)) if holds
    )
    said = text(_cut(one.text)) if cited is None else marked(cited)
    return tag("li", {"class": kind or None, "dir": "auto"}, who, said)


def _words(exhibit: Exhibit, _media: Media, _words: Words) -> Markup:
    return _lines(exhibit)


def _lines(exhibit: Exhibit) -> Markup:
    """Return the cited words with the lines that stand around them."""
    return tag(
        "blockquote",
        {"dir": "auto"},
        *(_beside(one) for one in exhibit.before),
        marked(exhibit),
        *(_beside(one, before=False) for one in exhibit.after),
    )


def _beside(one: Spoken, *, before: bool = True) -> Markup:
    said = tag("span", {"class": "around"}, _cut(one.text))
    return join(said, "\n") if before else join("\n", said)


def _quotation(exhibit: Exhibit) -> Markup:
    return tag("blockquote", {"dir": "auto"}, marked(exhibit))


def marked(exhibit: Exhibit) -> Markup:
    """Return an exhibit's text with the quote marked; a long one is cut around the quote."""
    start, end = exhibit.quote_span
    before, quote, after = exhibit.text[:start], exhibit.text[start:end], exhibit.text[end:]
    if len(before) > _CONTEXT_CHARACTERS:
        before = "…" + before[-_CONTEXT_CHARACTERS:]
    return join(before, tag("mark", None, quote) if quote else None, _cut(after))


def _why_not(missing: Missing, exhibit: Exhibit, words: Words) -> Markup:
    place, name = words.place(exhibit.locator), exhibit.cited["name"]
    said = (
        words.fill("too_large", place=place, name=name)
        if missing.reason == "too_large"
        else words.fill("not_shown", reason=missing.reason)
    )
    return tag("p", {"class": "soft"}, said)


def _between(parts: Iterable[Markup], separator: str) -> Iterable[Markup]:
    for place, part in enumerate(parts):
        if place:
            yield text(separator)
        yield part


def _cut(value: str) -> str:
    return value if len(value) <= _CONTEXT_CHARACTERS else value[:_CONTEXT_CHARACTERS] + "…"


def _shortened(value: str) -> str:
    """Return a text that fits a caption."""
    flat = " ".join(value.split())
    return flat if len(flat) <= _LABEL_CHARACTERS else flat[: _LABEL_CHARACTERS - 1] + "…"


_DRAWN = {PICTURE: _picture, CLIP: _clip, TALK: _talk}
