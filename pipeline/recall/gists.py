"""Which members of an episode its gist quotes, and with which words."""

import re
from collections.abc import Iterable, Sequence

from muniment.store.rows import ObservationRow

_EPISODE_PROOFS = 3
_PART_CHARACTERS = 240
_CUT_CHARACTERS = 100
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def quoted_members(
    gist: str, shown: Iterable[tuple[ObservationRow, Sequence[str]]]
) -> list[tuple[ObservationRow, str]]:
    """Return the members that a gist quotes, each with its first words that stand in it."""
    found = []
    for row, texts in shown:
        parts = (part for text in texts for part in _parts(text))
        quote = next((part for part in parts if _stands_in(part, gist)), None)
        if quote is not None:
            found.append((row, quote))
        if len(found) == _EPISODE_PROOFS:
            break
    return found


def _parts(text: str) -> list[str]:
    return [part.strip()[:_PART_CHARACTERS] for part in _SENTENCE_END.split(text) if part.strip()]


def _stands_in(part: str, gist: str) -> bool:
    """Compare without regard to white space; a gist cuts long sentences."""
    folded = " ".join(part.split())
    return folded in gist or (len(folded) > _CUT_CHARACTERS and folded[:_CUT_CHARACTERS] in gist)
