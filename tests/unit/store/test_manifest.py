import json
import multiprocessing
from pathlib import Path

import pytest

from muniment.store import locks, manifest
from muniment.store.errors import ExitCode, LockedError, NoStoreError, StateError
from muniment.store.layout import Root
from muniment.store.manifest import RootState


def modes(folder: Path) -> set[int]:
    return {entry.stat().st_mode & 0o777 for entry in [folder, *folder.rglob("*")]}


def test_a_missing_and_an_empty_root_become_stores(tmp_path: Path) -> None:
    for root in (Root(tmp_path / "a" / "missing"), Root(tmp_path / "empty")):
        if root.path.name == "empty":
            root.path.mkdir(mode=0o755)
        assert manifest.state_of(root) is RootState.UNINITIALIZED

        assert manifest.initialize(root)

        assert manifest.state_of(root) is RootState.CURRENT
        assert modes(root.path) == {0o700, 0o600}
        assert not manifest.initialize(root)


@pytest.mark.parametrize("leftovers", [["lock"], ["tmp"], ["lock", "tmp"], ["lost+found"]])
def test_a_start_that_was_cut_short_and_a_fresh_volume_start_again(
    tmp_path: Path, leftovers: list[str]
) -> None:
    for name in leftovers:
        (tmp_path / name).mkdir() if name != "lock" else (tmp_path / name).touch()
    if "tmp" in leftovers:
        (tmp_path / "tmp" / "0a.partial").write_bytes(b'{"layout_')

    assert manifest.initialize(Root(tmp_path))
    assert manifest.state_of(Root(tmp_path)) is RootState.CURRENT


@pytest.mark.parametrize("name", ["thesis.doc", "store", "muniment.json.bak", ".git"])
def test_a_folder_with_something_else_in_it_is_refused_untouched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    root = Root(tmp_path)

    for use in (manifest.initialize, manifest.require):
        with pytest.raises(StateError) as caught:
            use(root)
        assert caught.value.code == "invalid"
        assert caught.value.exit_code is ExitCode.STATE
    with pytest.raises(StateError), manifest.shared(root):
        pass

    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"format": "muniment", "layout_version": 1}', RootState.CURRENT),
        ('{"format": "muniment", "layout_version": 2}', RootState.FUTURE),
        ('{"format": "muniment", "layout_version": 0}', RootState.INVALID),
        ('{"format": "muniment", "layout_version": true}', RootState.INVALID),
        ('{"format": "muniment", "layout_version": "1"}', RootState.INVALID),
        ('{"format": "other", "layout_version": 1}', RootState.INVALID),
        ('{"format": "muniment"}', RootState.INVALID),
        ("[1]", RootState.INVALID),
        ("{", RootState.INVALID),
        ("", RootState.INVALID),
        ("\0" * 90, RootState.INVALID),
    ],
)
def test_the_manifest_tells_the_state(tmp_path: Path, text: str, state: RootState) -> None:
    (tmp_path / "muniment.json").write_text(text)

    assert manifest.state_of(Root(tmp_path)) is state


def test_an_older_layout_asks_for_a_migration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest.initialize(Root(tmp_path))
    monkeypatch.setattr(manifest, "LAYOUT_VERSION", 2)

    with pytest.raises(StateError, match="older layout") as caught:
        manifest.require(Root(tmp_path))

    assert caught.value.code == "legacy"


def test_an_unfinished_restore_is_seen_before_anything_else(root: Root) -> None:
    root.journal.touch()

    assert manifest.state_of(root) is RootState.RECOVERY_REQUIRED


def test_a_root_that_is_a_file_or_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    assert manifest.state_of(Root(tmp_path / "file")) is RootState.INVALID
    assert manifest.state_of(Root(tmp_path / "link")) is RootState.INVALID


def test_a_root_that_lost_its_manifest_is_told_so(root: Root) -> None:
    root.store.mkdir()
    root.manifest.unlink()

    with pytest.raises(StateError, match="lost its manifest"):
        manifest.require(root)


def test_no_store_is_an_error_of_its_own_and_nothing_is_made(tmp_path: Path) -> None:
    root = Root(tmp_path / "absent")

    with pytest.raises(NoStoreError), manifest.shared(root):
        pass

    assert not root.path.exists()


def test_normal_operations_share_the_root_and_keep_out_who_wants_it_alone(root: Root) -> None:
    shared = manifest.shared
    with shared(root), shared(root), pytest.raises(LockedError), locks.hold(root.lock):
        pass
    with locks.hold(root.lock), pytest.raises(LockedError), manifest.shared(root):
        pass


def test_many_processes_that_start_at_once_make_one_store(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        made = pool.map(manifest.initialize, [root] * 6)

    assert sum(made) == 1
    assert json.loads(root.manifest.read_bytes())["layout_version"] == manifest.LAYOUT_VERSION
    assert not list(root.temporary.iterdir())
