from typing import Any

import pytest
from support.stores import Line, TinyStore

from muniment.store.ledger.evidence import observation_id
from muniment.store.records import CharLocator, Observation, Producer

DAY = {"local": "2026-03-02", "utc": None, "offset": None, "zone_source": None, "precision": "day"}


def at(instant: str) -> dict[str, Any]:
    return {"utc": f"{instant}.000000Z", "local": None, "offset": None, "zone_source": "utc",
            "precision": "second"}  # fmt: skip


def live(tiny: TinyStore) -> list[str]:
    return [row.text for row in tiny.ledger.evidence.after(0, 100)]


def observe(tiny: TinyStore, version: str, texts: dict[str, str], *, role: str = "ocr") -> None:
    """Let a version of a reader answer for the kinds named, in one attempt."""
    producer = Producer(adapter="ocr", version=version, role=role)
    with tiny.ledger.unit():
        evidence = tiny.ledger.evidence
        number, fingerprint = evidence.producer(producer)
        (asset,) = tiny.ledger.assets.rows()
        attempt = tiny.ledger.attempts.add(
            asset.seq, "observe", "ocr", fingerprint, status="ok", run="run_test"
        )
        tiny.ledger.attempts.cover(asset.seq, attempt, [(kind, role, number) for kind in texts])
        rows = [
            Observation(
                id=observation_id(asset.id, kind, {}, fingerprint, 0), asset=asset.id, kind=kind,
                text=text, locator=CharLocator(start=0, end=1, line_start=1, line_end=1),
                producer=fingerprint, origin="media", created_at="2026",
            )
            for kind, text in texts.items() if text
        ]  # fmt: skip
        evidence.add(rows, asset.seq, {fingerprint: number}, attempt)


@pytest.fixture
def picture(tiny: TinyStore) -> TinyStore:
    """Return a store with one picture that nobody has read yet."""
    tiny.file("a.png", [], data=b"png", family="image")
    return tiny


def test_a_newer_producer_of_the_role_supersedes_for_its_kinds_only(picture: TinyStore) -> None:
    observe(picture, "1", {"ocr": "old", "visual": "picture"})
    observe(picture, "1", {"metadata": "camera"}, role="read")
    observe(picture, "2", {"ocr": "new"})

    assert live(picture) == ["picture", "camera", "new"]
    assert picture.ledger.evidence.last() == 4


def test_another_role_supersedes_nothing(picture: TinyStore) -> None:
    observe(picture, "1", {"ocr": "ours"})
    observe(picture, "1", {"ocr": "theirs"}, role="supplied:x")

    assert live(picture) == ["ours", "theirs"]


def test_a_producer_that_found_nothing_supersedes_too(picture: TinyStore) -> None:
    observe(picture, "1", {"ocr": "invented"})
    observe(picture, "2", {"ocr": ""})

    assert live(picture) == []


def test_the_producer_that_answered_last_counts_when_they_alternate(picture: TinyStore) -> None:
    for version, texts in (("A", ["a"]), ("B", ["b"]), ("A", ["a"]), ("B", ["b"])):
        observe(picture, version, {"ocr": texts[0]})
        assert live(picture) == texts

    assert picture.ledger.evidence.last() == 2


def test_an_observation_that_no_coverage_names_is_as_old_as_its_attempt(tiny: TinyStore) -> None:
    observation = tiny.note("alone")
    tiny.ledger.database.create_scalar_function("erasing", lambda *_: 1, 0)
    tiny.ledger.database.execute("DELETE FROM coverage")
    assert tiny.ledger.evidence.is_live(observation)

    tiny.observe_again(observation, "again")

    assert live(tiny) == ["again"]


def test_the_same_reading_twice_adds_nothing(tiny: TinyStore) -> None:
    for _ in range(2):
        tiny.file("a.txt", [Line("one"), Line("two")])

    assert live(tiny) == ["one", "two"]


def test_an_observation_is_where_and_by_whom_and_never_its_text() -> None:
    place = {"type": "message", "index": 1}

    one = observation_id("sha256:0", "message", place, "p", 0)
    assert one == observation_id("sha256:0", "message", dict(reversed(place.items())), "p", 0)
    assert len({one, observation_id("sha256:0", "message", place, "p", 1),
                observation_id("sha256:0", "message", place, "q", 0),
                observation_id("sha256:0", "text", place, "p", 0),
                observation_id("sha256:1", "message", place, "p", 0)}) == 5  # fmt: skip


