from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from support.stores import TinyStore

from muniment.store import manifest
from muniment.store.database import open_database
from muniment.store.errors import NoStoreError, StateError, UsageError
from muniment.store.layout import Root, Scope
from muniment.store.verify import Report, verify

LARGE = b"x" * 100_000


@pytest.fixture
def tiny(root: Root) -> TinyStore:
    """Return a closed store with a large file, notes, a record and an episode."""
    store = TinyStore(root.path)
    store.file("large.bin", [], data=LARGE)
    observation = store.note("My name is Ada.")
    store.record("The user is called Ada.", observation, "Ada")
    store.episode([observation])
    store.close()
    return store


def check(tiny: TinyStore, **options: object) -> Report:
    return verify(tiny.root, Scope(), **options)  # type: ignore[arg-type]


def large_file(tiny: TinyStore) -> Path:
    (path,) = (path for path in tiny.paths.assets.rglob("*") if path.is_file())
    return path


def erasing(tiny: TinyStore, *statements: str) -> None:
    """Do to the ledger what only another program or a rotten disk would."""
    database = open_database(tiny.paths.ledger)
    database.pragma("foreign_keys", False)
    database.create_scalar_function("erasing", lambda *_: 1, 0)
    for statement in statements:
        database.execute(statement)
    database.close()


def damage(report: Report) -> list[tuple[str, str]]:
    return [(finding.code, finding.ref) for finding in report.findings if finding.damage]


def test_a_sound_store_is_found_sound(tiny: TinyStore) -> None:
    report = check(tiny)

    assert report.findings == []
    assert report.complete
    assert not report.damaged
    assert report.counts.pop("hashed_bytes") > 100_000
    assert report.counts == {
        "observations": 1, "episodes": 1, "candidates": 1, "records": 1, "entities": 0,
        "quotes": 2, "assets": 2, "hashed": 2,
    }  # fmt: skip
    assert report.as_dict()["damaged"] is False


def flip(path: Path) -> None:
    path.write_bytes(LARGE[:-1] + b"y")


@pytest.mark.parametrize(
    ("harm", "code"),
    [(flip, "asset_damaged"), (Path.unlink, "asset_missing"),
     (lambda path: path.write_bytes(b""), "asset_damaged")],
)  # fmt: skip
def test_a_large_asset_that_changed_is_damage(
    tiny: TinyStore, harm: Callable[[Path], object], code: str
) -> None:
    path = large_file(tiny)
    harm(path)

    report = check(tiny)

    assert damage(report) == [(code, f"sha256:{path.name}")]
    assert report.damaged
    assert "backup" in report.findings[0].hint


def test_small_assets_are_hashed_too(tiny: TinyStore) -> None:
    erasing(tiny, "UPDATE asset_bytes SET bytes = x'00'")
    assert [code for code, _ in damage(check(tiny))] == ["asset_damaged"]

    erasing(tiny, "DELETE FROM asset_bytes")
    assert [code for code, _ in damage(check(tiny))] == ["asset_missing"]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE record_evidence SET quote = 'Eve'", "quote_mismatch"),
        ("UPDATE candidate_evidence SET start = start + 1", "quote_mismatch"),
        ("UPDATE observation SET text = 'My name is Eve.'", "quote_mismatch"),
        ("DELETE FROM record_evidence", "record_without_evidence"),
        ("DELETE FROM candidate_evidence", "candidate_without_evidence"),
        (
            "INSERT INTO entity (id, kind, own, created_at) VALUES ('ent_1', 'person', 0, '')",
            "entity_without_evidence",
        ),
        ("DELETE FROM revision", "record_incomplete"),
        ("DELETE FROM episode_version", "episode_incomplete"),
        ("UPDATE episode SET anchor = 'obs_x'", "episode_without_anchor"),
        ("DELETE FROM observation", "reference_broken"),
        ("DELETE FROM asset", "reference_broken"),
        ("DROP TRIGGER observation_no_delete", "schema_changed"),
        ("DROP INDEX observation_asset", "schema_changed"),
        ("DROP VIEW observation_live", "schema_changed"),
        ("DROP VIEW capture_now", "schema_changed"),
    ],
)
def test_a_ledger_that_does_not_close_is_damage(tiny: TinyStore, statement: str, code: str) -> None:
    erasing(tiny, statement)

    assert code in {found for found, _ in damage(check(tiny))}


def test_a_trigger_that_was_weakened_is_damage(tiny: TinyStore) -> None:
    erasing(
        tiny, "DROP TRIGGER asset_no_delete",
        "CREATE TRIGGER asset_no_delete BEFORE DELETE ON asset WHEN 0 BEGIN SELECT 1; END",
    )  # fmt: skip

    assert damage(check(tiny)) == [("schema_changed", "trigger asset_no_delete")]


