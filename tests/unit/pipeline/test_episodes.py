from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muniment.pipeline.episode_drafts import EpisodeInput
from muniment.pipeline.episodes import group, group_key, metres_between, overlapping
from muniment.store.ids import made
from muniment.store.times import utc_text

NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)
BERLIN = (52.52, 13.405)
POTSDAM = (52.39, 13.06)
NEXT_STREET = (52.525, 13.41)


def at(minutes: float) -> str:
    return utc_text(NOON + timedelta(minutes=minutes))


def message(name: str, minutes: float | None, **other: Any) -> EpisodeInput:
    row = EpisodeInput(
        observation=f"obs_{name}",
        asset=f"sha256:{name}",
        family="chat",
        kind="message",
        instant=None if minutes is None else at(minutes),
        thread="trip",
        author="Ana",
        place=None,
        source="phone",
        duration_ms=None,
        name="chat.txt",
        text=f"message {name}",
    )
    return row._replace(**other)


def photo(name: str, minutes: float | None, **other: Any) -> EpisodeInput:
    defaults: Mapping[str, Any] = {
        "family": "image",
        "kind": "ocr",
        "thread": None,
        "author": None,
        "name": f"{name}.jpg",
    }
    return message(name, minutes)._replace(**{**defaults, **other})


def members(rows: list[EpisodeInput]) -> list[set[str]]:
    found = [{member.removeprefix("obs_") for member in draft.members} for draft in group(rows)]
    return sorted(found, key=min)


def test_a_thread_splits_at_a_gap_over_four_hours_only() -> None:
    rows = [message("a", 0), message("b", 240), message("c", 481)]

    assert members(rows) == [{"a", "b"}, {"c"}]


def test_threads_and_sources_never_mix() -> None:
    rows = [message("a", 0), message("b", 1, thread="work"), message("c", 2, source="laptop")]

    assert members(rows) == [{"a"}, {"b"}, {"c"}]


def test_messages_without_a_time_make_an_episode_of_their_own() -> None:
    rows = [message("a", 0), message("b", None, position=1), message("c", None, position=0)]

    assert members(rows) == [{"a"}, {"b", "c"}]
    untimed = next(draft for draft in group(rows) if len(draft.members) == 2)
    assert untimed.members == ("obs_c", "obs_b")
    assert untimed.start is None


def test_photos_split_at_a_gap_over_ninety_minutes() -> None:
    rows = [photo("a", 0), photo("b", 90), photo("c", 181)]

    assert members(rows) == [{"a", "b"}, {"c"}]


def test_photos_split_where_the_place_changes_by_more_than_five_kilometres() -> None:
    rows = [
        photo("a", 0, place=BERLIN),
        photo("b", 5, place=None),
        photo("c", 10, place=NEXT_STREET),
        photo("d", 40, place=POTSDAM),
    ]

    assert members(rows) == [{"a", "b", "c"}, {"d"}]


def test_a_place_is_compared_within_its_own_run_of_time_only() -> None:
    rows = [photo("a", 0, place=BERLIN), photo("b", 200), photo("c", 205, place=POTSDAM)]

    assert members(rows) == [{"a"}, {"b", "c"}]


@pytest.mark.parametrize(
    ("family", "duration_ms", "kind"),
    [
        ("video", 59_999, "moments"),
        ("video", 60_000, "video"),
        ("audio", 5_000, "moments"),
        ("audio", 600_000, "recording"),
        ("audio", None, "recording"),
        ("pdf", None, "document"),
        ("text", None, "document"),
        ("image", None, "moments"),
    ],
)
def test_short_clips_join_photos_and_long_ones_stand_alone(
    family: str, duration_ms: int | None, kind: str
) -> None:
    row = photo("a", 0, family=family, duration_ms=duration_ms)

    assert group_key(row).kind == kind


def test_a_document_is_one_episode_whatever_its_times() -> None:
    rows = [photo(name, 1000 * n, family="pdf", asset="sha256:x") for n, name in enumerate("ab")]

    assert members(rows) == [{"a", "b"}]


def test_a_mail_thread_is_one_episode_however_long_it_takes() -> None:
    rows = [message("a", 0, family="mail"), message("b", 60_000, family="mail")]

    assert members(rows) == [{"a", "b"}]


def test_a_photo_without_a_time_stands_alone() -> None:
    assert members([photo("a", None), photo("b", None)]) == [{"a"}, {"b"}]


def test_the_rows_of_one_photo_stay_together() -> None:
    rows = [photo("a", 0, asset="sha256:x"), photo("b", 200), photo("c", 0, asset="sha256:x")]

    assert members(rows) == [{"a", "c"}, {"b"}]


