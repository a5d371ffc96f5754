"""Drive the agent layer's commands: events as lines, one root for all of them."""

import json
from pathlib import Path
from typing import Any

from support.cli import Answer, invoke


def event(number: int | str, text: str, **fields: Any) -> dict[str, Any]:
    """Return an event of session ``s1`` with its own id; roles and times as given."""
    return {"event_id": f"e{number}", "role": "user", "text": text, "session": "s1", **fields}


def lines(*events: dict[str, Any]) -> bytes:
    """Return events as JSON lines."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in events).encode()


class Agent:
    """One root, asked through the command line, always in JSON."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str | Path, stdin: bytes = b"", code: int = 0) -> Any:
        """Run a command that must end with ``code``; return its document."""
        said = self.answer(*arguments, stdin=stdin)
        assert said.code == code, said.out + said.err
        return said.json

    def answer(self, *arguments: str | Path, stdin: bytes = b"") -> Answer:
        """Run a command; return all that it said."""
        return invoke("--json", "--root", self.root, *arguments, stdin=stdin)

    def append(self, *events: dict[str, Any], code: int = 0) -> Any:
        """Append events."""
        return self.run("session", "append", "-", stdin=lines(*events), code=code)

    def recall(self, query: str, *options: str) -> Any:
        """Return the pack of a question."""
        return self.run("recall", query, "--format", "json", *options)


def texts(pack: dict[str, Any]) -> list[str]:
    """Return the texts of every item of a pack."""
    return [item["text"] for section in pack["sections"] for item in section["items"]]
