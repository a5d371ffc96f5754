import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.pipeline.memory import decay
from muniment.store.times import parse_utc, utc_text

BORN = "2024-01-01T00:00:00.000000Z"


def after(days: float) -> str:
    from datetime import timedelta

    return utc_text(parse_utc(BORN) + timedelta(days=days))


def test_strength_is_halved_every_180_days() -> None:
    assert decay.strength(1.0, BORN, BORN) == 1.0
    assert decay.strength(1.0, BORN, after(180)) == pytest.approx(0.5)
    assert decay.strength(1.0, BORN, after(360)) == pytest.approx(0.25)


def test_what_is_from_the_future_is_fresh() -> None:
    assert decay.strength(1.0, after(10), BORN) == 1.0


@given(st.floats(0, 5_000), st.floats(0, 5_000))
def test_halving_is_the_same_in_one_step_or_two(one: float, two: float) -> None:
    whole = decay.halved(one + two, 180)
    assert whole == pytest.approx(decay.halved(one, 180) * decay.halved(two, 180))


def test_importance_scales_strength_and_access_renews_and_lengthens_it() -> None:
    year = after(365)
    plain = decay.strength(0.5, BORN, year)
    used = decay.strength(0.5, BORN, year, accesses=1, last_access=BORN)
    renewed = decay.strength(0.5, BORN, year, accesses=1, last_access=year)

    assert plain == pytest.approx(0.5 * 0.5 ** (365 / 180))
    assert plain < used < renewed == 0.5
    assert decay.strength(0.5, BORN, year, accesses=9, last_access=BORN) > used


def test_an_emotion_is_halved_every_6_hours_and_gone_below_a_hundredth() -> None:
    assert decay.emotion(0.8, BORN, after(0.25)) == pytest.approx(0.4)
    assert decay.emotion(0.8, BORN, after(1)) == pytest.approx(0.05)
    assert decay.emotion(0.8, BORN, after(1.6)) == 0.0


@pytest.mark.parametrize(
    ("kind", "days", "shown"),
    [
        ("episode", 180, "full"),
        ("episode", 181, "gist"),
        ("observation", 730, "gist"),
        ("emotion", 731, "label"),
        ("fact", 5_000, "full"),
        ("preference", 5_000, "full"),
        ("agreement", 5_000, "full"),
        ("growth", 5_000, "full"),
    ],
)
def test_what_passes_fades_and_what_stands_does_not(kind: str, days: int, shown: str) -> None:
    assert decay.detail(kind, BORN, after(days)) == shown


def test_what_has_no_time_does_not_fade() -> None:
    assert decay.detail("episode", None, after(5_000)) == "full"


def test_what_is_pinned_is_never_faint() -> None:
    row = {"pinned": False, "importance": 0.5}

    assert decay.is_faint(row, BORN, after(600), 0, None)
    assert not decay.is_faint(row, BORN, after(500), 0, None)
    assert not decay.is_faint(row | {"pinned": True}, BORN, after(600), 0, None)
