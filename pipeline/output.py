"""What a person or a program sees: the one answer on stdout, everything else on stderr."""

import json
import re
import sys
from typing import IO, Any

# What may act on a terminal or reorder a line: C0, C1, line separators, lone surrogates, and the
# bidirectional controls.
_ACTING = r"\x7f-\x9f\u2028\u2029\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_IN_A_LINE = re.compile(rf"[\x00-\x1f{_ACTING}]")
_IN_A_TEXT = re.compile(rf"[\x00-\x08\x0b-\x1f{_ACTING}]")


def printable(text: str, *, one_line: bool = False) -> str:
    """Neutralise control characters and terminal escapes of text from outside."""
    if text.isprintable():  # nearly all is, and that is soon told
        return text
    return (_IN_A_LINE if one_line else _IN_A_TEXT).sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    point = ord(found[0])
    return f"\\x{point:02x}" if point <= 0xFF else f"\\u{point:04x}"  # noqa: PLR2004 (a byte)


def path_fields(path: bytes) -> dict[str, str]:
    """Return ``path`` for reading, and ``path_b64`` when it is not UTF-8 (names are bytes)."""
    try:
        return {"path": path.decode("utf-8")}
    except UnicodeDecodeError:
        import base64

        text = path.decode("utf-8", "replace")
        return {"path": text, "path_b64": base64.b64encode(path).decode("ascii")}


class Output:
    """The two streams of one command."""

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, verbose: bool = False
    ) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose

    def answer(self, document: Any, text: str) -> None:
        """Print the answer: the document under ``--json``, else the text."""
        if self.as_json:
            self.document(document)
        else:
            write(sys.stdout, text if text.endswith("\n") or not text else text + "\n")

    def report(self, document: Any, text: str, *, well: bool = True) -> None:
        """Print what was done; under ``-q`` only when something is not well, or as a document."""
        if self.as_json or not self.quiet or not well:
            self.answer(document, text)

    def document(self, document: Any) -> None:
        """Print one JSON document on one line."""
        write(sys.stdout, to_json(document) + "\n")

    def note(self, text: str) -> None:
        """Say something that nobody needs to act on."""
        if not self.quiet:
            write(sys.stderr, printable(text) + "\n")

    def detail(self, text: str) -> None:
        """Say something under ``-v`` only."""
        if self.verbose:
            self.note(text)

    def warn(self, text: str) -> None:
        """Say something that a person should look at, even under ``-q``."""
        write(sys.stderr, printable(text, one_line=True) + "\n")


def write(stream: IO[str], text: str) -> None:
    """Write and flush, so that what was said is seen even when the process dies."""
    stream.write(text)
    stream.flush()


def to_json(document: Any) -> str:
    """Encode a document as UTF-8 JSON; lone surrogates are escaped, NaN is refused."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(document, allow_nan=False)
    return text
