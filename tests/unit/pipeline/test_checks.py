from importlib import metadata
from pathlib import Path

import pytest

from muniment.pipeline import checks


def test_every_package_and_every_extra_that_users_choose_is_named() -> None:
    found = list(checks.packages())

    assert {"numpy", "pillow", "apsw"} <= {one.name for one in found if one.area == "package"}
    assert {"extra web", "extra mcp"} <= {one.area for one in found}
    assert not {"extra dev", "extra services"} & {one.area for one in found}


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name in {"apsw", "starlette", "rjieba"}:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    found = {one.name: one for one in (*checks.packages(), *checks.languages())}

    assert (found["apsw"].needed, found["apsw"].fix) == (True, "pip install apsw")
    assert (found["starlette"].needed, found["starlette"].fix) == (
        False, "pip install 'muniment[web]'",
    )  # fmt: skip
    assert (found["Chinese"].ok, found["Chinese"].fix) == (False, "pip install rjieba")


def test_codecs_are_named_by_what_this_ffmpeg_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert {one.name for one in checks.codecs() if one.ok} >= {"H.264 film", "PCM"}
    poor = tmp_path / "ffmpeg"
    poor.write_text("#!/bin/sh\necho ' A....D flac FLAC'\n")
    poor.chmod(0o755)
    monkeypatch.setenv("MUNIMENT_FFMPEG", str(poor))

    found = {one.name: one for one in checks.codecs()}

    assert found["FLAC sound"].ok
    assert (found["HEVC film"].ok, found["HEVC film"].needed) == (False, False)
    assert found["HEVC film"].fix == "install an ffmpeg that has hevc"


def test_a_root_that_others_can_read_is_told(tmp_path: Path) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    own.mkdir(mode=0o700)
    shared.mkdir()
    shared.chmod(0o755)

    found = list(checks.permissions((("own", own), ("shared", shared), ("none", tmp_path / "x"))))

    assert [(one.name, one.ok) for one in found] == [("own", True), ("shared", False)]
    assert found[1].fix == f"chmod go= {shared}"
