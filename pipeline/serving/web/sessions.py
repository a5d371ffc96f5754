"""Pages of sessions: what was said to an agent, event by event, in its order."""

from typing import TYPE_CHECKING, Any

from muniment.pipeline.agent import sessions as documents
from muniment.pipeline.serving.web.layout import facts, main, more, page
from muniment.pipeline.serving.web.links import to
from muniment.pipeline.view.markup import Markup, name_of, tag
from muniment.pipeline.view.words import Words, add_labels, when
from muniment.store.ledger.browsing import Browsing

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

PAGE = 60
EVENTS = 100

add_labels(
    {
        "sessions": ("Sessions", "会话"),
        "session": ("Session", "会话"),
        "host": ("Host", "宿主"),
        "began": ("Began", "开始"),
        "ended": ("ended", "已结束"),
        "open": ("open", "进行中"),
        "messages": ("Messages", "消息数"),
        "digest": ("Digest", "提要"),
        "unfinished": ("Not finished yet", "尚未说完"),
    }
)


def sessions(ledger: "Ledger", words: Words, before: int | None) -> str:
    """Return a page of sessions, the last begun first."""
    ids = Browsing(ledger.database).sessions(before, PAGE)
    states = [documents.found(ledger, one) for one in ids]
    lines = [_line(state, documents.summary(ledger, state), words) for state in states]
    following = to("sessions", before=states[-1]["seq"]) if len(states) == PAGE else None
    nothing = tag("p", {"class": "soft"}, words("nothing"))
    content = main(
        words("sessions"), tag("ul", {"class": "rows"}, lines) if lines else nothing,
        more(words, following),
    )  # fmt: skip
    return page(words("sessions"), words, content, here="sessions")


def _line(state: dict[str, Any], told: dict[str, Any], words: Words) -> Markup:
    about = [told["host"], told["agent"], f"{told['messages']} {words('messages')}"]
    return tag(
        "li",
        None,
        tag("time", None, when(told["started_at"])),
        tag("a", {"href": to("session", state["id"])}, name_of(told["title"] or state["id"])),
        " ",
        tag("span", {"class": "status"}, words(told["status"])),
        tag("span", {"class": "soft"}, " ", " · ".join(one for one in about if one)),
    )


def session(ledger: "Ledger", words: Words, identity: str, after: int) -> str:
    """Return a session with a page of its events. Raises ``NotFoundError``."""
    state = documents.found(ledger, identity)
    told = documents.summary(ledger, state)
    said = ledger.sessions.messages(state["seq"], after=after, limit=EVENTS)
    following = to("session", identity, after=said[-1]["seq"]) if len(said) == EVENTS else None
    waiting = [one for one in ledger.sessions.fragments(state["seq"]) if one.get("text")]
    content = main(
        told["title"] or identity,
        facts(
            [
                (words("session"), name_of(identity)),
                (words("host"), " · ".join(one for one in (told["host"], told["agent"]) if one)),
                (words("state"), words(told["status"])),
                (words("began"), when(told["started_at"])),
                (words("ended"), when(told["ended_at"])),
                (words("messages"), str(told["messages"])),
                (words("digest"), documents.digest(ledger, state)),
            ]
        ),
        tag("ol", {"class": "talk"}, [_event(one) for one in said]),
        _unfinished(waiting, words),
        more(words, following, "more"),
    )
    return page(told["title"] or identity, words, content, here="sessions")


def _event(one: dict[str, Any]) -> Markup:
    who = name_of(one["author"] or one["role"])
    address = to("observation", one["observation"])
    link = tag("a", {"href": address}, when(one["time"]) or "→")
    mine = "mine" if one["role"] == "user" else None
    return tag(
        "li", {"class": mine, "dir": "auto"},
        tag("span", {"class": "who"}, who, " · ", link), one["text"],
    )  # fmt: skip


def _unfinished(waiting: list[dict[str, Any]], words: Words) -> Markup | None:
    if not waiting:
        return None
    lines = [tag("li", {"dir": "auto"}, str(one["text"])) for one in waiting]
    heading = tag("h2", None, words("unfinished"))
    return tag("section", None, heading, tag("ul", {"class": "rows"}, lines))
