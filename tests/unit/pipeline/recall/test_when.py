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
        ("what did we say last Friday?", "2026-03-06", "2026-03-07"),
        ("last Tuesday's dinner", "2026-03-03", "2026-03-04"),
        ("the dentist next Monday", "2026-03-16", "2026-03-17"),
        ("the storm last March", "2025-03-01", "2025-04-01"),
        ("the storm last January", "2026-01-01", "2026-02-01"),
        ("the fair next March", "2027-03-01", "2027-04-01"),
        ("the summer of 2023", "2023-06-01", "2023-09-01"),
        ("photos of Winter 2022", "2022-12-01", "2023-03-01"),
        ("二〇二三年五月八日的会议", "2023-05-08", "2023-05-09"),
        ("二零二三年十二月的照片", "2023-12-01", "2024-01-01"),
        ("2023年二十一号", "2023-01-01", "2024-01-01"),
        ("三月二十一号吃了什么", "2025-03-21", "2025-03-22"),
        ("去年三月的旅行", "2025-03-01", "2025-04-01"),
        ("去年十月三号的旅行", "2025-10-03", "2025-10-04"),
        ("去年夏天的照片", "2025-06-01", "2025-09-01"),
        ("2023年的冬天", "2023-12-01", "2024-03-01"),
        ("上周五的饭", "2026-03-06", "2026-03-07"),
        ("上个星期天", "2026-03-08", "2026-03-09"),
        ("上上周一", "2026-02-23", "2026-02-24"),
        ("下周三的会", "2026-03-18", "2026-03-19"),
        ("十二天前", "2026-02-26", "2026-02-27"),
    ],
)
def test_time_words_become_spans(query: str, start: str, end: str) -> None:
    assert (start, end) in days(query)


@pytest.mark.parametrize(
    "query",
    [
        "Who may come?",
        "last marching band",
        "四年级",
        "I march on",
        "31 February 2023",
        "99999年",
        "无关的问题",
        "",
    ],
)
def test_words_that_name_no_time_give_no_span(query: str) -> None:
    assert days(query) == []


def test_the_words_of_a_time_are_told() -> None:
    _, words = spans_in("what did we do last week in Osaka", NOW)

    assert words == ["last week"]
