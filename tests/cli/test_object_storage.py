"""A library whose assets and backups lie in an object store, as a person uses it: rclone's server,
and a double that keeps every version."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli import Answer, invoke
from support.s3_servers import Server, double_server, rclone_server

WORDS = "The boiler was serviced in March by Ingrid Solberg, who left the manual in the attic. "
TEXT = WORDS + "\n".join(f"Line {number} of the long report." for number in range(4_000))


@pytest.fixture(scope="module", params=["rclone", "double"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    running = (
        rclone_server(tmp_path_factory.mktemp("rclone"))
        if request.param == "rclone"
        else double_server()
    )
    with running as found:
        yield found


@pytest.fixture(autouse=True)
def opened(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def prefix(server: Server, tmp_path: Path) -> str:
    return server.url(tmp_path.name.replace("_", "-"))


@pytest.fixture
def root(prefix: str, tmp_path: Path) -> Path:
    assert run(tmp_path / "root", "init", "--assets", f"{prefix}/store").code == 0
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "report.txt").write_text(TEXT)
    said = run(tmp_path / "root", "ingest", tmp_path / "in", "--no-embeddings")
    assert (said.code, said.json["registered"]) == (0, 1)
    return tmp_path / "root"


def run(root: Path, *arguments: str | Path) -> Answer:
    return invoke("--root", root, "--json", *arguments)


def asset_of(root: Path) -> str:
    listed = invoke("--root", root, "list", "assets", "--jsonl").out.splitlines()
    return str(json.loads(listed[0])["id"])


def files_of(root: Path, folder: str) -> list[Path]:
    return [path for path in root.rglob(f"{folder}/**/*") if path.is_file()]


def test_a_library_lives_in_an_object_store_from_ingest_to_hard_forget(
    server: Server, root: Path, prefix: str, tmp_path: Path
) -> None:
    asset = asset_of(root)
    assert files_of(root, "assets") == []
    for cached in files_of(root, "cache"):
        cached.unlink()  # it may go at any time

    pack = run(root, "recall", "Who serviced the boiler?").json
    assert pack["coverage"] == "supported"
    out = tmp_path / "out.txt"
    assert run(root, "show", asset, "--extract", out).code == 0
    assert out.read_text() == TEXT
    assert run(root, "verify").json["damaged"] is False
    assert run(root, "doctor").json["checks"]

    forgotten = run(root, "forget", "--hard", asset, "--yes")

    assert (forgotten.code, forgotten.json["clean"]) == (0, True)
    assert forgotten.json["checks"]["still_in"] == []
    assert files_of(root, "cache") == []
    digest = asset.removeprefix("sha256:")
    if server.held is not None:
        versions = server.held.objects["bucket"]
        assert [key for key, held in versions.items() if digest in key and held] == []
    assert run(root, "recall", "Who serviced the boiler?").json["coverage"] == "none"
    assert run(root, "verify").json["findings"] == []


def test_backups_in_an_object_store_are_listed_checked_tried_and_brought_back(
    root: Path, prefix: str, tmp_path: Path
) -> None:
    place = f"{prefix}/backup"
    first = run(root, "backup", "create", place)
    second = run(root, "backup", "create", place)
    assert (first.code, second.code, second.json["new_objects"]) == (0, 0, 0)
    assert run(root, "backup", "list", place).json["count"] == 2
    assert run(root, "backup", "verify", place).json["damaged"] is False
    assert run(root, "backup", "drill", place).json["ok"] is True
    assert run(root, "backup", "prune", place, "--keep-last", "1", "--yes").code == 0

    here, there = tmp_path / "here", tmp_path / "there"
    assert run(here, "restore", place).code == 0
    assert len(files_of(here, "assets")) == 1
    assert "assets" not in json.loads((here / "muniment.json").read_text())
    assert run(there, "restore", place, "--assets", f"{prefix}/second").code == 0
    assert files_of(there, "assets") == []
    for again in (here, there):
        assert run(again, "verify").json["findings"] == []
        assert run(again, "recall", "Who serviced the boiler?").json["coverage"] == "supported"
    taken = run(tmp_path / "other", "restore", place, "--assets", f"{prefix}/second")
    assert (taken.code, taken.json["error"]["code"]) == (12, "assets_taken")


def test_a_hard_forget_names_the_backup_that_still_holds_it_and_takes_it_out(
    root: Path, prefix: str
) -> None:
    place = f"{prefix}/backup"
    run(root, "backup", "create", place)

    receipt = run(root, "forget", "--hard", asset_of(root), "--yes").json
    assert [one["repository"] for one in receipt["backups"]] == [place]

    assert run(root, "backup", "forget", place).json["rewritten"]
    assert run(root, "backup", "verify", place).json["damaged"] is False


def test_no_secret_and_no_server_is_written_down(server: Server, root: Path) -> None:
    said = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())

    assert server.secret.encode() not in said
    assert server.endpoint.encode() not in said


def test_an_export_takes_originals_along(root: Path, tmp_path: Path) -> None:
    archive = tmp_path / "all.jsonl"

    assert run(root, "export", archive, "--with-originals").json["originals"]["count"] == 1
    assert run(tmp_path / "local", "import", archive).code == 0
    assert run(tmp_path / "local", "verify").json["findings"] == []


def test_another_root_can_not_take_the_same_prefix(root: Path, prefix: str, tmp_path: Path) -> None:
    said = run(tmp_path / "other", "init", "--assets", f"{prefix}/store")

    assert (said.code, said.json["error"]["code"]) == (12, "assets_taken")
    assert not (tmp_path / "other" / "muniment.json").exists()
    assert run(root, "init", "--assets", f"{prefix}/store").code == 0
    moved = run(root, "init", "--assets", f"{prefix}/elsewhere")
    assert (moved.code, moved.json["error"]["code"]) == (12, "assets_elsewhere")


@pytest.mark.parametrize("address", ["s3://", "s3://B", "s3://bucket/../x", "gs://bucket/x"])
def test_what_is_no_address_is_refused(tmp_path: Path, address: str) -> None:
    said = run(tmp_path / "root", "init", "--assets", address)

    assert (said.code, said.json["error"]["code"]) == (2, "bad_address")


def test_offline_asks_nobody(root: Path, prefix: str) -> None:
    for cached in files_of(root, "cache"):
        cached.unlink()

    refused = run(root, "--offline", "backup", "list", f"{prefix}/backup")
    checked = run(root, "--offline", "verify")
    pack = run(root, "--offline", "recall", "Who serviced the boiler?").json

    assert (refused.code, refused.json["error"]["code"]) == (2, "offline")
    assert (checked.code, checked.json["error"]["code"]) == (1, "offline")
    assert pack["coverage"] == "none"
    assert any("can't be reached" in warning for warning in pack["warnings"])