def test_rows_come_back_as_they_went_in(tiny: TinyStore) -> None:
    (observation,) = tiny.file(
        "chat.txt",
        [Line("a\0b 中\U0001f600", kind="message", author="Ada", thread="t", role="user",
              confidence=0.25, time="2026-03-02T10:00:00Z",
              attributes={"x": ["caf\udce9", float("nan"), 1]})],
    )  # fmt: skip

    row = tiny.ledger.evidence.get(observation)
    assert row is not None
    assert row.text == "a\0b 中\U0001f600"
    assert (row.author, row.thread, row.role, row.confidence) == ("Ada", "t", "user", 0.25)
    assert row.instant == "2026-03-02T10:00:00.000000Z"
    assert row.attributes == {"x": ["caf\ufffd", None, 1]}
    assert row.locator["type"] == "char"
    assert tiny.ledger.evidence.producer_of(row.producer)["adapter"] == "plain_text"


def test_many_ids_are_looked_up_at_once(tiny: TinyStore) -> None:
    wanted = [tiny.note(f"text {number}") for number in range(3)]

    found = tiny.ledger.evidence.live_by_id([*wanted, *(f"obs_{n}" for n in range(40_000))])

    assert set(found) == set(wanted)
    assert tiny.ledger.evidence.live_by_id([]) == {}


def test_the_best_source_of_a_capture_time_wins(tiny: TinyStore) -> None:
    observation = tiny.note("x")
    evidence = tiny.ledger.evidence
    row = evidence.get(observation)
    assert row is not None
    assert row.instant is None
    for moment, source, rank, confidence in (
        (at("2026-05-05T00:00:00"), "mtime", 80, 0.3),
        (at("2026-04-04T00:00:00"), "file_name", 70, 0.6),
        (DAY, "exif", 30, 0.5),
        (at("2026-06-06T00:00:00"), "exif", 30, 0.9),
        (at("2026-06-05T00:00:00"), "exif", 30, 0.9),
        (at("2026-06-05T00:00:00"), "exif", 30, 0.9),
    ):
        with tiny.ledger.unit():
            evidence.add_time(1, moment, source, rank, confidence)

    told = evidence.times(row.asset)
    assert [claim["source"] for claim in told] == ["exif", "exif", "exif", "file_name", "mtime"]
    assert told[0]["utc"] == "2026-06-05T00:00:00.000000Z"
    again = evidence.get(observation)
    assert again is not None
    assert again.instant == told[0]["utc"]


def test_a_derived_asset_has_the_time_of_its_parent_unless_it_tells_its_own(
    tiny: TinyStore,
) -> None:
    tiny.file("parent.txt", [Line("parent")], captured="2026-01-02T03:04:05Z")
    child = tiny.note("child")
    tiny.ledger.assets.derive(2, 1, 1, relation="member", locator=None, name="", observe=True)

    row = tiny.ledger.evidence.get(child)
    assert row is not None
    assert row.instant == "2026-01-02T03:04:05.000000Z"


def test_a_place_is_kept_once_and_the_first_one_answers(tiny: TinyStore) -> None:
    observation = tiny.note("x")
    evidence = tiny.ledger.evidence
    for position in ((1.5, 2.5, None), (1.5, 2.5, 9.0), (3.0, 4.0, None)):
        evidence.add_place(1, position, "exif", 1)

    row = evidence.get(observation)
    assert row is not None
    place = evidence.place(row.asset)
    assert place == {"latitude": 1.5, "longitude": 2.5, "altitude": None, "source": "exif"}
    ((rows,),) = tiny.ledger.database.execute("SELECT count(*) FROM capture_place")
    assert rows == 2


def test_what_is_cited_has_to_be_known(tiny: TinyStore) -> None:
    assert tiny.ledger.evidence.get("obs_x") is None
    assert not tiny.ledger.evidence.is_live("obs_x")
    assert tiny.ledger.evidence.producer_of("x") == {}
    assert tiny.ledger.evidence.place("sha256:0") is None
    assert tiny.ledger.evidence.last() == 0
