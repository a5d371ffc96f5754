import pytest
from support.stores import TinyStore

from muniment.store.assets import Taken
from muniment.store.ids import asset_id
from muniment.store.ledger import attempts as module
from muniment.store.records import Producer


def add(tiny: TinyStore, data: bytes, family: str = "text", *, derived: bool = False) -> int:
    """Add an asset of a family; return its number."""
    assets = tiny.ledger.assets
    number, _ = assets.add(Taken(asset_id(data), len(data), data, data), derived=derived)
    assets.add_type(number, "x/y", family, "1")
    return number


def attempt(tiny: TinyStore, asset: int, status: str = "ok", **fields: object) -> int:
    """Record an attempt of the reader ``plain`` with the fingerprint ``f``."""
    values = {"run": "run_test", "status": status} | fields
    fingerprint = str(values.pop("fingerprint", "f"))
    return tiny.ledger.attempts.add(
        asset, "observe", "plain", fingerprint, **values  # type: ignore[arg-type]
    )  # fmt: skip


def to_do(tiny: TinyStore, fingerprint: str = "f", **options: object) -> list[int]:
    families = options.pop("families", ["text"])
    rows = tiny.ledger.attempts.to_do(
        "observe", fingerprint.split(), families, **options  # type: ignore[arg-type]
    )  # fmt: skip
    return [row.seq for row in rows]


def test_what_has_no_finished_attempt_is_to_do(tiny: TinyStore) -> None:
    one, two, _ = add(tiny, b"1"), add(tiny, b"2"), add(tiny, b"3", "image")
    assert to_do(tiny) == [one, two]

    attempt(tiny, one)

    assert to_do(tiny) == [two]
    assert to_do(tiny, "g") == [one, two]
    assert to_do(tiny, "g f") == to_do(tiny, "f g") == [two]
    assert to_do(tiny, families=[]) == []


@pytest.mark.parametrize(
    ("status", "transient", "again", "when_asked"),
    [
        ("ok", False, False, False), ("empty", False, False, False),
        ("skipped", False, False, False), ("partial", False, False, True),
        ("failed", False, False, True), ("encrypted", False, False, True),
        ("unsupported", False, False, True), ("failed", True, True, True),
        ("partial", True, True, True), ("unsupported", True, True, True),
    ],
)  # fmt: skip
def test_a_fault_of_the_file_stands_and_one_of_the_machine_does_not(
    tiny: TinyStore, status: str, transient: bool, again: bool, when_asked: bool
) -> None:
    asset = add(tiny, b"1")
    attempt(tiny, asset, status, transient=transient)

    assert bool(to_do(tiny)) is again
    assert bool(to_do(tiny, retry_failed=True)) is when_asked


def test_the_newest_attempt_counts(tiny: TinyStore) -> None:
    asset = add(tiny, b"1")
    attempt(tiny, asset, "failed", transient=True)
    attempt(tiny, asset)
    assert not to_do(tiny)

    attempt(tiny, asset, "failed", transient=True)
    assert to_do(tiny) == [asset]


