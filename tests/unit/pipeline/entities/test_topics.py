"""Topics are connected entities; nothing of them is stored."""

from muniment.pipeline.entities.topics import connected


def test_pairs_that_touch_make_one_group_and_what_is_alone_none() -> None:
    assert connected([(1, 2), (4, 3), (2, 3), (6, 7)], {1, 2, 3, 4, 5, 6, 7}) == [
        [1, 2, 3, 4], [6, 7]
    ]  # fmt: skip


def test_a_pair_with_itself_or_with_what_is_not_shown_is_none() -> None:
    assert connected([(1, 1), (1, 9)], {1, 2}) == []
