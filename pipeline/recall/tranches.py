"""Look at as many hits as fill a budget, and at the others only where that is asked for."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from muniment.pipeline.recall.diversity import spread
from muniment.pipeline.recall.select import longest_excerpt
from muniment.pipeline.recall.tokens import CHARACTERS_A_TOKEN, estimate

if TYPE_CHECKING:
    from muniment.pipeline.recall.fuse import Fused
    from muniment.pipeline.recall.items import Item

# What a short item takes in all; and beside its text at the least, most of it its citation, and
# with a time.
_TOKENS_AN_ITEM = 74
_TOKENS_BESIDE, _TOKENS_OF_TIME = 38, 10
# One of few hits that is too long for a small budget does not mean that the next is; and to look at
# one more at a time costs more than to look at some that are not needed.
_LEAST_AT_ONCE = 12


def tranches(
    hits: "Sequence[Fused]", budget: int, look: "Callable[[list[Fused]], list[Item]]", *,
    at_once: bool = False,
) -> "Iterator[tuple[list[Item], int]]":  # fmt: skip
    """Yield items of observations, and how many hits are left then: first as many as fill a budget,
    then those of the others. ``at_once`` makes one of all.

    ``look`` makes items of hits; what is no evidence, or says nothing of the question, is none.
    """
    # In the order that would fill a pack, so that no source takes all the places.
    waiting = spread(hits)
    left = len(hits)
    first: list[Item] = []
    room, each = budget, _TOKENS_AN_ITEM
    while left and room > 0:
        wanted = left if at_once else max(-(-room // each), _LEAST_AT_ONCE)
        items = look(list(islice(waiting, wanted)))
        first += items
        left -= min(wanted, left)
        if items:
            taken = sum(_cost(item, budget) for item in items)
            room, each = room - taken, taken // len(items)
    yield first, left
    if left:
        yield look(list(waiting)), 0


def _cost(item: "Item", budget: int) -> int:
    """Return about how many tokens an observation takes in a pack, rather fewer than more."""
    beside = _TOKENS_BESIDE + len(item.proofs[0].asset.name) // CHARACTERS_A_TOKEN
    if item.time is not None:
        beside += _TOKENS_OF_TIME
    return beside + min(estimate(item.text), longest_excerpt(budget))
