import pytest

from muniment.pipeline.recall.request import Request, instant
from muniment.store.errors import UsageError


def test_a_budget_below_the_least_is_refused() -> None:
    with pytest.raises(UsageError, match="too small"):
        Request("x", token_budget=255)

    assert Request("x", token_budget=256).token_budget == 256


@pytest.mark.parametrize("fields", [{"fusion": "sum"}, {"semantic": "maybe"}, {"require": "none"}])
def test_a_value_outside_its_range_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Request("x", **fields)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2026-02-28", "2026-02-28", "2026-03-01"),
    ],
)
def test_a_day_month_or_year_has_a_start_and_an_end(text: str, start: str, end: str) -> None:
    assert instant(text)[:10] == start
    assert instant(text, end=True)[:10] == end


def test_an_offset_is_turned_into_utc() -> None:
    assert instant("2026-03-02T10:00+08:00") == "2026-03-02T02:00:00.000000Z"


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "9999", "2026-02-30"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        instant(text, end=True)
