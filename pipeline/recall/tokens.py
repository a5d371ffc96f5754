"""Count tokens without asking any provider: never fewer than a model would, in any language."""

from collections.abc import Callable
from typing import TypeAlias

Counter: TypeAlias = Callable[[str], int]
# An estimate of one token at least for every four characters keeps the bound on characters, too.
CHARACTERS_A_TOKEN = 4


def estimate(text: str) -> int:
    """Count four ASCII characters, or one of any other script, as a token.

    >>> estimate("four words of text"), estimate("四个字符")
    (5, 4)
    """
    if text.isascii():
        return -(-len(text) // CHARACTERS_A_TOKEN)
    wide = len(text) - sum(map(text.count, _ascii_in(text)))
    return wide + -(-(len(text) - wide) // CHARACTERS_A_TOKEN)


def _ascii_in(text: str) -> set[str]:
    return {character for character in set(text) if character.isascii()}
