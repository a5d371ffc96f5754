"""Memory as Markdown pages for people: rebuilt from the ledger, the same for the same ledger.

The pages are a view. Nothing reads them back, and deleting them loses nothing. Words that come
from media or other people are quoted and can form no heading, link, picture or HTML of the page.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from muniment.pipeline.entities.documents import listing
from muniment.pipeline.memory.timeline import day_words, timeline
from muniment.pipeline.output import printable
from muniment.store.ids import record_ref
from muniment.store.ledger import Ledger
from muniment.store.times import sort_key

NOTE = "<!-- Written by `muniment render` from the ledger. Changes made here are lost. -->\n"
UNTRUSTED = frozenset({"media", "third_party", "inference", "assistant_expression"})
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#!|~&])")
_LINE_START = re.compile(r"^(\d+(?=\.)|(?=[-+=]))")  # a list, a rule, an underline
_TITLE_CHARACTERS = 200
_PEOPLE = 500


def pages(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield (relative path, text) of every page, in order."""
    order = "1 ORDER BY r.valid_sort, r.version_seq"
    rows = list(ledger.memory.records(order, evidence=False))
    live = [row for row in rows if row["status"] in {"active", "conflicted"}]
    now = ledger.memory.clock()
    held = [row for row in live if _holds(row, now)]
    yield "profile.md", _page("Profile", _profile(held))
    yield "tasks.md", _page("Tasks", _tasks(held))
    yield "people.md", _page("People", _people(ledger, held))
    yield "timeline.md", _page("Timeline", _timeline(rows))
    yield from _episodes(ledger)


def plain(text: str) -> str:
    """Return words as Markdown that shows them and does nothing else, on one line."""
    line = printable(" ".join(text.split()), one_line=True)
    return _LINE_START.sub(r"\1\\", _MARKUP.sub(r"\\\1", line))


def _holds(row: dict[str, Any], now: str) -> bool:
    """Tell whether a record holds as far as pages go: what has ended by now is left out."""
    end = sort_key(row["invalid_at"])
    return end is None or end > now


def _page(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"# {title}\n\n{NOTE}\n{body or 'Nothing yet.'}\n"


def _profile(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what holds of the user, pinned first, by kind."""
    own = [row for row in rows if row["subject"] in (None, "user") and row["type"] != "prospective"]
    for title, chosen in (
        ("Pinned", [row for row in own if row["pinned"]]),
        ("Facts", [row for row in own if row["kind"] == "fact" and not row["pinned"]]),
        ("Preferences", [row for row in own if row["kind"] == "preference" and not row["pinned"]]),
        ("Instructions", [row for row in own if row["type"] == "procedural" and not row["pinned"]]),
    ):
        yield from _section(title, chosen)


def _tasks(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is planned or promised, by the day it is due."""
    planned = [row for row in rows if row["type"] == "prospective" or row["due_at"] is not None]
    planned.sort(key=lambda row: (sort_key(row["due_at"]) or "9999", row["version_seq"]))
    yield from (_entry(row, due=True) for row in planned)


def _people(ledger: Ledger, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is known of others, a section each, then who there is by which names."""
    others: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["subject"] not in (None, "user"):
            others.setdefault(row["subject"], []).append(row)
    for name in sorted(others):
        yield from _section(plain(name), others[name])
    known = [one for one in islice(listing(ledger, "person"), _PEOPLE) if not one["own"]]
    if known:
        yield "## Everyone named\n"
        yield from (_person(one) for one in sorted(known, key=lambda one: (one["name"], one["id"])))


def _person(one: dict[str, Any]) -> str:
    names = dict.fromkeys(plain(name["name"]) for name in one["names"])
    first = plain(one["name"])
    also = [name for name in names if name != first]
    told = f"{first}, also {', '.join(also)}" if also else first
    return f"- {told} ({_ref(one['ref'])})"


def _timeline(rows: list[dict[str, Any]]) -> Iterator[str]:
    years: dict[str, list[str]] = {}
    for span in timeline(rows):
        year = (day_words(span["from"]) or "undated")[:4]
        line = f"- {plain(span['words'])} ({_ref(span['ref'])})"
        years.setdefault("Undated" if year == "unda" else year, []).append(line)
    for year, lines in years.items():
        yield f"## {year}\n"
        yield from lines
        yield ""


def _episodes(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield a page for each month that has episodes."""
    months: dict[str, list[dict[str, Any]]] = {}
    for episode in ledger.episodes.all("e.status = ?", ("open",)):
        start = episode["start"] or {}
        month = str(start.get("local") or start.get("utc") or "undated")[:7]
        months.setdefault(month, []).append(episode)
    for month in sorted(months):
        months[month].sort(key=lambda one: (sort_key(one["start"]) or "", one["id"]))
        lines = (line for episode in months[month] for line in _episode(episode))
        title = "Undated" if month == "undated" else month
        yield f"episodes/{month}.md", _page(f"Episodes of {title}", lines)


def _episode(episode: dict[str, Any]) -> Iterator[str]:
    yield f"## {plain(episode['title'])[:_TITLE_CHARACTERS]}\n"
    about = [day_words(episode["start"]), ", ".join(episode["participants"] or ())]
    told = " · ".join(plain(part) for part in about if part)
    yield f"{told} ({_ref('episode:' + episode['id'])})\n" if told else ""
    yield from (f"> {plain(line)}" for line in episode["gist"].splitlines() if line.strip())
    yield ""


def _section(title: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    if rows:
        yield f"## {title}\n"
        yield from (_entry(row) for row in rows)
        yield ""


def _entry(row: dict[str, Any], *, due: bool = False) -> str:
    text = plain(row["text"])
    words = f"“{text}”" if row["basis"] in UNTRUSTED else text
    when = day_words(row["due_at"]) if due else day_words(row["valid_at"])
    label = "due" if due else "since"
    notes = [f"{label} {when}"] if when else []
    notes += [row["basis"].replace("_", " ")] if row["basis"] in UNTRUSTED else []
    notes += ["in conflict"] if row["status"] == "conflicted" else []
    notes.append(_ref(record_ref(row)))
    return f"- {words} ({', '.join(notes)})"


def _ref(ref: str) -> str:
    return f"`{ref}`"
