"""Names are matched at borders, whatever stands around them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from muniment.store.text.classes import classes
from muniment.store.text.fold import fold
from muniment.store.text.names import folded_name, is_name, longest, possible_names, stands_in

LETTERS = st.text(st.characters(categories=("Lu", "Ll", "Lo")), min_size=2, max_size=8)
ANYTHING = st.text(max_size=40)


def word(text: str) -> bool:
    """Tell whether a folded text is one word of a script with spaces."""
    return is_name(text) and set(classes(text)) == {"w"}


@given(LETTERS, st.text("abcxyzéжλ", min_size=1, max_size=4))
def test_no_name_is_found_inside_of_a_longer_word(name: str, more: str) -> None:
    folded = folded_name(name)
    if not word(folded):
        return
    for text in (fold(more) + folded, folded + fold(more)):
        outside = text == folded or folded in (fold(more),)
        assert outside or not stands_in(text, folded)


@given(LETTERS, st.sampled_from([" ", ", ", ". ", "\n", "(", ")", "“", "：", "—"]), ANYTHING)
def test_a_name_between_marks_is_found(name: str, mark: str, around: str) -> None:
    folded = folded_name(name)
    if is_name(folded) and folded == fold(folded):
        assert stands_in(f"{fold(around)} {mark}{folded}{mark} x", folded)


@given(ANYTHING)
def test_every_possible_name_stands_in_its_text_and_is_its_own_form(text: str) -> None:
    folded = fold(text)
    for span in possible_names(folded):
        assert folded[span.start : span.end] == span.name
        assert stands_in(folded, span.name)


@given(st.lists(st.sampled_from(["小明", "王小明", "ann", "ann lee", "may"]), max_size=6))
def test_chosen_names_never_overlap(names: list[str]) -> None:
    spans = list(possible_names(" ".join(names)))

    found = longest(spans, {"小明", "王小明", "ann", "ann lee", "may"})

    assert all(one.end <= other.start for one, other in pairwise(found))
