"""Refuse a filter that names no kind and no family: it would find nothing and not say why."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from muniment.adapters import registry
from muniment.pipeline.recall.request import Filters
from muniment.pipeline.recall.search import MEMORY_KINDS, PLANES
from muniment.store.errors import UsageError
from muniment.store.ledger import Ledger

# What is said in a session and what is asked to be remembered is read by no reader.
_OWN_FAMILIES = frozenset({"event", "statement"})


def check_words(ledger: Ledger, filters: Filters) -> None:
    """Raise ``UsageError`` ``bad_value`` for a kind or family that nothing has."""
    if filters.kinds:
        readers = registry.readers()
        known = {kind for reader in readers for kind in reader.kinds}.union(MEMORY_KINDS, PLANES)
        _check("kind", filters.kinds, known, ledger.evidence.kinds)
    if filters.media:
        known = {family for reader in registry.readers() for family in reader.families}
        _check("media", filters.media, known | _OWN_FAMILIES, ledger.assets.families)


def _check(
    option: str, wanted: Iterable[str], known: set[str], kept: Callable[[], Iterable[str]]
) -> None:
    strange = [word for word in wanted if word not in known]
    if not strange:
        return
    known = known.union(kept())  # supplied observations may be of any kind
    for word in strange:
        if word not in known:
            close = get_close_matches(word, known, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"--{option} {word!r} is none that there is",
                code="bad_value",
                hint=f"{hint}one of: {', '.join(sorted(known))}",
            )
