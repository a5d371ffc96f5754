"""Cut Han text into dictionary words: in bulk when indexing, without a load when asking.

Both cutters give what jieba's search mode gives with its hidden Markov model off. jieba itself is
never imported: its dictionary alone takes longer to load than any query.
"""

import mmap
import os
import sys
from bisect import bisect_left
from math import log
from typing import TYPE_CHECKING

from muniment.store.errors import DamageError, MissingToolError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The file: magic, five counts (see _HEADER), word offsets, frequencies, the sorted words in UTF-8.
_MAGIC = b"MUNIHAN1"
_NAME = "han-words-1-"
_HEADER = 4  # words, bytes of text, total frequency (low, high half); 32 bits each, little-endian
# Loading the compiled library pays from about this many characters on.
_BULK = 5_000


class BulkCutter:
    """Cut by the compiled library; its first use takes about 0.2 s, each run then microseconds."""

    def __init__(self) -> None:
        self._cut: Callable[[str, bool], list[str]] | None = None

    def cut(self, run: str) -> list[str]:
        """Return the words of a run of Han characters, sub-words before the word itself."""
        if self._cut is None:
            import rjieba

            self._cut = rjieba.cut_for_search
        return self._cut(run, False)


class IndexCutter:
    """Cut what is indexed: a little by the compiled dictionary, if there is one, more in bulk."""

    def __init__(self, cache: "Path | None" = None) -> None:
        self._dictionary = open_dictionary(cache) if cache else None
        self._bulk = BulkCutter()
        self._cut = 0
        self._known: dict[str, list[str]] = {}

    def cut(self, run: str) -> list[str]:
        """Return the words of a run of Han characters, sub-words before the word itself."""
        if self._dictionary is None or self._cut > _BULK:
            return self._bulk.cut(run)
        if run not in self._known:  # short lines come again and again
            self._cut += len(run)
            self._known[run] = self._dictionary.cut(run)
        return self._known[run]


class CompiledDictionary:
    """jieba's dictionary as a memory-mapped file of sorted words, and jieba's own search over it.

    Raises ``DamageError`` when the file is not a whole dictionary of this format.
    """

    def __init__(self, path: "Path") -> None:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < len(_MAGIC) + 4 * _HEADER:
                raise _damaged(path)
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._map[: len(_MAGIC)] != _MAGIC or sys.byteorder != "little":
            raise _damaged(path)
        head = memoryview(self._map)[len(_MAGIC) :]
        count, length, low, high = head[: 4 * _HEADER].cast("I")
        body = head[4 * _HEADER :]
        if len(body) != 4 * (2 * count + 1) + length:
            raise _damaged(path)
        self._offsets = body[: 4 * (count + 1)].cast("I")
        self._frequencies = body[4 * (count + 1) : 4 * (2 * count + 1)].cast("I")
        self._start = size - length
        self._log_total = log(low + (high << 32))
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> bytes:
        """Return the word at a place of the sorted list, in UTF-8."""
        start = self._start
        return self._map[start + self._offsets[at] : start + self._offsets[at + 1]]

    def frequency(self, word: str) -> int:
        """Return how often a word was counted, 0 for no word."""
        key = word.encode()
        at = bisect_left(self, key)
        return self._frequencies[at] if at < self._count and self[at] == key else 0

    def cut(self, run: str) -> list[str]:
        """Return the words of a run of Han characters, sub-words before the word itself."""
        found: list[str] = []
        for word in self.words(run):
            for size in (2, 3):
                if len(word) > size:
                    parts = (word[at : at + size] for at in range(len(word) - size + 1))
                    found += [part for part in parts if self.frequency(part)]
            found.append(word)
        return found

    def words(self, run: str) -> list[str]:
        """Return the most probable words that make up a run."""
        size = len(run)
        best: list[tuple[float, int]] = [(0.0, 0)] * (size + 1)
        for start in range(size - 1, -1, -1):
            best[start] = max(
                (log(frequency or 1) - self._log_total + best[end][0], end)
                for end, frequency in self._starting_at(run, start)
            )
        words = []
        at = 0
        while at < size:
            words.append(run[at : best[at][1]])
            at = best[at][1]
        return words

    def _starting_at(self, run: str, start: int) -> list[tuple[int, int]]:
        """Return (end, frequency) of the words that begin at a place, or of its character."""
        ends: list[tuple[int, int]] = []
        low = 0
        for end in range(start + 1, len(run) + 1):
            key = run[start:end].encode()
            low = bisect_left(self, key, low)
            word = self[low] if low < self._count else b""
            if not word.startswith(key):
                break
            if word == key and self._frequencies[low]:
                ends.append((end, self._frequencies[low]))
        return ends or [(start + 1, 0)]


def compile_dictionary(cache: "Path") -> "Path":
    """Write the memory-mapped form of jieba's dictionary into a folder, once; return its path.

    The name carries a digest of the source. Raises ``MissingToolError`` without jieba's package.
    """
    from hashlib import sha256

    from muniment.store.files import make_directory, write_atomic

    source = _jieba_dictionary().read_bytes()
    path = cache / f"{_NAME}{sha256(source).hexdigest()[:16]}.bin"
    if path.exists():
        return path
    make_directory(cache)
    write_atomic(path, [_compiled(source)])
    return path


def open_dictionary(cache: "Path") -> CompiledDictionary | None:
    """Open the newest compiled dictionary of a folder; None where there is no whole one."""
    try:
        paths = [path for path in cache.iterdir() if path.match(_NAME + "*.bin")]
        newest = max(paths, key=lambda path: path.stat().st_mtime, default=None)
        return CompiledDictionary(newest) if newest else None
    except (OSError, DamageError):
        return None


def _compiled(source: bytes) -> bytes:
    from array import array

    frequencies: dict[bytes, int] = {}
    total = 0
    for line in source.splitlines():
        fields = line.split(b" ")
        if len(fields) > 1:
            frequencies[fields[0]] = count = int(fields[1])
            total += count
    words = sorted(frequencies)
    offsets = array("I", [0])
    end = 0
    for word in words:
        end += len(word)
        offsets.append(end)
    head = array("I", [len(words), end, total & 0xFFFFFFFF, total >> 32])
    counts = array("I", map(frequencies.__getitem__, words))
    return b"".join((_MAGIC, head.tobytes(), offsets.tobytes(), counts.tobytes(), *words))


def _jieba_dictionary() -> "Path":
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        raise MissingToolError("jieba's dictionary is not installed", hint="pip install jieba")
    return Path(spec.origin).with_name("dict.txt")


def _damaged(path: "Path") -> DamageError:
    return DamageError(f"{path.name} is not a whole dictionary", code="index_damaged")
