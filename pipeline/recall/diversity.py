"""Keep a pack diverse: near-duplicates joined, sources spread."""

import re
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from muniment.pipeline.recall.items import Item
from muniment.store.text.fold import fold

_ALIKE = 0.85
# The same of what was read from two near-duplicate pictures or recordings.
_ALIKE_SHOWN = 0.6
_SHINGLE = 3
_SKETCH = 8
# Shorter texts that differ at all say different things.
_LEAST_ALIKE_CHARACTERS = 40
# Each further item of one source counts this much less, down to half.
_SPREAD = 0.95
_LEAST_SPREAD = 0.5
_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"\w+")


def key_of(text: str) -> str:
    """Return what two texts that differ in case, width and marks alone have in common."""
    return " ".join(_WORDS.findall(fold(text)))


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
        self._long: dict[str, list[tuple[Item, _Print]]] = {}
        self._shown: dict[tuple[str, str], list[tuple[Item, _Print]]] = {}

    def find(self, item: Item) -> Item | None:
        """Return the kept item that says the same; without one this item is kept."""
        own = _print_of(item.text)
        group = self._groups.get(item.asset or "")
        rivals = self._long.setdefault(own.digits, [])
        shown = self._shown.setdefault((group, item.kind), []) if group is not None else []
        same = self._by_key.get(own.key)
        if same is None and len(own.key) >= _LEAST_ALIKE_CHARACTERS:
            same = next((one for one, other in rivals if _alike(own, other)), None)
        if same is None:
            others = ((one, other) for one, other in shown if one.asset != item.asset)
            same = next((one for one, other in others if _share(own, other) >= _ALIKE_SHOWN), None)
        if same is None:
            self._by_key[own.key] = item
            shown.append((item, own))
            if len(own.key) >= _LEAST_ALIKE_CHARACTERS:
                rivals.append((item, own))
        return same


def spread(items: Sequence[Item]) -> list[Item]:
    """Order items by score, each further one of a source counting a little less."""
    seen: dict[str | None, int] = {}
    # A score only falls while it waits, so the top of the heap is recounted before it is taken.
    waiting = [(-item.score, -item.score, place) for place, item in enumerate(items)]
    heapify(waiting)
    ordered: list[Item] = []
    while waiting:
        counted, own, place = heappop(waiting)
        item = items[place]
        current = own * max(_LEAST_SPREAD, _SPREAD ** seen.get(item.group, 0))
        if current > counted:
            heappush(waiting, (current, own, place))
            continue
        seen[item.group] = seen.get(item.group, 0) + 1
        ordered.append(item)
    return ordered


class _Print(NamedTuple):
    key: str
    digits: str
    shingles: frozenset[str]
    # The first few shingles in their order: texts that share most shingles share some of these.
    sketch: frozenset[str]


def _print_of(text: str) -> _Print:
    key = key_of(text)
    shingles = {key[at : at + _SHINGLE] for at in range(max(1, len(key) - _SHINGLE + 1))}
    sketch = frozenset(sorted(shingles)[:_SKETCH])
    return _Print(key, "".join(_DIGITS.findall(key)), frozenset(shingles), sketch)


def _share(one: _Print, other: _Print) -> float:
    shared = len(one.shingles & other.shingles)
    return shared / max(1, len(one.shingles | other.shingles))


def _alike(one: _Print, other: _Print) -> bool:
    """Compare what two texts are made of."""
    if one.sketch.isdisjoint(other.sketch):
        return False
    small, large = sorted((len(one.shingles), len(other.shingles)))
    if small < _ALIKE * large:
        return False
    shared = len(one.shingles & other.shingles)
    return shared >= _ALIKE * (small + large - shared)
