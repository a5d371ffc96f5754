"""Write a pack as one page that stands alone: claims, and under each what it rests on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muniment.pipeline.view.exhibits import Exhibit, exhibits_of
from muniment.pipeline.view.figures import Media, figure
from muniment.pipeline.view.markup import Markup, join, name_of, tag
from muniment.pipeline.view.style import CSS, digest
from muniment.pipeline.view.words import Words, language_of, when

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

_POLICY = (
    "default-src 'none'; img-src data:; media-src data:; style-src {style}; "
    "base-uri 'none'; form-action 'none'"
)
_TITLE_CHARACTERS = 80


def pack_page(ledger: "Ledger", pack: Mapping[str, Any]) -> str:
    """Return the HTML document of a pack; it loads nothing and runs nothing."""
    from muniment.pipeline.view.embedding import embedding

    words = Words(language_of(pack["query"]))
    with embedding(ledger) as media:
        exhibits = exhibits_of(ledger, pack["citations"])
        body = pack_body(pack, exhibits, media, words)
        symbols = media.symbols()
    return document(pack["query"], join(symbols, _skip(words), body), words)


def document(title: str, body: Markup, words: Words) -> str:
    """Return a whole page that allows nothing but its own style and data."""
    policy = _POLICY.format(style=digest())
    short = title if len(title) <= _TITLE_CHARACTERS else title[:_TITLE_CHARACTERS] + "…"
    head = join(
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("meta", {"name": "referrer", "content": "no-referrer"}),
        tag("title", None, " ".join(f"{words('memory')}: {short}".split())),
        tag("style", None, Markup(CSS)),
    )
    page = tag("html", {"lang": words.tag}, tag("head", None, head), tag("body", None, body))
    return f"<!doctype html>\n{page}\n"


def pack_body(
    pack: Mapping[str, Any], exhibits: Mapping[str, Exhibit], media: Media, words: Words
) -> Markup:
    """Return heading, claims with their figures, and notes of a pack."""
    drawer = _Drawer(exhibits, media, words)
    # What always stands comes last here: who looks has asked something else.
    sections = sorted(pack["sections"], key=lambda section: section["name"] == "profile")
    return join(
        _header(pack, words),
        tag("main", {"id": "answer"}, *(drawer.section(one) for one in sections)),
        _footer(pack, words),
    )


class _Drawer:
    """Draws claims in order; a citation is shown under the first claim that rests on it."""

    def __init__(self, exhibits: Mapping[str, Exhibit], media: Media, words: Words) -> None:
        self._exhibits = exhibits
        self._media = media
        self._words = words
        self._shown: set[str] = set()

    def section(self, section: Mapping[str, Any]) -> Markup | None:
        """Return a section with its claims."""
        if not section["items"]:
            return None
        name = section["name"]
        claims = [self._claim(item, name) for item in section["items"]]
        return tag("section", {"class": name}, tag("h2", None, self._words(name)), claims)

    def _claim(self, item: Mapping[str, Any], section: str) -> Markup:
        cited = item["citations"]
        fresh = [one for one in cited if one not in self._shown and one in self._exhibits]
        self._shown.update(fresh)
        chips = [tag("a", {"class": "chip", "href": f"#{one}"}, one) for one in cited]
        figures = [
            figure(self._exhibits[one], self._media, self._words, anchor=one) for one in fresh
        ]
        kind = "conflict" if section == "conflicts" else None
        return tag(
            "article",
            {"class": kind},
            tag("div", {"class": "said", "dir": "auto"}, item["text"]),
            tag("p", {"class": "facts"}, self._facts(item), " ", chips),
            figures,
            self._why(item),
        )

    def _why(self, item: Mapping[str, Any]) -> Markup | None:
        """Tell which signals found a claim, and at which rank."""
        if not item["signals"]:
            return None
        ranks = " · ".join(f"{name} #{rank}" for name, rank in item["signals"].items())
        told = self._words.fill("ranks", ranks=ranks, score=item["score"])
        summary = tag("summary", None, self._words("why"))
        return tag("details", {"class": "soft"}, summary, tag("p", None, told))

    def _facts(self, item: Mapping[str, Any]) -> str:
        facts = [self._words(item["kind"]), when(item["time"])]
        if item["duplicates"]:
            facts.append(self._words.fill("alike", count=item["duplicates"]))
        return " · ".join(fact for fact in facts if fact)


def _header(pack: Mapping[str, Any], words: Words) -> Markup:
    coverage = pack["coverage"]
    as_of = words.fill("as_of", time=when(pack["as_of"])) if pack["as_of"] else None
    return tag(
        "header",
        None,
        tag("h1", {"dir": "auto"}, name_of(pack["query"])),
        tag("p", {"class": f"coverage coverage-{coverage}"}, words(coverage)),
        tag("p", {"class": "soft"}, as_of) if as_of else None,
        tag("p", {"class": "soft"}, words("untrusted")),
    )


def _footer(pack: Mapping[str, Any], words: Words) -> Markup:
    notes = [f"{words('note')}: {warning}" for warning in pack["warnings"]]
    omitted = pack["omitted"]
    if omitted.get("budget"):
        notes.append(words.fill("left_out", count=omitted["budget"]))
    if omitted.get("evidence_gate"):
        notes.append(words.fill("refused", count=omitted["evidence_gate"]))
    scope = " / ".join(pack["scope"].values())
    return tag("footer", None, *(tag("p", None, note) for note in notes), tag("p", None, scope))


def _skip(words: Words) -> Markup:
    return tag("a", {"class": "skip", "href": "#answer"}, words("to_answer"))
