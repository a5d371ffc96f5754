"""Pages of who and what is named: what an entity is called, its relations, and the evidence."""

from itertools import islice
from typing import TYPE_CHECKING, Any

from muniment.pipeline.entities import documents
from muniment.pipeline.serving.web.layout import facts, main, more, page
from muniment.pipeline.serving.web.links import to
from muniment.pipeline.view.markup import Markup, name_of, tag
from muniment.pipeline.view.words import Words, add_labels
from muniment.store.errors import NotFoundError

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

PAGE = 60
_NAMES_IN_A_LIST = 5

add_labels(
    {
        "entities": ("People and things", "人与事物"),
        "person": ("person", "人物"),
        "organisation": ("organisation", "组织"),
        "thing": ("thing", "事物"),
        "name": ("name", "名称"),
        "email": ("email", "邮箱"),
        "phone": ("phone", "电话"),
        "role": ("role", "身份"),
        "names": ("Called", "称呼"),
        "uses": ("mentions", "次提及"),
        "own": ("you", "本人"),
        "relations": ("Relations", "关系"),
        "maybe_same": ("Perhaps the same", "可能是同一个"),
        "merged": ("Taken together with", "已合并"),
        "merge_note": (
            "Settle it with: muniment entities merge REF REF, or apart REF REF",
            "处理：muniment entities merge REF REF 或 apart REF REF",
        ),
    }
)


def entities(ledger: "Ledger", words: Words, offset: int) -> str:
    """Return a page of entities, the most mentioned first."""
    found = list(islice(documents.listing(ledger), offset, offset + PAGE + 1))
    lines = [_line(one, words) for one in found[:PAGE]]
    following = to("entities", offset=offset + PAGE) if len(found) > PAGE else None
    nothing = tag("p", {"class": "soft"}, words("nothing"))
    content = main(
        words("entities"), tag("ul", {"class": "rows"}, lines) if lines else nothing,
        more(words, following, "more"),
    )  # fmt: skip
    return page(words("entities"), words, content, here="entities")


def _line(one: dict[str, Any], words: Words) -> Markup:
    others = [row["name"] for row in one["names"] if row["name"] != one["name"]]
    return tag(
        "li",
        None,
        _linked(one["ref"], one["name"]),
        tag("span", {"class": "soft"}, f" {_about(one, words)} · {one['uses']} {words('uses')} "),
        [(name_of(name), " ") for name in others[:_NAMES_IN_A_LIST]],
    )


def _about(one: dict[str, Any], words: Words) -> str:
    return f"{words(one['kind'])} · {words('own')}" if one["own"] else words(one["kind"])


def entity(ledger: "Ledger", words: Words, identity: str) -> str:
    """Return the page of an entity. Raises ``NotFoundError``."""
    found = documents.whole(ledger, identity)
    if found is None:
        raise NotFoundError(f"no entity {identity} in this scope")
    content = main(
        found["name"],
        facts(
            [
                (words("kind"), _about(found, words)),
                (words("names"), [tag("div", None, name_of(row["name"]),
                    tag("span", {"class": "soft"}, f" {words(row['form'])} · {row['uses']}"))
                    for row in found["names"]]),
                (words("merged"), ", ".join(found["merged"])),
            ]
        ),
        _section(words("relations"), [_relation(one, words) for one in found["relations"]]),
        _proposed(found["proposals"], words),
        _section(words("episodes"), [
            tag("li", None, _linked(one, one)) for one in found["episodes"]
        ]),
        _section(words("evidence"), [_use(one, words) for one in found["evidence"]]),
    )  # fmt: skip
    return page(found["name"], words, content, here="entities")


def _relation(one: dict[str, Any], words: Words) -> Markup:
    arrow = "→" if one["direction"] == "out" else "←"
    kind, _, claim = one["claim"].partition("@")[0].partition(":")
    # What is no record yet waits in the review.
    address = to("record", claim) if kind == "record" else to("candidates")
    told = tag("a", {"href": address}, words(one["status"]))
    name = _linked(one["other"], one["name"])
    return tag("li", None, f"{words(one['relation'])} {arrow} ", name, " · ", told)


def _proposed(pairs: list[dict[str, Any]], words: Words) -> Markup | None:
    lines = [
        tag("li", None, f"{words(pair['reason'])}: ", [
            part for side in pair["sides"]
            for part in (_linked(side["ref"], side["name"]), f" ({side['ref']}) ")
        ])
        for pair in pairs
    ]  # fmt: skip
    if not lines:
        return None
    note = tag("p", {"class": "soft"}, words("merge_note"))
    heading = tag("h2", None, words("maybe_same"))
    return tag("section", None, heading, note, tag("ul", {"class": "rows"}, lines))


def _use(one: dict[str, Any], words: Words) -> Markup:
    via = tag("span", {"class": "soft"}, f"{words(str(one['via']))} ") if one.get("via") else None
    return tag("li", None, via, _linked(one["observation"], one["file"] or one["observation"]))


def _section(title: str, lines: list[Markup]) -> Markup | None:
    if not lines:
        return None
    return tag("section", None, tag("h2", None, title), tag("ul", {"class": "rows"}, lines))


def _linked(ref: str, name: str) -> Markup:
    kind, _, identity = ref.partition(":")
    return tag("a", {"href": to(kind, identity)}, name_of(name))
