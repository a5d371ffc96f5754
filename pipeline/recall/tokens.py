"""Count tokens without asking any provider: by an estimate, or as a model itself would."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from muniment.store.errors import MissingToolError, UsageError

Counter: TypeAlias = Callable[[str], int]
# An estimate of one token at least for every four characters keeps the bound on characters, too.
CHARACTERS_A_TOKEN = 4
# Vocabularies that a package of the extra brings, by the names that they are known under.
VOCABULARIES = ("cl100k_base", "o200k_base", "o200k_harmony", "qwen3.5")


def estimate(text: str) -> int:
    """Count four ASCII characters, or one of any other script, as a token.

    >>> estimate("four words of text"), estimate("四个字符")
    (5, 4)
    """
    if text.isascii():
        return -(-len(text) // CHARACTERS_A_TOKEN)
    narrow = len(text.encode("ascii", "ignore"))
    return len(text) - narrow + -(-narrow // CHARACTERS_A_TOKEN)


def cost_of(lines: Sequence[str], count: Counter) -> int:
    """Count the tokens of lines, each with its end, never fewer than their characters allow."""
    total = 0
    for line in lines:
        least = len(line) // CHARACTERS_A_TOKEN + 1
        # Of ASCII the estimate says just that.
        plain = count is estimate and line.isascii()
        total += least if plain else max(count(line + "\n"), least)
    return total


def counter_of(tokenizer: str | None) -> Counter:
    """Return the counter of a packaged vocabulary or of a ``tokenizer.json``; none: the estimate.

    Raises ``UsageError`` for what is neither, ``MissingToolError`` without the library.
    """
    if tokenizer is None:
        return estimate
    return _packaged(tokenizer) if tokenizer in VOCABULARIES else _of_file(tokenizer)


def _packaged(vocabulary: str) -> Counter:
    try:
        from toktok import batch_count
    except ImportError as error:
        raise _missing("toktok-rs") from error
    return lambda text: int(batch_count([text], vocabulary, threads=1)[0])


def _of_file(path: str) -> Counter:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _missing("tokenizers") from error
    try:
        model = Tokenizer.from_file(path)
    except Exception as error:  # the library raises nothing narrower
        raise UsageError(
            "the tokenizer can't be read",
            code="bad_config",
            path=path,
            hint=f"name a tokenizer.json or one of: {', '.join(VOCABULARIES)}",
        ) from error
    # A file may ask for texts to be cut or filled up to a length: neither is their count.
    model.no_truncation()
    model.no_padding()
    return lambda text: len(model.encode(text, add_special_tokens=False).ids)


def _missing(package: str) -> MissingToolError:
    return MissingToolError(
        f"counting tokens exactly needs the package {package}",
        hint="pip install 'muniment[tokenizer]'",
    )
