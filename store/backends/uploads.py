"""What an upload is made of, and the ETags by which a server shows that it took just that."""

import hashlib
from collections.abc import Iterable, Iterator

PART_BYTES = 8 * 1024 * 1024
_MOST_PARTS = 9_000  # of the 10,000 that the protocol allows


def part_of(size: int) -> int:
    """Return how large the parts of an upload of a size are; 0 is not known."""
    return max(PART_BYTES, -(-size // _MOST_PARTS))


class Sent:
    """What went out, hashed on the way in every form that a server may give it back."""

    def __init__(self, part: int) -> None:
        self._part = part
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._piece = hashlib.md5(usedforsecurity=False)
        self._pieces: list[bytes] = []
        self._filled = 0
        self.whole = hashlib.sha256()
        self.size = 0

    def watch(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield chunks, hashing each."""
        for chunk in chunks:
            self.whole.update(chunk)
            self._md5.update(chunk)
            self.size += len(chunk)
            self._cut(memoryview(chunk))
            yield chunk

    def _cut(self, chunk: memoryview) -> None:
        while chunk:
            now = chunk[: self._part - self._filled]
            self._piece.update(now)
            self._filled, chunk = self._filled + len(now), chunk[len(now) :]
            if self._filled == self._part:
                self._end_piece()

    def _end_piece(self) -> None:
        self._pieces.append(self._piece.digest())
        self._piece, self._filled = hashlib.md5(usedforsecurity=False), 0

    def tags(self) -> set[str]:
        """Return the ETags that prove it: of the whole, and of the parts."""
        if self._filled:
            self._end_piece()
        parts = hashlib.md5(b"".join(self._pieces), usedforsecurity=False).hexdigest()
        return {self._md5.hexdigest(), f"{parts}-{len(self._pieces)}"}
