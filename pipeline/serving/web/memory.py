"""Pages of what is remembered: records with their versions side by side, conflicts, the review."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from muniment.pipeline.memory import timeline
from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.memory.review import Wanted, find, in_context
from muniment.pipeline.serving.web.layout import facts, main, more, page
from muniment.pipeline.serving.web.links import to
from muniment.pipeline.view.markup import Markup, join, name_of, tag
from muniment.pipeline.view.words import Words, add_labels, when
from muniment.store.errors import NotFoundError
from muniment.store.ledger.browsing import Browsing

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

PAGE = 60
REVIEWED = 40
_COMPARED = ("text", "key", "value", "valid_at", "invalid_at")

add_labels(
    {
        "versions": ("Versions", "各版本"),
        "valid": ("Holds", "有效期"),
        "recorded": ("Recorded", "记录于"),
        "value": ("Value", "值"),
        "key": ("Key", "键"),
        "changes": ("What happened to it", "变更经过"),
        "pinned": ("pinned", "已置顶"),
        "approve": ("Approve", "批准"),
        "reject": ("Reject", "拒绝"),
        "review_note": (
            "These were proposed and wait for your decision. Nothing here is used before.",
            "以下内容由系统提出，等待你的决定；批准之前不会被使用。",
        ),
        "conflict_note": (
            "These contradict each other and both have evidence. Settle one with: "
            "muniment conflicts resolve REF",
            "以下说法互相矛盾且都有证据。解决：muniment conflicts resolve REF",
        ),
        "proposed_by": ("proposed by", "提出者"),
        "conflicted": ("conflicted", "有矛盾"),
        "revoked": ("revoked", "已撤回"),
        "invalidated": ("invalidated", "已失效"),
        "correct": ("corrected", "更正"),
        "promote": ("promoted", "采纳"),
        "active": ("active", "有效"),
    }
)


def records(ledger: "Ledger", words: Words, before: int | None) -> str:
    """Return a page of records, the last recorded first."""
    found = Browsing(ledger.database).records(before, PAGE)
    lines = [
        tag(
            "li",
            None,
            tag("time", None, when(one["recorded_at"])),
            tag("a", {"href": to("record", one["id"]), "dir": "auto"}, one["text"]),
            " ",
            _status(one["status"], words),
            f" {words(one['kind'])}",
            f" · {words('pinned')}" if one["pinned"] else None,
        )
        for one in found
    ]
    following = to("records", before=found[-1]["seq"]) if len(found) == PAGE else None
    content = main(
        words("records"), tag("ul", {"class": "rows"}, lines) if lines else _nothing(words),
        more(words, following),
    )  # fmt: skip
    return page(words("records"), words, content, here="records")


def record(ledger: "Ledger", words: Words, identity: str) -> str:
    """Return every version of a record side by side; what a version changed is marked."""
    rows = timeline.versions_shown(ledger, identity)
    if not rows:
        raise NotFoundError(f"no record {identity} in this scope")
    found = timeline.history(ledger, rows)
    earlier = [None, *found[:-1]]
    versions = [_version(one, before, words) for one, before in zip(found, earlier, strict=True)]
    # The newest is what is asked for most, so it stands first.
    content = main(
        found[-1]["text"], tag("h2", None, words("versions")),
        tag("div", {"class": "versions"}, versions[::-1]),
    )  # fmt: skip
    return page(found[-1]["text"], words, content, here="records")


def _version(one: dict[str, Any], before: dict[str, Any] | None, words: Words) -> Markup:
    def shown(name: str, value: str | None) -> Markup | str | None:
        changed = before is not None and name in _COMPARED and before[name] != one[name]
        return tag("mark", None, value) if changed and value else value

    span = " – ".join(timeline.day_words(one[name]) or "…" for name in ("valid_at", "invalid_at"))
    happened = [
        tag("li", None, tag("time", None, when(change["at"])), f"{words(change['action'])} · "
            f"{change['actor']}: ", tag("span", {"dir": "auto"}, change["reason"]))
        for change in one["revisions"]
    ]  # fmt: skip
    return tag(
        "article",
        None,
        tag("h3", None, one["ref"].rpartition("@")[2], " ", _status(one["status"], words)),
        tag("p", {"class": "said", "dir": "auto"}, shown("text", one["text"])),
        facts(
            [
                (words("kind"), words(one["kind"])),
                (words("key"), shown("key", one["key"])),
                (words("value"), shown("value", one["value"])),
                (words("valid"), shown("valid_at", span) if one["valid_at"] else None),
                (words("recorded"), when(one["recorded_at"])),
            ]
        ),
        _quotes(one["evidence"]),
        tag("h3", None, words("changes")),
        tag("ul", {"class": "rows"}, happened),
    )


def _quotes(evidence: Iterable[dict[str, Any]]) -> list[Markup]:
    return [
        tag("blockquote", {"dir": "auto"}, tag("mark", None, item["quote"]), " ",
            tag("a", {"class": "chip", "href": to("observation", item["observation"])}, "→"))
        for item in evidence
    ]  # fmt: skip


def conflicts(ledger: "Ledger", words: Words) -> str:
    """Return the claims at odds, each side with its evidence."""
    groups = [
        tag(
            "section",
            None,
            tag("h2", None, " ".join(str(rows[0][name]) for name in ("subject", "key")
                                     if rows[0][name])),
            tag("div", {"class": "versions"}, [_side(row, words) for row in rows]),
        )
        for rows in Claims(ledger, "user").conflicts()
    ]  # fmt: skip
    note = tag("p", {"class": "soft"}, words("conflict_note")) if groups else _nothing(words)
    return page(words("conflicts"), words, main(words("conflicts"), note, groups),
                here="conflicts")  # fmt: skip


def _side(row: dict[str, Any], words: Words) -> Markup:
    return tag(
        "article",
        {"class": "conflict"},
        tag("p", {"class": "said", "dir": "auto"}, row["text"]),
        tag("p", {"class": "facts"}, f"record:{row['id']}@{row['version']} · ",
            tag("a", {"href": to("record", row["id"])}, words("versions"))),
        _quotes(row["evidence"]),
    )  # fmt: skip


def candidates(ledger: "Ledger", words: Words, form: str, said: str = "") -> str:
    """Return the candidates that wait, each with its quote in context and what may be decided."""
    waiting = [
        _candidate(row, in_context(ledger, row), words, form)
        for row in find(ledger, Wanted("pending"), REVIEWED)
    ]
    note = tag("p", {"class": "soft"}, words("review_note")) if waiting else _nothing(words)
    outcome = tag("p", {"role": "status"}, said) if said else None
    return page(words("candidates"), words, main(words("candidates"), outcome, note, waiting),
                here="candidates")  # fmt: skip


def _candidate(
    row: dict[str, Any], context: list[dict[str, Any]], words: Words, form: str
) -> Markup:
    quotes = [
        tag(
            "blockquote",
            {"dir": "auto"},
            place["before"], tag("mark", None, place["quote"]), place["after"], " ",
            tag("a", {"class": "chip", "href": to("observation",
                str(place["observation"]).removeprefix("observation:"))},
                name_of(str(place["name"] or "→"))),
        )
        for place in context
    ]  # fmt: skip
    buttons = [
        tag(
            "form",
            {"method": "post", "action": f"{to('candidates', row['id'])}/{verb}"},
            tag("input", {"type": "hidden", "name": "form", "value": form}),
            tag("button", {"class": kind, "type": "submit",
                           "aria-label": f"{words(verb)}: {row['text'][:80]}"}, words(verb)),
        )
        for verb, kind in (("approve", "yes"), ("reject", "no"))
    ]  # fmt: skip
    told = (
        f"{words(row['kind'])} · {words('proposed_by')} {row['proposer']} · "
        f"{words('confidence')} {round(row['confidence'], 2)}"
    )
    return tag(
        "article",
        None,
        tag("p", {"class": "said", "dir": "auto"}, row["text"]),
        facts([(words("key"), row["key"]), (words("value"), row["value"])]),
        tag("p", {"class": "facts"}, told, f" · {row['reason']}" if row["reason"] else None),
        quotes,
        join(*buttons),
    )


def _status(status: str, words: Words) -> Markup:
    return tag("span", {"class": f"status status-{status}"}, words(status))


def _nothing(words: Words) -> Markup:
    return tag("p", {"class": "soft"}, words("nothing"))
