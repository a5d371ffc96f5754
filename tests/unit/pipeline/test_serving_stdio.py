"""Lines in, lines out: what a descriptor does to messages, and what it must not."""

import json
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp")  # an extra

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse, jsonrpc_message_adapter

from muniment.pipeline.serving import stdio
from muniment.pipeline.serving.stdio import Incoming, Outgoing

SECONDS = 10.0
Pipe = tuple[int, int]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Yield both ends of a pipe; a test may close either."""
    ends = os.pipe()
    os.set_blocking(ends[1], False)
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Run a story that must not take long."""

    async def main() -> None:
        with anyio.fail_after(SECONDS):
            await story()

    anyio.run(main)


def message(text: str) -> SessionMessage:
    """Return a message that says something."""
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="say", params={"text": text}))


def line(text: str) -> bytes:
    """Return the line of a message."""
    return message(text).message.model_dump_json(exclude_unset=True).encode() + b"\n"


def said(item: SessionMessage | Exception) -> str:
    """Return what a message says."""
    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCNotification)
    assert item.message.params is not None
    return str(item.message.params["text"])


async def all_of(incoming: Incoming) -> list[str]:
    """Return what is said until the end; an error is named by its type."""
    return [
        type(item).__name__ if isinstance(item, Exception) else said(item)
        async for item in incoming
    ]


def written(lines: bytes) -> list[str]:
    """Return what was said, as a client reads it."""
    return [
        said(SessionMessage(jsonrpc_message_adapter.validate_json(one)))
        for one in lines.splitlines()
    ]


def read_all(end: int, *, pause: float = 0.0) -> tuple[threading.Thread, bytearray]:
    """Read to the end on a thread, slowly if asked."""
    got = bytearray()

    def reading() -> None:
        while chunk := os.read(end, 16_384):
            got.extend(chunk)
            time.sleep(pause)

    thread = threading.Thread(target=reading, daemon=True)
    thread.start()
    return thread, got


def test_a_message_that_comes_byte_by_byte_is_one_message(pipe: Pipe) -> None:
    source, client = pipe

    async def story() -> None:
        incoming = Incoming(source)

        async def write() -> None:
            for byte in line("où, 上海") + line("second"):
                os.write(client, bytes([byte]))
                await anyio.sleep(0)
            os.close(client)

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            assert await all_of(incoming) == ["où, 上海", "second"]

    run(story)


def test_messages_that_come_at_once_come_one_by_one_and_the_last_needs_no_end(pipe: Pipe) -> None:
    source, client = pipe
    os.write(client, line("a") + line("b").replace(b"\n", b"\r\n") + line("c").rstrip(b"\n"))
    os.close(client)

    async def story() -> None:
        incoming = Incoming(source)
        assert await all_of(incoming) == ["a", "b", "c"]
        with pytest.raises(anyio.EndOfStream):
            await incoming.receive()

    run(story)


def test_a_line_that_is_no_message_comes_as_its_error_and_the_next_is_read(pipe: Pipe) -> None:
    source, client = pipe
    os.write(client, b"{broken\n\n[1]\n" + line("whole") + line("caf_").replace(b"_", b"\xe9"))
    os.close(client)

    async def story() -> None:
        errors = ["ValidationError"] * 3
        assert await all_of(Incoming(source)) == [*errors, "whole", "caf\N{REPLACEMENT CHARACTER}"]

    run(story)


def test_a_huge_line_is_read_whole(pipe: Pipe) -> None:
    source, client = pipe
    os.set_blocking(client, True)
    huge = "x" * 3_000_000

    def write() -> None:
        os.write(client, line(huge))
        os.close(client)

    async def story() -> None:
        threading.Thread(target=write).start()
        assert await all_of(Incoming(source)) == [huge]

    run(story)


def test_one_who_waits_is_told_that_it_is_closed(pipe: Pipe) -> None:
    source, client = pipe

    async def story() -> None:
        incoming = Incoming(source)
        os.write(client, b"half a li")
        async with anyio.create_task_group() as group:
            group.start_soon(all_of, incoming)
            await anyio.wait_all_tasks_blocked()
            await incoming.aclose()
        os.write(client, line("too late"))
        assert await all_of(incoming) == []

    run(story)


def test_a_connection_that_breaks_is_an_end() -> None:
    source, client = socket.socketpair()
    source.send(b"unread")
    client.close()  # what it did not read makes this a reset

    async def story() -> None:
        assert await all_of(Incoming(source.fileno())) == []

    with source:
        run(story)


def test_a_terminal_is_waited_for() -> None:
    keyboard, terminal = os.openpty()

    async def story() -> None:
        incoming = Incoming(terminal)
        os.write(keyboard, line("typed"))
        assert said(await incoming.receive()) == "typed"
        with anyio.move_on_after(0.05) as waited:
            await incoming.receive()
        assert waited.cancelled_caught

    run(story)
    os.close(keyboard)
    os.close(terminal)


def test_a_file_is_read_to_its_end_and_written(tmp_path: Path) -> None:
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_bytes(line("a") + line("b"))

    async def story() -> None:
        with asked.open("rb") as source, told.open("wb") as sink:
            incoming = Incoming(source.fileno())
            outgoing = Outgoing(sink.fileno(), incoming)
            async for item in incoming:
                assert isinstance(item, SessionMessage)
                await outgoing.send(item)

    run(story)

    assert told.read_bytes() == asked.read_bytes()


