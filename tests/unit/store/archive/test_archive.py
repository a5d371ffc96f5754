import base64
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.backups import CONTENT, content, filled
from support.old_stores import old_store
from support.stores import TinyStore

from muniment.store import files, manifest, migrations
from muniment.store.archive import load as loading
from muniment.store.archive.load import load, rehearse
from muniment.store.archive.read import survey
from muniment.store.archive.tables import from_json, tables, to_json
from muniment.store.archive.write import Archive
from muniment.store.database import open_database, open_memory
from muniment.store.errors import DamageError, StateError, UsageError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.verify import verify

OTHER = Scope(namespace="other")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Root:
    """Return a root with small and large assets, records, an episode and names of any bytes."""
    root = filled(tmp_path_factory.mktemp("original") / "root")
    store = TinyStore(root.path)
    note = store.note("请记住 my sister lives in Oslo\0 😀", name="caf\u00e9.txt")
    record = store.record("sister lives in Oslo", note, "sister lives in Oslo")
    store.revise(record, "archived")
    store.episode([note])
    with store.ledger.unit():
        store.ledger.assets.see(
            (1, "sha256:x"), b"/raw/\xff\xfe.jpg", source="raw", origin="external", size=1, run="r"
        )
    store.close()
    return root


def exported(root: Root, path: Path, *, originals: bool = True) -> Path:
    with Ledger.read(root, Scope()) as ledger:
        files.write_atomic(path, Archive(ledger, originals=originals).lines())
    return path


def imported(path: Path, root: Root, scope: Scope = OTHER) -> None:
    found = survey(path)
    manifest.initialize(root)
    with Ledger.create(root, scope) as ledger:
        load(path, found, ledger, root.temporary)


def everything(root: Root, scope: Scope) -> dict[str, list[Any]]:
    with Ledger.read(root, scope) as ledger:
        return {
            table.name: ledger.database.execute(
                f'SELECT * FROM "{table.name}" ORDER BY 1'
            ).fetchall()
            for table in tables(ledger.database)
        }


def test_what_is_exported_and_imported_is_equal(original: Root, tmp_path: Path) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    fresh = Root(tmp_path / "fresh")

    rehearse(archive, survey(archive))
    imported(archive, fresh)

    assert everything(fresh, OTHER) == everything(original, Scope())
    assert content(fresh, OTHER) == content(original)
    assert not verify(fresh, OTHER).damaged
    assert list(fresh.temporary.iterdir()) == []
    with Ledger.read(fresh, OTHER) as ledger:
        again = list(Archive(ledger, originals=True).lines())
    assert again[1:-1] == archive.read_bytes().splitlines(keepends=True)[1:-1]


def test_rows_name_each_other_by_their_own_ids_and_come_in_order(
    original: Root, tmp_path: Path
) -> None:
    lines = [json.loads(x) for x in exported(original, tmp_path / "a").read_bytes().splitlines()]

    assert (lines[0]["type"], lines[-1]["type"]) == ("header", "end")
    ids = {line["row"]["id"] for line in lines if line.get("table") == "asset"}
    observed = [line["row"] for line in lines if line.get("table") == "observation"]
    assert {row["asset"] for row in observed} <= ids
    (raw,) = [x for x in lines if "base64" in str(x.get("row", {}).get("path"))]
    assert base64.b64decode(raw["row"]["path"]["base64"]) == b"/raw/\xff\xfe.jpg"
    order = [line["table"] for line in lines if line["type"] == "row"]
    assert order.index("asset") < order.index("observation") < order.index("record_evidence")


def test_without_originals_the_large_bytes_are_left_out_and_counted(
    original: Root, tmp_path: Path
) -> None:
    archive = exported(original, tmp_path / "a.jsonl", originals=False)
    fresh = Root(tmp_path / "fresh")

    assert survey(archive).missing == 3
    imported(archive, fresh)

    assert {f.code for f in verify(fresh, OTHER).findings if f.damage} == {"asset_missing"}
    with Ledger.read(fresh, OTHER) as new, Ledger.read(original, Scope()) as old:
        for statement in CONTENT:
            assert list(new.database.execute(statement)) == list(old.database.execute(statement))


def test_a_lost_original_is_named_and_the_rest_exported(original: Root, tmp_path: Path) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    fresh = Root(tmp_path / "fresh")
    imported(archive, fresh, Scope())
    next(path for path in fresh.scope(Scope()).assets.rglob("*") if path.is_file()).unlink()

    with Ledger.read(fresh, Scope()) as ledger:
        written = Archive(ledger, originals=True)
        (tmp_path / "b.jsonl").write_bytes(b"".join(written.lines()))

    assert [lost["reason"] for lost in written.originals["missing"]] == ["asset_missing"]
    assert survey(tmp_path / "b.jsonl").missing == 1