def test_pages_that_rotted_are_damage_whatever_else_can_still_be_said(tiny: TinyStore) -> None:
    data = bytearray(tiny.paths.ledger.read_bytes())
    for page in range(2, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    tiny.paths.ledger.write_bytes(data)

    assert "ledger_damaged" in {code for code, _ in damage(check(tiny))}


@pytest.mark.parametrize("content", [b"", b"rubbish" * 9999])
def test_a_ledger_that_cannot_be_opened_is_damage(tiny: TinyStore, content: bytes) -> None:
    tiny.paths.ledger.write_bytes(content)

    assert check(tiny).damaged
    assert tiny.paths.ledger.read_bytes() == content


def test_what_a_crash_leaves_behind_is_noted_and_no_damage(tiny: TinyStore) -> None:
    orphan = tiny.paths.asset("ab" * 32)
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_bytes(b"x")
    (tiny.paths.assets / "stray").write_bytes(b"x")
    (tiny.root.temporary / "scratch").mkdir()
    (tiny.root.temporary / "scratch" / "0a.partial").write_bytes(b"x")

    report = check(tiny)

    assert not report.damaged
    assert {(finding.code, Path(finding.ref).name) for finding in report.findings} == {
        ("orphan", "ab" * 32), ("orphan", "stray"), ("leftover", "0a.partial")
    }  # fmt: skip


def test_a_record_whose_evidence_was_read_again_is_noted(root: Root) -> None:
    store = TinyStore(root.path)
    observation = store.note("My name is Ada.")
    record = store.record("The user is called Ada.", observation, "Ada")
    store.observe_again(observation, "My name is Eva.")
    store.close()

    report = check(store)

    assert not report.damaged
    assert [(finding.code, finding.ref) for finding in report.findings] == [
        ("stale_evidence", f"record:{record}@1")
    ]


def test_a_rejected_candidate_may_misquote(root: Root) -> None:
    store = TinyStore(root.path)
    store.record("x", store.note("My name is Ada."), "Ada")
    with store.ledger.unit():
        store.ledger.memory.decide(1, "rejected", "quote mismatch", "gate")
    store.close()
    erasing(store, "UPDATE candidate_evidence SET quote = 'Eve'")

    assert not check(store).damaged


def test_parts_of_a_sample_add_up_to_the_whole(tiny: TinyStore) -> None:
    hashed = [check(tiny, sample=f"{part}/3").counts.get("hashed", 0) for part in (1, 2, 3)]

    assert sum(hashed) == 2
    assert check(tiny, sample="100%").counts["hashed"] == 2


def test_outside_the_sample_a_file_has_at_least_its_size(tiny: TinyStore) -> None:
    flip(large_file(tiny))
    assert not check(tiny, sample="0%").damaged

    large_file(tiny).write_bytes(b"short")
    report = check(tiny, sample="0%")
    assert report.damaged
    assert "hashed" not in report.counts


@pytest.mark.parametrize("sample", ["", "0/3", "4/3", "1/0", "101%", "-1%", "half", "1/3%"])
def test_a_sample_that_makes_no_sense_is_refused(tiny: TinyStore, sample: str) -> None:
    with pytest.raises(UsageError):
        check(tiny, sample=sample)


def test_a_check_that_ran_out_of_time_says_so(tiny: TinyStore) -> None:
    report = check(tiny, time_limit=0.0)

    assert not report.complete
    assert not report.damaged


def test_time_runs_out_inside_a_long_statement_too(
    tiny: TinyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from muniment.store import verify as module

    def interrupted(_: object) -> None:
        raise apsw.InterruptError

    monkeypatch.setattr(module, "_STEPS", (interrupted, *module._STEPS))

    assert not check(tiny).complete


def test_a_check_changes_nothing(tiny: TinyStore) -> None:
    def contents() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in tiny.root.path.rglob("*")
                if path.is_file() and not path.name.endswith(("-shm", "-wal"))}  # fmt: skip

    before = contents()
    check(tiny)

    assert contents() == before


def test_there_has_to_be_something_to_check(tmp_path: Path) -> None:
    with pytest.raises(NoStoreError):
        verify(Root(tmp_path / "absent"), Scope())
    (tmp_path / "file").touch()
    with pytest.raises(StateError):
        verify(Root(tmp_path), Scope())
    root = Root(tmp_path / "root")
    manifest.initialize(root)
    with pytest.raises(NoStoreError):
        verify(root, Scope())
