import pytest

from muniment.pipeline.recall.fuse import Signal, add_group_prior, fuse, nudge, ordered


def keys(signals: list[Signal], calibration: float = 0.0) -> list[str]:
    return [hit.key for hit in fuse(signals, calibration=calibration)]


def test_plain_fusion_adds_reciprocal_ranks() -> None:
    first, second = fuse(
        [Signal("fts", [("a", 9.0), ("b", 1.0)]), Signal("vector", [("b", 0.9)])], calibration=0.0
    )

    assert (first.key, first.signals) == ("b", {"fts": 2, "vector": 1})
    assert first.score == pytest.approx(1 / 62 + 1 / 61)
    assert second.score == pytest.approx(1 / 61)


def test_calibrated_fusion_keeps_how_much_better_a_hit_is() -> None:
    signals = [
        Signal("fts", [("a", 10.0), ("b", 1.0)]),
        Signal("vector", [("b", 0.9), ("a", 0.89)]),
    ]

    assert keys(signals, 0.0) == ["a", "b"]
    assert keys(
        [Signal("fts", [("a", 10.0), ("b", 1.0)]), Signal("vector", [("b", 0.2)])], 0.9
    ) == [
        "b",
        "a",
    ]


def test_a_weight_scales_a_signal() -> None:
    strong = [Signal("fts", [("a", 1.0)]), Signal("vector", [("b", 1.0)], weight=2.0)]

    assert keys(strong) == ["b", "a"]


def test_ties_are_in_a_fixed_order() -> None:
    assert keys([Signal("fts", [("b", 1.0)]), Signal("vector", [("a", 1.0)])]) == ["a", "b"]


def test_a_group_that_answers_well_lifts_its_members() -> None:
    hits = fuse([Signal("fts", [("a", 1.0), ("b", 0.9), ("c", 0.89)])], calibration=1.0)

    add_group_prior(hits, ["x", "y", "y"], weight=0.5)

    assert [hit.key for hit in ordered(hits)] == ["b", "c", "a"]


def test_nudges_order_but_bring_nothing_in() -> None:
    hits = fuse([Signal("fts", [("a", 1.0), ("b", 1.0)])])

    nudged = nudge(hits, lambda key: {"hint": 0.5} if key == "b" else {})

    assert [hit.key for hit in nudged] == ["b", "a"]


def test_no_signal_finds_nothing() -> None:
    assert fuse([]) == []
