"""What resident processes rest on: tokens, the runtime folder, the SDK's version."""

import importlib.metadata
import stat
from pathlib import Path

import pytest

from muniment.pipeline.commands.serve import require_sdk
from muniment.pipeline.serving.http import TOKEN_VARIABLE, token_of
from muniment.pipeline.serving.runtime import runtime_file
from muniment.store.errors import MissingToolError, UsageError
from muniment.store.layout import Scope


@pytest.fixture(autouse=True)
def _no_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_a_token_is_made_once_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "token"

    token = token_of(path)

    assert token_of(path) == token
    assert len(token) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token_of(path)
    path.chmod(0o644)

    with pytest.raises(UsageError, match="others may read"):
        token_of(path)


def test_a_short_token_is_refused_and_the_environment_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "short")
    with pytest.raises(UsageError, match="shorter"):
        token_of(tmp_path / "token")

    monkeypatch.setenv(TOKEN_VARIABLE, "long enough to be one")
    assert token_of(tmp_path / "token") == "long enough to be one"
    assert not (tmp_path / "token").exists()


def test_a_token_file_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be written"):
        token_of(tmp_path / "missing" / "token")


def test_the_runtime_file_is_named_after_root_and_scope(tmp_path: Path) -> None:
    here = runtime_file(tmp_path / "a", Scope(), "sock", make=True)

    assert here == runtime_file(tmp_path / "a", Scope(), "sock", make=True)
    assert here != runtime_file(tmp_path / "b", Scope(), "sock")
    assert here != runtime_file(tmp_path / "a", Scope(user="other"), "sock")
    assert len(str(Path("/tmp/muniment-1000") / here.name)) < 100


def test_without_a_runtime_directory_the_temporary_one_holds_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))

    path = runtime_file(tmp_path / "a", Scope(), "sock", make=True)

    assert path.parent.parent == tmp_path
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_absent_or_other_sdk_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "1.30.0")
    with pytest.raises(MissingToolError, match=r"1\.30\.0") as old:
        require_sdk()

    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    with pytest.raises(MissingToolError, match="not installed") as none:
        require_sdk()

    assert old.value.hint == none.value.hint == "pip install 'muniment[mcp]'"
