import pytest

from muniment.pipeline.recall.when import spans_in

NOW = "2026-03-10T12:00:00.000000Z"  # a Tuesday


def days(query: str) -> list[tuple[str, str]]:
    spans, _ = spans_in(query, NOW)
    return [(span.start[:10], span.end[:10]) for span in spans]


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("what happened on 2023-05-08?", "2023-05-08", "2023-05-09"),
        ("what happened on 8 May 2023?", "2023-05-08", "2023-05-09"),
        ("what happened on May 8th, 2023?", "2023-05-08", "2023-05-09"),
        ("photos from May 2023", "2023-05-01", "2023-06-01"),
        ("photos from 2023", "2023-01-01", "2024-01-01"),
        ("what did we do in July?", "2025-07-01", "2025-08-01"),
        ("what did I say yesterday?", "2026-03-09", "2026-03-10"),
        ("the meeting last week", "2026-03-02", "2026-03-09"),
        ("the trip last month", "2026-02-01", "2026-03-01"),
        ("the trip last year", "2025-01-01", "2026-01-01"),
        ("the holiday last summer", "2025-06-01", "2025-09-01"),
        ("two weeks ago", "2026-02-21", "2026-02-28"),
        ("2023年5月8日的会议", "2023-05-08", "2023-05-09"),
        ("2023年5月的照片", "2023-05-01", "2023-06-01"),
        ("去年的旅行", "2025-01-01", "2026-01-01"),
        ("昨天说了什么", "2026-03-09", "2026-03-10"),
        ("上周的会议", "2026-03-02", "2026-03-09"),
        ("上个月的账单", "2026-02-01", "2026-03-01"),
    ],
)
def test_time_words_become_spans(query: str, start: str, end: str) -> None:
    assert (start, end) in days(query)


@pytest.mark.parametrize(
    "query", ["Who may come?", "I march on", "31 February 2023", "99999年", "无关的问题", ""]
)
def test_words_that_name_no_time_give_no_span(query: str) -> None:
    assert days(query) == []


def test_the_words_of_a_time_are_told() -> None:
    _, words = spans_in("what did we do last week in Osaka", NOW)

    assert words == ["last week"]
