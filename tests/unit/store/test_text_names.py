"""Names in text: whole words in scripts with spaces, the longest name where there are none."""

import pytest

from muniment.store.text.fold import fold
from muniment.store.text.names import folded_name, is_name, longest, possible_names, stands_in


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I saw May today", "May"),
        ("Ann's house", "Ann"),
        ("the Shenzhen-based lab", "Shenzhen"),
        ("(Ann) said", "Ann"),
        ("ask ann lee.", "Ann Lee"),
        ("José came", "Jose"),
        ("昨天我见了李梅。", "李梅"),
        ("和Ann一起", "Ann"),
        ("Ann", "ANN"),
        ("Анна пришла", "анна"),
    ],
)
def test_a_name_is_found_where_it_stands_by_itself(text: str, name: str) -> None:
    assert stands_in(fold(text), folded_name(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("maybe tomorrow", "May"),
        ("dismay", "May"),
        ("annual report", "Ann"),
        ("ann_lee wrote", "Ann"),
        ("ann@example.org wrote", "Ann"),
        ("Аннабель", "Анна"),
        ("a b", "a"),
        ("李", "李"),
        ("", "Ann"),
    ],
)
def test_a_part_of_a_word_or_one_letter_is_no_name(text: str, name: str) -> None:
    assert not stands_in(fold(text), folded_name(name))


def test_the_longest_known_name_wins_where_names_overlap() -> None:
    spans = list(possible_names(fold("王小明和小明, Ann Lee and Ann")))

    found = longest(spans, {"小明", "王小明", "ann", "ann lee"})

    assert [span.name for span in found] == ["王小明", "小明", "ann lee", "ann"]


def test_equal_names_share_a_form_and_signs_make_none() -> None:
    assert folded_name("  ANN   Lée ") == folded_name("Ann Lee") == "ann lee"
    assert folded_name("李華") == folded_name("李华")
    assert folded_name("—!") == ""
    assert not is_name("42")
    assert folded_name("x" * 200) == ""
