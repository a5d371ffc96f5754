"""The marks that near-duplicates are looked for by never rule out what is alike."""

from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.pipeline.recall.diversity import collapse, key_of
from muniment.pipeline.recall.items import Item

WORDS = st.sampled_from(["report", "a", "on", "budget", "preliminary", "Zahlung", "项目", "预算表"])
EDITS = st.lists(st.tuples(st.integers(0, 400), st.sampled_from([*"aeo 预"])), max_size=8)
LEAST, ALIKE = 40, 0.85


@st.composite
def families(draw: st.DrawFn) -> list[str]:
    """Return texts of which some differ in a few characters alone."""
    between = draw(st.sampled_from([" ", ""]))
    stem = list(between.join(draw(st.lists(WORDS, min_size=12, max_size=24))))
    texts = []
    for edits in draw(st.lists(EDITS, min_size=2, max_size=6)):
        own = list(stem)
        for place, character in edits:
            own[place % len(own)] = character
        texts.append("".join(own))
    return texts


def alike(one: str, other: str) -> bool:
    """Compare two texts by the characters in threes that they are made of."""
    keys = key_of(one), key_of(other)
    if keys[0] == keys[1]:
        return True
    if min(map(len, keys)) < LEAST:
        return False
    left, right = ({key[at : at + 3] for at in range(len(key) - 2)} for key in keys)
    return len(left & right) >= ALIKE * len(left | right)


@settings(max_examples=200, deadline=None)
@given(families())
def test_items_are_joined_just_as_by_comparing_each_with_each(texts: list[str]) -> None:
    kept: list[str] = []
    joined: dict[str, int] = {}
    for text in texts:
        exact = next((other for other in kept if key_of(other) == key_of(text)), None)
        found = exact or next((other for other in kept if alike(other, text)), None)
        if found is None:
            kept.append(text)
            joined[text] = 0
        else:
            joined[found] += 1

    items = [Item(f"observation:{at}", "observation", "text", text, None, [])
             for at, text in enumerate(texts)]  # fmt: skip

    assert {item.text: item.duplicates for item in collapse(items)} == joined