def test_messages_of_many_senders_stay_whole_where_the_client_reads_slowly(pipe: Pipe) -> None:
    client, sink = pipe
    texts = [str(n) * 100_000 for n in range(8)]
    thread, got = read_all(client, pause=0.002)

    async def story() -> None:
        outgoing = Outgoing(sink, Incoming(sink))
        async with outgoing, anyio.create_task_group() as group:
            for text in texts:
                group.start_soon(outgoing.send, message(text))

    run(story)
    os.close(sink)
    thread.join(SECONDS)

    assert written(bytes(got)) == texts


def test_the_rest_of_a_message_whose_sender_is_stopped_comes_before_the_next(pipe: Pipe) -> None:
    client, sink = pipe
    long = "x" * 300_000
    threads: list[tuple[threading.Thread, bytearray]] = []

    async def story() -> None:
        async with Outgoing(sink, Incoming(sink)) as outgoing:
            async with anyio.create_task_group() as group:
                group.start_soon(outgoing.send, message(long))
                group.start_soon(outgoing.send, message("never begun"))
                await anyio.wait_all_tasks_blocked()
                group.cancel_scope.cancel()
            threads.append(read_all(client))
            await outgoing.send(message("next"))

    run(story)
    os.close(sink)
    ((thread, got),) = threads
    thread.join(SECONDS)

    assert written(bytes(got)) == [long, "next"]


def test_the_rest_is_still_written_at_the_end(pipe: Pipe) -> None:
    client, sink = pipe
    long = "x" * 300_000
    threads: list[tuple[threading.Thread, bytearray]] = []

    async def story() -> None:
        outgoing = Outgoing(sink, Incoming(sink))
        with anyio.move_on_after(0.05):
            await outgoing.send(message(long))
        threads.append(read_all(client))
        await outgoing.aclose()

    run(story)
    os.close(sink)
    ((thread, got),) = threads
    thread.join(SECONDS)

    assert written(bytes(got)) == [long]


def test_a_client_that_stops_reading_is_not_waited_for_at_the_end(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sink = pipe
    monkeypatch.setattr(stdio, "_LAST_SECONDS", 0.05)

    async def story() -> None:
        outgoing = Outgoing(sink, Incoming(sink))
        with anyio.move_on_after(0.05) as stopped:
            await outgoing.send(message("x" * 300_000))
        assert stopped.cancelled_caught
        await outgoing.aclose()

    run(story)


def test_a_client_that_is_gone_has_asked_all(pipe: Pipe) -> None:
    client, sink = pipe
    os.close(client)
    source, asking = os.pipe()
    os.write(asking, request(1) + line("said"))

    async def story() -> None:
        incoming = Incoming(source)
        await incoming.receive()
        async with Outgoing(sink, incoming) as outgoing:
            with pytest.raises(anyio.BrokenResourceError):
                await outgoing.send(answer(1))
        assert await all_of(incoming) == []

    run(story)
    os.close(source)
    os.close(asking)


def request(number: int | str, method: str = "tools/call") -> bytes:
    """Return the line of a call."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method}).encode() + b"\n"


def taken_back(number: object) -> bytes:
    """Return the line that takes a call back."""
    told = {"method": "notifications/cancelled", "params": {"requestId": number}}
    return json.dumps({"jsonrpc": "2.0", **told}).encode() + b"\n"


def answer(number: int) -> SessionMessage:
    """Return the answer to a call."""
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        ([request(1), request(2)], [2, 1]),
        ([request(1), request(2), taken_back(2)], [1]),
        ([request(5), taken_back("5"), request(1)], [1]),
        ([request(5), request(5)], [5, 5]),
        ([request(1), taken_back([1]), taken_back({}), taken_back(None)], [1]),
        ([request(1), request(2, "subscriptions/listen")], [1]),
    ],
    ids=["all", "taken back", "by another name", "twice", "no id", "listening"],
)
def test_the_end_comes_when_no_call_waits_for_its_answer(
    pipe: Pipe, lines: list[bytes], answers: list[int]
) -> None:
    source, client = pipe
    os.write(client, b"".join(lines))
    os.close(client)

    async def story() -> None:
        incoming = Incoming(source)
        ended = anyio.Event()
        for _ in lines:
            await incoming.receive()

        async def read() -> None:
            assert await all_of(incoming) == []
            ended.set()

        with open(os.devnull, "wb") as sink:  # noqa: PTH123 (it takes all at once)
            outgoing = Outgoing(sink.fileno(), incoming)
            async with anyio.create_task_group() as group:
                group.start_soon(read)
                for number in answers:
                    await anyio.wait_all_tasks_blocked()
                    assert not ended.is_set()
                    await outgoing.send(answer(number))
                await ended.wait()

    run(story)


def test_each_answer_gives_the_next_its_time(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    source, client = pipe
    monkeypatch.setattr(stdio, "_NEXT_ANSWER_SECONDS", 0.5)
    os.write(client, b"".join(map(request, range(4))))
    os.close(client)
    ended: list[bool] = []

    async def story() -> None:
        incoming = Incoming(source)
        for _ in range(4):
            await incoming.receive()

        async def read() -> None:
            assert await all_of(incoming) == []
            ended.append(True)

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            for number in range(4):
                await anyio.sleep(0.2)
                assert not ended
                incoming.answered(number)

    run(story)


def test_a_call_that_is_never_answered_is_not_waited_for_for_ever(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, client = pipe
    monkeypatch.setattr(stdio, "_NEXT_ANSWER_SECONDS", 0.05)
    os.write(client, request(1))
    os.close(client)

    async def story() -> None:
        incoming = Incoming(source)
        await incoming.receive()
        with pytest.raises(anyio.EndOfStream):
            await incoming.receive()

    run(story)
