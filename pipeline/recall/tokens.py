"""Count tokens without asking any provider: never fewer than a model would, in any language."""

from collections.abc import Callable
from typing import TypeAlias

from muniment.store.errors import MissingToolError, UsageError

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
    narrow = len(text.encode("ascii", "ignore"))
    return len(text) - narrow + -(-narrow // CHARACTERS_A_TOKEN)


def counter_of(tokenizer: str | None) -> Counter:
    """Return the counter of a ``tokenizer.json``, the estimate when none is named.

    Raises ``UsageError`` for a file that is none, ``MissingToolError`` without the library.
    """
    if tokenizer is None:
        return estimate
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingToolError(
            "counting tokens exactly needs the tokenizers package", hint="pip install tokenizers"
        ) from error
    try:
        model = Tokenizer.from_file(tokenizer)
    except Exception as error:  # the library raises nothing narrower
        raise UsageError(
            "the tokenizer can't be read", code="bad_config", path=tokenizer
        ) from error
    return lambda text: len(model.encode(text, add_special_tokens=False).ids)
