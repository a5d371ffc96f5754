"""What an object store may do wrong, and what becomes of it: an error with a code, never a loss."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from support.cli import SCRIPT, invoke
from support.s3_double import Handler
from support.s3_servers import Server, double_server, free_port, rclone_server

from muniment.store import manifest
from muniment.store.asset_places import Location, Place, place_of
from muniment.store.assets import take_stream
from muniment.store.backends import bucket as bucket_module
from muniment.store.backends.claims import claim
from muniment.store.backends.probe import probe
from muniment.store.backup.repository import destination
from muniment.store.errors import DamageError, LockedError, RemoteError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.seals import Seals

DATA = os.urandom(300_000)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = {"init_backoff": timedelta(milliseconds=5), "max_backoff": timedelta(milliseconds=5),
             "base": 2}  # fmt: skip
    retries = {"max_retries": 2, "retry_timeout": timedelta(seconds=5), "backoff": waits}
    monkeypatch.setattr(bucket_module, "_RETRIES", retries)
    client = {"timeout": "2s", "connect_timeout": "1s", "read_timeout": "1s"}
    monkeypatch.setattr(bucket_module, "_CLIENT", client)


@pytest.fixture
def server() -> Iterator[Server]:
    with double_server() as running:
        yield running


@pytest.fixture
def root(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    return made(server, tmp_path, monkeypatch)


def made(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    root = Root(folder / "root")
    manifest.initialize(root, Place.new(Location.parse(server.url("store"))))
    return root


@pytest.fixture
def ledger(root: Root) -> Iterator[Ledger]:
    with Ledger.create(root, Scope()) as ledger:
        yield ledger


def keep(ledger: Ledger, data: bytes = DATA) -> str:
    return take_stream(BytesIO(data), ledger.assets.store, ledger.root.temporary).asset


def uncache(root: Root) -> None:
    for path in root.scope(Scope()).cache.iterdir():
        path.unlink()


def failing(status: int, times: int, command: str = "") -> Callable[[Handler], bool]:
    left = [times]

    def fault(handler: Handler) -> bool:
        if left[0] <= 0 or (command and handler.command != command):
            return False
        left[0] -= 1
        handler.say(status, handler.error("Broken"))
        return True

    return fault


def test_a_server_that_stumbles_is_asked_again(server: Server, ledger: Ledger) -> None:
    assert server.held is not None
    for command in ("HEAD", "PUT", "GET"):
        server.held.faults.append(failing(503, 1, command))

    asset = keep(ledger)
    uncache(ledger.root)

    assert ledger.assets.file(asset).read_bytes() == DATA


@pytest.mark.parametrize(("status", "code"), [(500, "store_unreachable"), (403, "store_denied")])
def test_a_server_that_goes_on_refusing_is_an_error_with_a_code(
    server: Server, ledger: Ledger, status: int, code: str
) -> None:
    assert server.held is not None
    server.held.faults.append(failing(status, 10_000))

    with pytest.raises(RemoteError) as caught:
        keep(ledger)

    assert caught.value.code == code
    assert list(ledger.root.temporary.iterdir()) == []


def test_an_upload_that_was_kept_wrongly_is_noticed(server: Server, ledger: Ledger) -> None:
    def spoil(handler: Handler) -> bool:
        if handler.command == "PUT":
            handler.body = b"!" + handler.body[1:]
        return False

    assert server.held is not None
    server.held.faults.append(spoil)

    with pytest.raises(RemoteError) as caught:
        keep(ledger)
    assert caught.value.code == "upload_damaged"


def test_a_tag_that_proves_nothing_is_borne_with_by_reading_back(
    server: Server, ledger: Ledger
) -> None:
    assert server.held is not None

    def encrypts(handler: Handler) -> bool:
        say = handler.say

        def tagged(status: int, body: bytes, *, etag: str = "", **headers: str) -> None:
            say(status, body, etag=f"kms-{etag}" if etag else "", **headers)

        handler.say = tagged  # type: ignore[method-assign]  # of this request alone
        return False

    server.held.faults.append(encrypts)
    keep(ledger)

    assert keep(ledger) == keep(ledger)
    assert any(request.startswith("GET") for request in server.held.requests)


def test_an_answer_that_is_cut_short_leaves_nothing_in_the_cache(
    server: Server, ledger: Ledger
) -> None:
    asset = keep(ledger)
    uncache(ledger.root)

    def cut(handler: Handler) -> bool:
        if handler.command != "GET" or not handler.key:
            return False
        handler.send_response(200)
        handler.send_header("content-length", str(len(DATA)))
        handler.send_header("etag", '"x"')
        handler.send_header("last-modified", "Mon, 30 Nov 2026 08:00:00 GMT")
        handler.end_headers()
        handler.wfile.write(DATA[:1000])
        handler.close_connection = True
        return True

    assert server.held is not None
    server.held.faults.append(cut)
    with pytest.raises(RemoteError):
        ledger.assets.file(asset)
    assert list(ledger.paths.cache.iterdir()) == []

    server.held.faults.clear()
    assert ledger.assets.file(asset).read_bytes() == DATA


def test_wrong_bytes_never_reach_a_reader(server: Server, ledger: Ledger) -> None:
    asset = keep(ledger)
    uncache(ledger.root)

    def swap(handler: Handler) -> bool:
        if handler.command == "GET" and handler.key:
            moment = {"last-modified": "Mon, 30 Nov 2026 08:00:00 GMT"}
            handler.say(200, b"?" * len(DATA), etag="x", **moment)
            return True
        return False

    assert server.held is not None
    server.held.faults.append(swap)

    assert not ledger.assets.file(asset).exists()
    with pytest.raises(DamageError):
        ledger.assets.store.check(asset, len(DATA))
    assert not ledger.assets.store.intact(asset, len(DATA), Seals(ledger.paths.index))


def test_a_server_that_hangs_is_given_up(server: Server, ledger: Ledger) -> None:
    def hang(handler: Handler) -> bool:
        time.sleep(2.5)
        return False

    assert server.held is not None
    server.held.faults.append(hang)
    begun = time.monotonic()

    with pytest.raises(RemoteError):
        keep(ledger)
    assert time.monotonic() - begun < 20


def test_away_from_the_store_the_cache_answers_and_nothing_else_does(
    server: Server, ledger: Ledger
) -> None:
    cached, other = keep(ledger), keep(ledger, DATA[::-1])
    ledger.assets.store.file(other).unlink()
    seals = Seals(ledger.paths.index)
    assert server.held is not None
    server.held.faults.append(failing(500, 10_000))

    assert ledger.assets.store.intact(cached, len(DATA), seals)
    asked = len(server.held.requests)
    with pytest.raises(RemoteError):
        ledger.assets.store.intact(other, len(DATA), seals)
    assert len(server.held.requests) == asked  # it was away a moment ago


def test_a_hard_forget_that_the_server_stopped_is_taken_up(
    server: Server, root: Root, tmp_path: Path
) -> None:
    report = tmp_path / "report.txt"
    report.write_text("A secret that has to go.\n" * 4_000)
    run = ("--root", root.path, "--json")
    assert invoke(*run, "ingest", report, "--no-embeddings").code == 0
    assert server.held is not None
    server.held.faults.append(failing(500, 10_000, "DELETE"))

    stopped = invoke(*run, "forget", "--hard", report, "--yes")
    assert (stopped.code, stopped.json["error"]["code"]) == (1, "store_unreachable")
    server.held.faults.clear()
    resumed = invoke(*run, "forget", "--resume")

    assert (resumed.code, resumed.json["clean"]) == (0, True)
    held = {key: found for key, found in server.held.objects["bucket"].items() if found}
    assert list(held) == []


def test_an_ingest_without_the_server_names_no_asset_and_the_next_one_does(
    server: Server, root: Root, tmp_path: Path
) -> None:
    report = tmp_path / "report.txt"
    report.write_text("A long report.\n" * 8_000)
    run = ("--root", root.path, "--json")
    assert server.held is not None
    server.held.faults.append(failing(500, 10_000, "PUT"))

    failed = invoke(*run, "ingest", report, "--no-embeddings")
    assert (failed.code, failed.json["error"]["code"]) == (1, "store_unreachable")
    server.held.faults.clear()

    assert invoke(*run, "ingest", report, "--no-embeddings").code == 0
    assert invoke(*run, "verify").json["findings"] == []


def test_an_upload_of_a_killed_server_leaves_no_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with rclone_server(tmp_path / "served", port) as running:
        root = made(running, tmp_path, monkeypatch)
        with Ledger.create(root, Scope()) as ledger:
            keep(ledger)
    large = os.urandom(1 << 20) * 20
    with Ledger.create(root, Scope()) as ledger:
        with pytest.raises(RemoteError):
            keep(ledger, large)
        with rclone_server(tmp_path / "served", port):
            assert len(list(ledger.assets.store.stored())) == 1
            asset = keep(ledger, large)
            ledger.assets.store.check(asset, len(large))


def test_a_process_killed_in_mid_upload_has_acknowledged_nothing_and_the_next_run_completes(
    server: Server, root: Root, tmp_path: Path
) -> None:
    large = tmp_path / "letters.txt"
    large.write_text("A long letter, and then another one.\n" * 700_000)  # four parts
    run = ("--root", str(root.path), "--json")
    arrived = threading.Event()

    def hold_the_third(handler: Handler) -> bool:
        if handler.query.get("partNumber") == "3":
            arrived.set()
            time.sleep(1)
        return False

    assert server.held is not None
    server.held.faults.append(hold_the_third)
    with begin(*run, "ingest", str(large), "--until", "register") as running:
        assert arrived.wait(120)
        running.kill()
        running.wait()
    server.held.faults.clear()

    with Ledger.create(root, Scope()) as ledger:
        assert list(ledger.database.execute("SELECT 1 FROM asset")) == []
        assert [one.asset for one in ledger.assets.store.stored()] == [None]
    (found,) = [one for one in invoke(*run, "verify").json["findings"] if one["code"] == "orphan"]
    assert "?uploadId=" in found["ref"]
    assert not found["damage"]

    assert invoke(*run, "ingest", large, "--until", "register").json["failed"] == []
    done = invoke(*run, "verify", "--repair").json["repairs"]["done"]
    assert done["orphan_removed"] == 1
    said = invoke(*run, "verify").json
    assert said["findings"] == []
    assert server.held.uploads == {}


def begin(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [str(SCRIPT), *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_a_server_that_knows_no_conditions_is_asked_without_them(
    server: Server, root: Root
) -> None:
    def refuse(handler: Handler) -> bool:
        if handler.command == "PUT" and "if-none-match" in handler.headers:
            handler.say(501, handler.error("NotImplemented"))
            return True
        return False

    assert server.held is not None
    server.held.faults.append(refuse)
    bucket = server.objects("names")

    bucket.put("one", [b"first"], create=True)
    with pytest.raises(FileExistsError):
        bucket.put("one", [b"second"], create=True)
    assert b"".join(bucket.chunks("one")) == b"first"
    assert not bucket.refuses_second("one", b"third")
    place = place_of(root)
    assert place is not None
    claim(place)
    details = [finding.detail for finding in probe(place)]
    assert any("no conditional writes" in detail for detail in details)


def test_what_a_killed_process_uploaded_is_a_stray_and_goes(
    server: Server, root: Root, tmp_path: Path
) -> None:
    with Ledger.create(root, Scope()) as ledger:
        keep(ledger)  # and no row: the process dies here
    run = ("--root", root.path, "--json")

    found = invoke(*run, "verify").json["findings"]
    assert [(one["code"], one["damage"]) for one in found] == [("orphan", False)]
    assert invoke(*run, "verify", "--repair").json["repairs"]["done"] == {"orphan_removed": 1}
    assert invoke(*run, "verify").json["findings"] == []


_HOLDER = """
import sys
from muniment.store.backup.repository import destination
with destination(sys.argv[1]).writing():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lease_of_a_killed_writer_runs_out(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    where = server.url("backup")
    command = [sys.executable, "-c", _HOLDER, where]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with pytest.raises(LockedError) as caught, destination(where).writing():
        pass
    assert "process" in caught.value.message

    assert server.held is not None
    for versions in server.held.objects["bucket"].values():
        for version in versions:
            version.at -= 200  # as if that were long ago
    with destination(where).writing():
        pass


def test_a_writer_whose_lease_ran_out_writes_no_more(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    place = destination(server.url("backup"))
    real = time.monotonic
    with place.writing():
        place.put("objects/ab/one", [b"x"])
        monkeypatch.setattr(time, "monotonic", lambda: real() + 1000)
        with pytest.raises(LockedError) as caught:
            place.put("objects/ab/two", [b"x"])
        monkeypatch.undo()
    assert caught.value.code == "lease_lost"
