"""The page of one question's reasons: how it was understood, what every signal found, its fate."""

from collections.abc import Mapping
from typing import Any

from muniment.pipeline.serving.web.layout import facts, main, page
from muniment.pipeline.serving.web.links import to
from muniment.pipeline.view.markup import Markup, tag
from muniment.pipeline.view.words import Words, add_labels

_TEXT_CHARACTERS = 160
_PAGES = {"observation", "record", "episode"}

add_labels(
    {
        "why_all": ("What every signal found", "各信号找到了什么"),
        "signals": ("Signals", "信号"),
        "words_weighed": ("Words and their weight", "词与权重"),
        "missing": ("Not found", "未找到"),
        "fate": ("What became of it", "结果"),
        "hit": ("Hit", "命中"),
        "score": ("Score", "得分"),
        "back": ("Back to the answer", "返回回答"),
    }
)


def why(found: Mapping[str, Any], words: Words) -> str:
    """Return the page of what ``explain`` tells."""
    query = found["query"]
    weighed = " · ".join(f"{one['word']} {one['weight']}" for one in found["understood"]["words"])
    head = facts(
        [
            (words("words_weighed"), weighed),
            (words("signals"), " · ".join(found["signals"])),
            (words("missing"), " · ".join(map(str, found["missing"]))),
        ]
    )
    titles = [tag("th", {"scope": "col"}, words(name))
              for name in ("hit", "signals", "score", "fate")]  # fmt: skip
    rows = [_row(hit, words) for hit in found["hits"]]
    content = main(
        query, tag("p", None, tag("a", {"href": to("search", q=query)}, words("back"))), head,
        tag("table", None, tag("tr", None, titles), rows),
    )  # fmt: skip
    return page(query, words, content)


def _row(hit: Mapping[str, Any], words: Words) -> Markup:
    kind, _, identity = str(hit["ref"]).partition(":")
    text = hit["text"] or hit["ref"]
    shown = text if len(text) <= _TEXT_CHARACTERS else text[:_TEXT_CHARACTERS] + "…"
    address = to(kind, identity.partition("@")[0]) if kind in _PAGES else None
    ranks = " · ".join(f"{name} #{one['rank']}" for name, one in hit["signals"].items())
    return tag(
        "tr", None,
        tag("td", {"dir": "auto"}, tag("a", {"href": address}, shown)),
        tag("td", None, ranks),
        tag("td", {"class": "number"}, str(hit["score"])),
        tag("td", None, f"{words(hit['fate'])}: {hit['reason']}"),
    )  # fmt: skip
