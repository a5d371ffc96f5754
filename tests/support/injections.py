"""Text that tries to be more than data, and what a pack looks like that it has not changed."""

import json
import re
from pathlib import Path
from typing import Any

from muniment.pipeline.recall.pack import SECTIONS

SOURCE = Path(__file__).parents[1] / "faults" / "injections.json"
NAMES: list[str] = [row["name"] for row in json.loads(SOURCE.read_text("utf-8"))]
_TEXTS: list[str] = [row["text"] for row in json.loads(SOURCE.read_text("utf-8"))]
SECRET = "zymurgist"  # stands in another scope only; no digest holds it by chance

ITEM = re.compile(r"^- [^\[\]]+(?: \[c[1-9]\d*\])*$")
CITATION = re.compile(r"^\[c([1-9]\d*)\] ")
QUOTE = "  > "
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def word(number: int, channel: str = "harbour") -> str:
    """Return the word by which an input is asked for."""
    return f"{channel}{number}"


def text(number: int, channel: str = "harbour") -> str:
    """Return an input that holds its word."""
    return _TEXTS[number].replace("WORD", word(number, channel))


def check(pack: dict[str, Any], markdown: str) -> None:
    """Hold every line against what may stand at its start, and the counts against the JSON."""
    assert HIDDEN.search(markdown) is None
    lines = markdown.split("\n")
    items = [item for section in pack["sections"] for item in section["items"]]
    shown = [section["name"] for section in pack["sections"] if section["items"]]
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings == [*shown, *(["citations"] if pack["citations"] else [])]
    assert [name for name in headings if name != "citations"] == [
        name for name in SECTIONS if name in headings
    ]
    assert sum(line.startswith("# ") for line in lines) == 1
    own = [line for line in lines if line.startswith("- ")]
    assert len(own) == len(items)
    assert all(ITEM.fullmatch(line) for line in own)
    cited = [found[1] for line in lines if (found := CITATION.match(line))]
    assert cited == [str(n) for n in range(1, len(pack["citations"]) + 1)]
    assert not any(re.search(r"\[c\d+\]", line) for line in lines if line.startswith(QUOTE))
    assert [line for line in lines if line.startswith("Coverage:")] == [lines[-2]]
    starts = ("# ", "## ", "- ", QUOTE, "[c", "Note: ", "Coverage: ", "Lines that begin with > ")
    assert [line for line in lines if line and not line.startswith(starts)] == []
    assert SECRET not in markdown.partition("\n")[2]  # the query is echoed in the first line
