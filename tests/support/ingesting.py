"""A store that is filled and read through the commands."""

from pathlib import Path
from typing import Any

from support.cli import invoke


class Store:
    """One root, filled and read through the commands."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ingest(self, *arguments: str | Path, stdin: bytes = b"") -> dict[str, Any]:
        """Ingest without vectors; return the answer with its exit code."""
        said = invoke(
            "--root", self.root, "--json", "ingest", "--no-embeddings", *arguments, stdin=stdin
        )
        return {"exit": said.code, **said.json}

    def show(self, ref: str | Path, *arguments: str | Path) -> dict[str, Any]:
        """Show an object."""
        shown: dict[str, Any] = invoke("--root", self.root, "--json", "show", ref, *arguments).json
        return shown

    def items(self, kind: str = "assets") -> list[dict[str, Any]]:
        """List objects."""
        listed = invoke("--root", self.root, "--json", "list", kind, "--limit", "1000").json
        items: list[dict[str, Any]] = listed["items"]
        return items

    def texts(self) -> list[str]:
        """Return the text of every observation."""
        return [item["text"] for item in self.items("observations")]

    def statuses(self) -> dict[str, dict[str, str]]:
        """Return each file's status by reader."""
        return {
            item["name"]: {
                one["reader"]: one["status"]
                for one in self.show(item["ref"])["attempts"]
                if one["stage"] == "observe"
            }
            for item in self.items()
        }