def test_work_comes_in_the_order_of_sniffing_past_the_mark(
    tiny: TinyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    numbers = [add(tiny, bytes([n])) for n in range(5)]
    mark = tiny.ledger.assets.type_number(numbers[1])
    tiny.ledger.assets.add_type(numbers[0], "x/y", "text", "2")

    assert to_do(tiny) == [*numbers[1:], numbers[0]]
    assert to_do(tiny, after=mark) == [*numbers[2:], numbers[0]]
    assert to_do(tiny, after=tiny.ledger.assets.newest_type()) == []


def test_what_is_written_while_work_is_handed_out_is_left_for_the_next_time(
    tiny: TinyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    numbers = [add(tiny, bytes([n])) for n in range(5)]
    seen = []
    for row in tiny.ledger.attempts.to_do("observe", ["f"], ["text"]):
        seen.append(row.seq)
        with tiny.ledger.unit():
            attempt(tiny, row.seq)
            add(tiny, bytes([100 + row.seq]))
            tiny.ledger.assets.add_type(row.seq, "x/y", "text", "2")

    assert seen == numbers
    assert len(to_do(tiny)) == 5
    assert tiny.ledger.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)


def test_a_derived_asset_is_read_when_it_is_asked_for_or_seen_by_itself(tiny: TinyStore) -> None:
    video = add(tiny, b"video", "video")
    frame, attachment, page = (add(tiny, data, derived=True) for data in (b"f", b"a", b"p"))
    by = attempt(tiny, video)
    for asset, observe in ((frame, False), (attachment, True), (page, False)):
        tiny.ledger.assets.derive(
            asset, video, by, relation="part", locator=None, name="", observe=observe
        )
    assert to_do(tiny) == [attachment]
    mark = tiny.ledger.assets.newest_type()

    tiny.ledger.assets.see(
        (page, asset_id(b"p")), b"/p", source="s", origin="user", size=1, run="run_test"
    )

    assert to_do(tiny) == [attachment, page]
    assert to_do(tiny, after=mark) == [page]


def test_failures_that_stand_are_counted_by_asset_and_without_this_run(tiny: TinyStore) -> None:
    one, two = add(tiny, b"1"), add(tiny, b"2")
    attempt(tiny, one, "failed")
    tiny.ledger.attempts.add(one, "observe", "other", "o", status="failed", run="run_test")
    attempt(tiny, two, "failed", run="run_now")

    assert tiny.ledger.attempts.standing_failures() == 2
    assert tiny.ledger.attempts.standing_failures("run_now") == 1
    attempt(tiny, one, run="run_now")
    tiny.ledger.attempts.add(one, "observe", "other", "o", status="ok", run="run_now")
    assert tiny.ledger.attempts.standing_failures("run_now") == 0


def test_newest_attempts_are_counted_and_told(tiny: TinyStore) -> None:
    one, two = add(tiny, b"1"), add(tiny, b"2")
    attempt(tiny, one, "failed", code="broken", message="caf\udce9 is broken")
    attempt(tiny, two, "failed")
    attempt(tiny, two)

    assert tiny.ledger.attempts.by_status() == {"observe": {"failed": 1, "ok": 1}}
    (latest,) = tiny.ledger.attempts.latest(one)
    assert (latest["status"], latest["code"]) == ("failed", "broken")
    assert latest["message"] == "caf\ufffd is broken"


def test_a_mark_only_moves_forward(tiny: TinyStore) -> None:
    attempts = tiny.ledger.attempts
    assert attempts.mark("group") == 0
    for mark in (5, 3, 5, 7):
        attempts.set_mark("group", mark)
        attempts.set_mark("observe", 1, "f")

    assert attempts.mark("group") == 7
    assert attempts.mark("observe", "f") == 1
    assert attempts.mark("observe", "g") == 0
    ((rows,),) = tiny.ledger.database.execute("SELECT count(*) FROM stage_mark")
    assert rows == 3


def test_a_run_that_was_cut_short_has_no_end(tiny: TinyStore) -> None:
    tiny.ledger.attempts.start_run("run_2", "caf\udce9")
    tiny.ledger.attempts.end_run("run_2", 3, {"failed": ["caf\udce9"]})

    ended, cut = tiny.ledger.attempts.runs()
    assert (ended["id"], ended["exit_code"]) == ("run_2", 3)
    assert ended["counts"] == {"failed": ["caf\ufffd"]}
    assert cut["ended_at"] is cut["exit_code"] is cut["counts"] is None


def test_going_back_to_a_producer_makes_its_reading_count_again(tiny: TinyStore) -> None:
    attempts, evidence = tiny.ledger.attempts, tiny.ledger.evidence
    producers = {v: Producer(adapter="plain_text", version=v, role="text") for v in ("1", "2")}
    fingerprints = {v: evidence.producer(one)[1] for v, one in producers.items()}
    first, other = tiny.note("read by 1"), tiny.note("never read by 2")
    with tiny.ledger.unit():
        assert attempts.reinstate("observe", "plain_text", fingerprints["1"], "run_3") == 0
    second = tiny.observe_again(first, "read by 2")
    assert not evidence.is_live(first)

    with tiny.ledger.unit():
        assert attempts.reinstate("observe", "plain_text", fingerprints["1"], "run_3") == 1
        assert attempts.reinstate("observe", "plain_text", fingerprints["1"], "run_3") == 0

    assert [evidence.is_live(one) for one in (first, second, other)] == [True, False, True]
    with tiny.ledger.unit():
        assert attempts.reinstate("observe", "plain_text", fingerprints["2"], "run_4") == 1
    assert [evidence.is_live(one) for one in (first, second, other)] == [False, True, True]
