import re

import numpy as np
import pytest

from muniment.adapters.models.labels.choosing import labels_in
from muniment.adapters.models.labels.words import PRINT, words

LEAST = {"least_class": 0.5, "least_group": 0.45, "least_widest": 0.6}
SAID = words()


def number(english: str) -> int:
    return next(at for at, name in enumerate(SAID.classes) if name.english == english)


def shares(**given: float) -> np.ndarray:
    """Return the given shares by class, the rest spread over all."""
    made = np.full(1_000, (1 - sum(given.values())) / 1_000)
    for name, share in given.items():
        made[number(name.replace("_", " "))] += share
    return made


def english(found: np.ndarray) -> list[str]:
    return [label.english for label in labels_in(found, **LEAST)]


def test_a_sure_class_comes_with_what_it_is_a_kind_of() -> None:
    found = labels_in(shares(Samoyed=0.8), **LEAST)

    assert [(one.english, one.chinese) for one in found] == [
        ("Samoyed", "萨摩耶犬"), ("dog", "狗"), ("animal", "动物"),
    ]  # fmt: skip
    assert found[0].confidence < found[1].confidence < found[2].confidence <= 1


def test_classes_of_one_group_make_it_sure_together() -> None:
    torn = shares(Samoyed=0.3, Pomeranian=0.3, Keeshond=0.1)

    assert english(torn) == ["dog", "animal"]


def test_where_nothing_is_sure_nothing_is_said() -> None:
    assert english(np.full(1_000, 0.001)) == []
    assert english(shares(Samoyed=0.2, espresso=0.2, church=0.2)) == []


def test_the_widest_group_must_be_surer_than_its_many_classes_make_it() -> None:
    assert english(shares(Samoyed=0.1, lion=0.1, tench=0.05)) == []


def test_pages_and_screens_are_never_named() -> None:
    assert english(shares(website=0.9)) == []
    assert english(shares(menu=0.5, envelope=0.4)) == []


def test_every_class_has_plain_words_in_both_languages() -> None:
    assert len(SAID.classes) == 1_000
    for name in [*SAID.classes, *SAID.groups.values()]:
        if name is SAID.groups[PRINT]:
            continue
        assert re.fullmatch(r"[A-Za-z][A-Za-z.' -]+", name.english), name
        assert re.search("[\u3400-\u9fff]", name.chinese), name
        assert name.group in SAID.groups or not name.group


def test_no_two_classes_share_a_name() -> None:
    assert len({name.english for name in SAID.classes}) == 1_000
    assert len({name.chinese for name in SAID.classes}) == 1_000


@pytest.mark.parametrize(
    ("at", "named"),
    [(0, "tench"), (151, "Chihuahua"), (258, "Samoyed"), (281, "tabby cat"), (404, "airliner"),
     (555, "fire truck"), (700, "paper towel"), (817, "sports car"), (967, "espresso"),
     (999, "toilet paper")],
)  # fmt: skip
def test_names_are_in_the_classifiers_order(at: int, named: str) -> None:
    assert SAID.classes[at].english == named


def test_groups_end_somewhere() -> None:
    assert list(SAID.above("butterfly")) == ["butterfly", "insect", "animal"]
    assert all(len(list(SAID.above(group))) <= 3 for group in SAID.groups)
