"""A text is weighed against a question line by line, just as it would be whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.store.text.fold import fold
from muniment.store.text.holding import covered
from muniment.store.text.query import analyse_query
from muniment.store.text.words import raw_words, stem

WORDS = st.sampled_from(
    ["paint", "painter", "painting", "plumber", "plumbing", "plum", "Straße", "ПЛАН", "2.5", "桥",
     "大桥", "长江大桥"]
)  # fmt: skip
LINES = st.lists(st.lists(WORDS, max_size=4).map(" ".join), min_size=1, max_size=6)
RELATIVES = {"paint": "paint", "painter": "paint", "plumber": "plumb", "plumb": "plumb"}


def plain(question: str, text: str) -> float:
    """Weigh a text as one, by the definition."""
    folded = fold(text)
    stems = set(map(stem, raw_words(folded)))
    roots = {RELATIVES.get(word, word) for word in stems}
    weight = 0.0
    for unit in analyse_query(question).units:
        if unit.view == "words":
            root = RELATIVES.get(unit.text, unit.text)
            related = 0.8 * (len(root) >= 4 and root in roots)
            weight += 1.0 if unit.text in stems else related
        elif unit.text in folded:
            weight += 1.0
        else:
            weight += 0.5 * sum(gram in folded for gram in unit.grams) / (len(unit.grams) or 1)
    return weight


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), LINES)
def test_lines_hold_what_the_whole_text_holds(question: str, lines: list[str]) -> None:
    text = "\n".join(lines)

    assert abs(covered(analyse_query(question), text, {}).weight - plain(question, text)) < 1e-9
