"""Keep a pack diverse: near-duplicates joined, sources spread."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from heapq import heapify, heappop, heappush
from operator import or_
from typing import TYPE_CHECKING, TypeVar

from muniment.pipeline.recall.items import Item
from muniment.store.text.fold import ascii_splitter, fold

if TYPE_CHECKING:
    from muniment.pipeline.recall.fuse import Fused

Scored = TypeVar("Scored", "Item", "Fused")

_ALIKE = 0.85
# The same of what was read from two near-duplicate pictures or recordings.
_ALIKE_SHOWN = 0.6
_SHINGLE = 3
_BITS = 512
_BIT = [1 << place for place in range(_BITS)]
_MARKS_KEPT = 50_000
# Two sets this alike differ by at most this share of their sizes added up.
_MOST_APART = (1 - _ALIKE) / (1 + _ALIKE)
# Shorter texts that differ at all say different things.
_LEAST_ALIKE_CHARACTERS = 40
# Each further item of one source counts this much less, down to half.
_SPREAD = 0.95
_LEAST_SPREAD = 0.5
_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"\w+")
_ascii_words = ascii_splitter(_WORDS.fullmatch)


@lru_cache(maxsize=1_024)
def key_of(text: str) -> str:
    """Return what two texts that differ in case, width and marks alone have in common."""
    folded = fold(text)
    if folded.isascii():
        return " ".join(_ascii_words(folded))  # the same at a third of the cost
    return " ".join(_WORDS.findall(folded))


def collapse(items: Sequence[Item], groups: Mapping[str, str] | None = None) -> list[Item]:
    """Join near-duplicates onto the best of them, which keeps their count.

    ``groups`` names the group of each asset that shows or sounds nearly like another: what was
    read from both then may differ a little more.
    """
    kept: list[Item] = []
    seen = _Seen(groups or {})
    for item in items:
        same = seen.find(item)
        if same is None:
            item.duplicates = 0
            kept.append(item)
        else:
            same.duplicates += 1
    return kept


class _Seen:
    """Items kept so far; only those that can be alike are compared."""

    def __init__(self, groups: Mapping[str, str]) -> None:
        self._groups = groups
        self._by_key: dict[str, Item] = {}
        # Only what has the same numbers and is long enough can be nearly the same.
        self._long: defaultdict[str, _Long] = defaultdict(_Long)
        self._shown: dict[tuple[str, str], list[tuple[Item, _Print]]] = {}

    def find(self, item: Item) -> Item | None:
        """Return the kept item that says the same; without one this item is kept."""
        own = _Print(key_of(item.text))
        group = self._groups.get(item.asset or "") if self._groups else None
        shown = self._shown.setdefault((group, item.kind), []) if group is not None else []
        same = self._by_key.get(own.key)
        long = None
        if len(own.key) >= _LEAST_ALIKE_CHARACTERS:
            long = self._long["".join(_DIGITS.findall(own.key))]
            same = same or long.alike(own)
        if same is None and shown:
            others = ((one, other) for one, other in shown if one.asset != item.asset)
            same = next((one for one, other in others if _share(own, other) >= _ALIKE_SHOWN), None)
        if same is None:
            self._by_key[own.key] = item
            if group is not None:
                shown.append((item, own))
            if long is not None:
                long.keep(item, own)
        return same


class _Long:
    """Kept items of the same numbers, and the marks of each."""

    def __init__(self) -> None:
        self._kept: list[tuple[Item, _Print]] = []
        self._marks: list[int] = []
        self._furthest = 0.0

    def keep(self, item: Item, own: "_Print") -> None:
        """Keep an item to compare others with."""
        self._kept.append((item, own))
        self._marks.append(own.marks)
        self._furthest = max(self._furthest, own.reach)

    def alike(self, own: "_Print") -> Item | None:
        """Return the first item kept that is nearly the same."""
        # Each mark that only one has is at least one shingle that only one has.
        own_marks, most = own.marks, own.reach + self._furthest
        near = [
            place
            for place, marks in enumerate(self._marks)
            if (own_marks ^ marks).bit_count() <= most
        ]
        for place in near:
            item, other = self._kept[place]
            if _alike(own, other):
                return item
        return None


def spread(items: "Sequence[Scored]") -> "Iterator[Scored]":
    """Yield items by score, each further one of a source counting a little less."""
    seen: dict[str | None, int] = {}
    # A score only falls while it waits, so the top of the heap is recounted before it is taken.
    waiting = [(-item.score, -item.score, place) for place, item in enumerate(items)]
    heapify(waiting)
    while waiting:
        counted, own, place = heappop(waiting)
        item = items[place]
        times = seen.get(item.group)
        current = own * max(_LEAST_SPREAD, _SPREAD**times) if times else own
        if current > counted:
            heappush(waiting, (current, own, place))
            continue
        seen[item.group] = seen.get(item.group, 0) + 1
        yield item


class _Print:
    """What a text is made of; all its shingles are told apart only when they are asked for.

    ``marks`` has a bit for each shingle that is a space and the start of a word, or the end of one
    and a space, several to a bit. ``reach`` is how many of its shingles, no more than its
    characters, may be its own.
    """

    __slots__ = ("_shingles", "key", "marks", "reach")

    def __init__(self, key: str) -> None:
        self.key = key
        self.marks = _marks_of(key.split())
        self.reach = _MOST_APART * len(key)
        self._shingles: frozenset[str] | None = None

    @property
    def shingles(self) -> frozenset[str]:
        """Every run of three characters."""
        if self._shingles is None:
            key = self.key
            places = range(max(1, len(key) - _SHINGLE + 1))
            self._shingles = frozenset([key[at : at + _SHINGLE] for at in places])
        return self._shingles


class _Marks(dict[str, int]):
    """The bits of the shingles of a word that have a space on one side."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MARKS_KEPT:
            self.clear()
        bits = self[word] = _start(word) | (_end(word) if len(word) > 1 else 0)
        return bits


_MARKS = _Marks()


def _start(word: str) -> int:
    return _BIT[hash(word[:2]) % _BITS]


def _end(word: str) -> int:
    return _BIT[hash(word[-2:]) // _BITS % _BITS]


def _marks_of(words: Sequence[str]) -> int:
    """Return the bits of all starts and ends of words that are beside a space."""
    if len(words) < 2:  # noqa: PLR2004 (no space)
        return 0
    first, last = words[0], words[-1]
    marks = reduce(or_, map(_MARKS.__getitem__, words[1:-1]), 0)
    marks |= _end(first) if len(first) > 1 else 0
    return marks | (_start(last) if len(last) > 1 else 0)


def _share(one: _Print, other: _Print) -> float:
    shared = len(one.shingles & other.shingles)
    return shared / max(1, len(one.shingles | other.shingles))


def _alike(one: _Print, other: _Print) -> bool:
    small, large = sorted((len(one.shingles), len(other.shingles)))
    if small < _ALIKE * large:
        return False
    shared = len(one.shingles & other.shingles)
    return shared >= _ALIKE * (small + large - shared)