def test_a_scope_that_holds_anything_is_refused(original: Root, tmp_path: Path) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    fresh = Root(tmp_path / "fresh")
    imported(archive, fresh)
    before = everything(fresh, OTHER)

    with pytest.raises(StateError) as caught:
        imported(archive, fresh)

    assert caught.value.code == "not_empty"
    assert everything(fresh, OTHER) == before


def drop_line(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], *lines[4:]]


def change_text(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"Oslo", b"Rome") for line in lines]


def swap_lines(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], lines[4], lines[3], *lines[5:]]


def add_behind_the_end(lines: list[bytes]) -> list[bytes]:
    return [*lines, lines[3]]


def cut(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


def cut_in_a_line(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1][:20]]


def unknown_table(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b'"table":"run"', b'"table":"sqlite_schema"') for line in lines]


def unknown_column(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b'"media_type"', b'"media"') for line in lines]


@pytest.mark.parametrize(
    "change",
    [
        drop_line, change_text, swap_lines, add_behind_the_end, cut, cut_in_a_line, unknown_table,
        unknown_column,
    ],
)  # fmt: skip
def test_an_archive_that_is_not_whole_is_refused(
    original: Root, tmp_path: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    archive.write_bytes(b"".join(change(archive.read_bytes().splitlines(keepends=True))))

    with pytest.raises(DamageError) as caught:
        survey(archive)

    assert caught.value.code == "archive_damaged"


@pytest.mark.parametrize("data", [b"", b"{}\n", b'{"type":"header","format":"x"}\n'])
def test_another_file_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)

    with pytest.raises(UsageError):
        survey(tmp_path / "a")


def test_a_missing_file_and_a_folder_are_said_to_be_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError):
            survey(path)


@pytest.mark.parametrize("name", ["version", "schema"])
def test_a_newer_archive_is_refused(original: Root, tmp_path: Path, name: str) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    first, *rest = archive.read_bytes().splitlines(keepends=True)
    header = json.loads(first) | {name: 99}
    archive.write_bytes(json.dumps(header).encode() + b"\n" + b"".join(rest))

    with pytest.raises(StateError) as caught:
        survey(archive)

    assert caught.value.code == "future"


def test_rows_that_point_nowhere_are_refused_before_the_scope_is_written(
    original: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    found = survey(archive)
    lines = [x for x in archive.read_bytes().splitlines(keepends=True) if b'"table":"run"' not in x]
    archive.write_bytes(b"".join(x for x in lines if b'"table":"episode"' not in x))
    fresh = Root(tmp_path / "fresh")
    manifest.initialize(fresh)
    monkeypatch.setattr(loading, "survey", lambda _: found, raising=False)

    with Ledger.create(fresh, OTHER) as ledger, pytest.raises(DamageError):
        load(archive, found, ledger, fresh.temporary)

    assert not any(everything(fresh, OTHER).values())


def test_an_import_that_is_cut_short_leaves_the_scope_empty_and_can_be_run_again(
    original: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = exported(original, tmp_path / "a.jsonl")
    fresh = Root(tmp_path / "fresh")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loading, "_copy", fail)
        with pytest.raises(KeyboardInterrupt):
            imported(archive, fresh)
    assert not any(everything(fresh, OTHER).values())

    imported(archive, fresh)

    assert content(fresh, OTHER) == content(original)


def test_an_archive_of_an_older_schema_is_brought_up(tmp_path: Path) -> None:
    old = old_store(tmp_path / "old")
    paths = old.scope(Scope())
    with closing(open_database(paths.ledger, readonly=True)) as database:
        lines = list(Archive(Ledger(old, Scope(), database), originals=True).lines())
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    fresh = Root(tmp_path / "fresh")

    assert survey(tmp_path / "a.jsonl").header["schema"] == 1
    imported(tmp_path / "a.jsonl", fresh)

    assert not verify(fresh, OTHER).damaged
    with Ledger.read(fresh, OTHER) as ledger:
        assert migrations.version_of(ledger.database) == migrations.SCHEMA_VERSION
        assert ledger.database.execute("SELECT id FROM record").fetchall() == [("rec_1",)]


def test_every_table_comes_after_those_it_points_at() -> None:
    with closing(open_memory()) as database:
        migrations.migrate(database)
        seen: set[str] = set()
        for table in tables(database):
            assert table.needs <= seen | {table.name}
            seen.add(table.name)


@pytest.mark.parametrize("value", [None, 1, 1.5, "text", b"text", b"\xff", b""])
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(value)))) == value


@pytest.mark.parametrize("value", [True, [], {"base64": "?"}])
def test_what_no_column_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (what the reader catches)
        from_json(value)
