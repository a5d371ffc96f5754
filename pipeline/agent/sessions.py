"""What a session is, as a document: title, gist, digest and its messages, all read off its events.

Nothing of it is stored twice: what is forgotten is gone from all of them at once.
"""

from typing import TYPE_CHECKING, Any

from muniment.pipeline import gist as gists
from muniment.pipeline.memory.corrected import MARK, without
from muniment.store.errors import NotFoundError

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

TITLE_CHARACTERS = 80
DIGEST_CHARACTERS = 600
# A gist is taken from so many messages at most.
_SAMPLE_MESSAGES = 400
_INNER = frozenset({"seq", "left"})


def found(ledger: "Ledger", session: str) -> dict[str, Any]:
    """Return a session's state. Raises ``NotFoundError``."""
    state = ledger.sessions.get(session)
    if state is None:
        raise NotFoundError(
            f"no session {session!r} in this scope", hint="see: muniment list sessions"
        )
    return state


def unbegun(session: str) -> dict[str, Any]:
    """Return the state of a session that nothing was said in yet."""
    unknown = ("reason", "host", "agent", "dropped", "started_at", "changed_at", "last_at")
    return {"seq": 0, "id": session, "status": "new", "messages": 0, **dict.fromkeys(unknown)}


def summary(ledger: "Ledger", state: dict[str, Any]) -> dict[str, Any]:
    """Return what a list shows of a session."""
    number = state["seq"]
    return {
        "ref": f"session:{state['id']}",
        "id": state["id"],
        "title": title(ledger, number),
        "status": state["status"],
        "reason": state["reason"],
        "host": state["host"],
        "agent": state["agent"],
        "messages": state["messages"],
        "started_at": state["started_at"],
        "last_at": state["last_at"],
        "ended_at": state["changed_at"] if state["status"] == "ended" else None,
    }


def document(
    ledger: "Ledger", session: str, *, offset: int = 0, limit: int = 100
) -> dict[str, Any]:
    """Return a session with a page of its messages."""
    state = found(ledger, session)
    messages = _marked(ledger, ledger.sessions.messages(state["seq"]))
    page = messages[offset : offset + limit]
    end = offset + len(page)
    ended = state["status"] == "ended"
    return {
        **summary(ledger, state),
        "gist": gist_of(messages) if ended else None,
        "gist_basis": "extractive" if ended else None,
        "digest": digest(ledger, state),
        "working": ledger.sessions.fragments(state["seq"]),
        "events": [{k: v for k, v in message.items() if k not in _INNER} for message in page],
        "next_offset": end if end < len(messages) else None,
    }


def title(ledger: "Ledger", number: int) -> str | None:
    """Return the first words that the user said, in one line; what was corrected is marked."""
    said = ledger.sessions.first_said(number)
    if said is None:
        return None
    line = " ".join(said["text"].split())
    mark = f" ({MARK})" if ledger.readings.corrected_in([said["seq"]]) else ""
    return cut(line, TITLE_CHARACTERS - len(mark)) + mark


def cut(line: str, most: int) -> str:
    """Return a line of so many characters at most, with a mark where it was cut."""
    return line if len(line) <= most else line[: most - 1] + "…"


def gist_of(messages: list[dict[str, Any]]) -> str:
    """Return the first informative sentences of user and assistant, in their own words."""
    return gists.gist(_spoken(messages))


def digest(ledger: "Ledger", state: dict[str, Any]) -> str | None:
    """Return an extract of the turns that the host dropped from its model's sight; null for none.

    It rolls: of many dropped turns, the newest ones speak.
    """
    if state["dropped"] is None:
        return None
    messages = _marked(ledger, ledger.sessions.messages(state["seq"], until=state["dropped"]))
    kept: list[str] = []
    left = DIGEST_CHARACTERS
    for text in reversed(_spoken(messages[-_SAMPLE_MESSAGES:])):
        said = gists.gist([text], most=160)
        if not said or len(said) > left:
            break
        kept.append(said)
        left -= len(said) + 1
    return " ".join(reversed(kept)) or None


def _marked(ledger: "Ledger", messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tell of each message whether some of it was corrected, and what it says without that."""
    taken_back = ledger.readings.corrected_in(message["seq"] for message in messages)
    return [
        {**message, "corrected": message["seq"] in taken_back,
         "left": without(message["text"], taken_back.get(message["seq"], ()))}
        for message in messages
    ]  # fmt: skip


def _spoken(messages: list[dict[str, Any]]) -> list[str]:
    spoken = (m for m in messages[:_SAMPLE_MESSAGES] if m["role"] in ("user", "assistant"))
    return [message["left"] for message in spoken if message["left"]]
