"""Any host that writes its events as JSON lines in the fields of ``session append``."""

import json
from collections.abc import Iterator
from typing import Any

HOST = "jsonl"


def events(lines: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects of whole lines, in order; what is no object is left to be refused."""
    for line in lines:
        if line.strip("\ufeff \t\r\n"):
            try:
                entry = json.loads(line.lstrip("\ufeff"))
            except (ValueError, RecursionError):
                entry = None
            yield entry if isinstance(entry, dict) else {"event_id": None}
