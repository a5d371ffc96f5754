"""Transcripts of agent hosts, as events: one module a host, found by name here."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from muniment.store.errors import UsageError

GENERIC = "jsonl"
HOSTS = {
    GENERIC: "muniment.adapters.hosts.events_jsonl:events",
    "claude-code": "muniment.adapters.hosts.claude_code:events",
}

Reading = Callable[[list[str]], Iterator[dict[str, Any]]]


def load(form: str) -> Reading:
    """Return what turns the lines of a transcript into events. Raises ``UsageError``."""
    if form not in HOSTS:
        raise UsageError(f"no transcript format {form!r}", hint=f"known: {', '.join(HOSTS)}")
    module, _, name = HOSTS[form].partition(":")
    found: Reading = getattr(import_module(module), name)
    return found
