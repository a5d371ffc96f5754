"""Cut a mailbox file into its messages, holding one at a time."""

import re
from collections.abc import Iterator
from typing import BinaryIO

_SEPARATOR = re.compile(rb"From \S*.{0,200}\d{1,2}:\d{2}.{0,60}\d{4}")
_QUOTED = re.compile(rb">+From ")
LINE_BYTES = 1 << 20


class Oversized:
    """Stands for a message that is over the limit."""


def split_mailbox(stream: BinaryIO, limit_bytes: int) -> Iterator[bytes | Oversized]:
    """Yield the bytes of each message; ``From `` lines start one after a blank line."""
    held: list[bytes] = []
    size, blank, started = 0, True, False
    while line := stream.readline(LINE_BYTES):
        if blank and _SEPARATOR.match(line):
            if started:
                yield _message(held, size, limit_bytes)
            held, size, started, blank = [], 0, True, False
            continue
        blank = line in (b"\n", b"\r\n")
        size += len(line)
        started = True
        if size <= limit_bytes:
            held.append(line[1:] if _QUOTED.match(line) else line)
    if started:
        yield _message(held, size, limit_bytes)


def _message(held: list[bytes], size: int, limit_bytes: int) -> bytes | Oversized:
    return Oversized() if size > limit_bytes else b"".join(held)