def test_the_anchor_is_the_least_by_time_then_id_and_makes_the_id() -> None:
    (draft,) = group([message("c", 0), message("b", 0), message("a", 1)])

    assert draft.anchor == "obs_b"
    assert draft.id == made("ep", "obs_b", draft.rule)


def test_a_late_arrival_changes_the_members_and_not_the_id() -> None:
    (before,) = group([message("a", 0), message("c", 120)])
    (after,) = group([message("a", 0), message("b", 60), message("c", 120)])

    assert after.id == before.id
    assert after.members == ("obs_a", "obs_b", "obs_c")


def test_a_late_arrival_that_bridges_two_runs_keeps_the_older_id() -> None:
    older, newer = sorted(
        group([message("a", 0), message("c", 400)]), key=lambda draft: draft.first or ""
    )
    (joined,) = group([message("a", 0), message("b", 200), message("c", 400)])

    assert joined.id == older.id != newer.id


def test_start_end_participants_and_place_are_those_of_the_rows() -> None:
    rows = [
        message("a", 0, author="Ana", place=BERLIN),
        message("b", 5, author="Bo"),
        message("c", 9, author="Ana"),
    ]
    (draft,) = group(rows)

    assert (draft.first, draft.last) == (at(0), at(9))
    assert draft.start == {"utc": at(0), "local": None}
    assert draft.participants == ("Ana", "Bo")
    assert draft.place == {"latitude": BERLIN[0], "longitude": BERLIN[1]}
    assert draft.title == "Ana, Bo · 2026-05-06"


def test_a_recording_ends_when_it_is_over() -> None:
    occurred = {
        "utc": at(0),
        "local": "2026-05-06T14:00:00.000000",
        "offset": "+02:00",
    }
    row = photo("a", 0, family="audio", duration_ms=600_000, occurred=occurred)
    (draft,) = group([row])

    assert draft.last == at(10)
    assert draft.end == {
        "utc": at(10),
        "local": "2026-05-06T14:10:00.000000",
        "offset": "+02:00",
    }


def test_the_title_counts_further_photos() -> None:
    (draft,) = group([photo("a", 0), photo("b", 1), photo("c", 2)])

    assert draft.title == "a.jpg +2 · 2026-05-06"


def test_media_and_messages_of_the_same_time_and_source_are_each_others_context() -> None:
    rows = [
        message("a", 0),
        message("b", 30),
        photo("c", 10),
        photo("d", 10, source="camera"),
        photo("e", 200),
        photo("f", 12, family="video", duration_ms=90_000),
    ]
    drafts = {draft.anchor: draft.id for draft in group(rows)}
    links = overlapping(group(rows))

    assert set(links[drafts["obs_a"]]) == {drafts["obs_c"], drafts["obs_f"]}
    assert links[drafts["obs_c"]] == (drafts["obs_a"],)
    assert drafts["obs_d"] not in links
    assert drafts["obs_e"] not in links


def test_distances_are_great_circles() -> None:
    assert metres_between(BERLIN, BERLIN) == 0
    assert 26_000 < metres_between(BERLIN, POTSDAM) < 29_000
    assert metres_between((0.0, 179.99), (0.0, -179.99)) < 3_000


def test_the_gist_passes_over_small_talk_and_links() -> None:
    texts = ["Hi!", "ok", "https://example.com/a/b", "We fixed the leaking roof on Tuesday. Thanks"]
    rows = [message(str(n), n, text=text) for n, text in enumerate(texts)]
    (draft,) = group(rows)

    assert draft.gist == "We fixed the leaking roof on Tuesday."
    assert draft.gist_basis == "extractive"


def test_the_gist_reads_chinese_sentences() -> None:
    rows = [
        message("a", 0, text="你好！在吗？我们周五去杭州看西湖。"),
        message("b", 1, text="好的，记得带上雨伞和相机。"),
    ]
    (draft,) = group(rows)

    assert draft.gist == "我们周五去杭州看西湖。好的，记得带上雨伞和相机。"


def test_the_gist_has_a_ceiling_and_needs_no_sentence() -> None:
    (long,) = group([message("a", 0, text="many words of one endless sentence " * 100)])
    (short,) = group([message("a", 0, text="ok")])
    (none,) = group([message("a", 0, text=" ")])

    assert 100 < len(long.gist) <= 300
    assert (short.gist, none.gist) == ("ok", "")


def test_a_picture_is_told_by_its_description_before_its_text() -> None:
    rows = [
        photo("a", 0, asset="sha256:x", text="EXIT sign above door"),
        photo("b", 0, asset="sha256:x", kind="visual", text="A corridor with two doors."),
        photo("c", 0, asset="sha256:x", kind="metadata", text="Camera model number seven"),
    ]
    (draft,) = group(rows)

    assert draft.gist == "A corridor with two doors."
