"""The decoded text of an asset: the same blocks each time, so that offsets into it hold."""

from collections.abc import Iterator

from muniment.adapters.formats.encodings import Encoding, blocks, detect
from muniment.adapters.ports import Outcome, Source


class DecodedSource:
    """The text of one asset, up to a limit of bytes, decoded anew for each walk over it."""

    def __init__(self, source: Source, limit_bytes: int) -> None:
        self._source = source
        self._limit = limit_bytes
        with source.open() as stream:
            self.encoding: Encoding = detect(stream, limit_bytes)
        self.had_errors = self.encoding.had_errors

    @property
    def confidence(self) -> float:
        """How sure it is (0..1) that the text reads as it was written."""
        return self.encoding.confidence

    def blocks(self) -> Iterator[str]:
        """Yield the text in blocks and note bytes that do not decode."""
        legacy = not self.encoding.name.startswith("utf-")
        with self._source.open() as stream:
            for block in blocks(stream, self.encoding, self._limit):
                self.had_errors |= legacy and "\ufffd" in block
                yield block

    def attributes(self) -> dict[str, str | float]:
        """Name the encoding and its confidence, unless it is UTF-8."""
        if self.encoding.name == "utf-8":
            return {}
        return {"encoding": self.encoding.name, "encoding_confidence": self.encoding.confidence}

    def outcome(self, *, found: bool) -> Outcome | None:
        """Return how reading ended when it was not plainly ok."""
        if self._source.size > self._limit:
            return Outcome("partial", "text_limit", f"only the first {self._limit} bytes were read")
        if not found:
            return Outcome("empty", "no_text", "nothing but white space")
        if self.had_errors:
            message = f"some bytes are not {self.encoding.name} and stand as U+FFFD"
            return Outcome("partial", "undecodable_bytes", message)
        return None


def quote(source: Source, start: int, end: int, limit_bytes: int) -> str:
    """Return the code points ``start`` to ``end`` of the decoded text."""
    text = DecodedSource(source, limit_bytes)
    pieces, at = [], 0
    for block in text.blocks():
        if at < end:
            pieces.append(block[max(0, start - at) : end - at])
        at += len(block)
        if at >= end:
            break
    return "".join(pieces)
