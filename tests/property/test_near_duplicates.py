"""Near-duplicates are found by marks of their words, just as they would be pair by pair."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.pipeline.recall.diversity import collapse, key_of
from muniment.pipeline.recall.items import Item
from muniment.store.text.fold import fold

WORDS = st.sampled_from(
    ["the", "orchard", "orchards", "gave", "a", "pear", "pears", "2", "I", "梨子", "this", "year",
     "years", "of", "over-ripe", "it's", "ambers"]
)  # fmt: skip
LONG = st.lists(WORDS, min_size=6, max_size=24)
# Mostly small changes of one text, so that some are alike and some just are not.
TEXTS = LONG.flatmap(
    lambda base: st.lists(
        st.tuples(st.integers(0, len(base) - 1), WORDS).map(
            lambda change: " ".join([*base[: change[0]], change[1], *base[change[0] + 1 :]])
        )
        | LONG.map(" ".join),
        min_size=1, max_size=8,
    )
)  # fmt: skip


def item(text: str) -> Item:
    return Item(ref=text, plane="observation", kind="text", text=text, time=None, proofs=[])


def shingles(key: str) -> set[str]:
    return {key[at : at + 3] for at in range(max(1, len(key) - 2))}


def alike(one: str, other: str) -> bool:
    """Compare two keys by the definition."""
    if one == other:
        return True
    if min(len(one), len(other)) < 40 or re.findall(r"\d", one) != re.findall(r"\d", other):
        return False
    first, second = shingles(one), shingles(other)
    return len(first & second) >= 0.85 * len(first | second)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_what_is_kept_is_what_comparing_every_pair_keeps(texts: list[str]) -> None:
    kept: list[str] = []
    for text in texts:
        if not any(alike(key_of(text), key_of(other)) for other in kept):
            kept.append(text)

    assert [one.text for one in collapse([item(text) for text in texts])] == kept


@settings(deadline=None)
@given(st.text() | st.text(st.characters(max_codepoint=0x7F)))
def test_a_key_is_the_words_of_a_folded_text(text: str) -> None:
    assert key_of(text) == " ".join(re.findall(r"\w+", fold(text)))
