"""MCP on standard input and output, read and written by the event loop itself.

The SDK's own transport hands every line to a worker thread, and every answer to one twice. That
takes a fifth of a short call, and the thread that waits for a line keeps the process from ending.
"""

import contextlib
import errno
import json
import os
import signal
import stat
import sys
from collections import Counter, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from muniment.store.errors import UsageError
from muniment.store.ids import storable_value

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_READ_BYTES = 65_536
# Nobody is at the other end of a pipe, a socket, a terminal.
_GONE = {errno.EPIPE, errno.ECONNRESET, errno.EIO}
# How long a client that does not read is waited for at the end, and the next answer.
_LAST_SECONDS, _NEXT_ANSWER_SECONDS = 2.0, 60.0
_ENDING = (signal.SIGINT, signal.SIGTERM)
_TAKEN_BACK = "notifications/cancelled"
# Its answer is what happens later on, without an end.
_LISTENING = "subscriptions/listen"
# How JSON writes any part of a surrogate pair begins so.
_HALF = "\\ud"


def serve(server: "MCPServer[Any]") -> None:
    """Serve until the client closes its end or reads no more answers, or a signal comes.

    Raises ``UsageError`` without a standard input, ``OSError`` where answers can't be written.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        with _claimed() as (source, sink):
            came = anyio.run(_serve, server, source, sink)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in came:
        signal.raise_signal(number)  # now that everything is closed, end as any command does


async def _serve(server: "MCPServer[Any]", source: int, sink: int) -> list[signal.Signals]:
    """Serve on two descriptors; return the signal that came, if one did."""
    server.streamable_http_app()  # makes the manager, which alone names the server that has run()
    inner = server.session_manager.app
    incoming = Incoming(source)
    outgoing = Outgoing(sink, incoming)
    came: list[signal.Signals] = []
    async with anyio.create_task_group() as group:
        group.start_soon(_heed, incoming, came)
        with _never_blocking(sink):
            await inner.run(incoming, outgoing, inner.create_initialization_options())
        group.cancel_scope.cancel()
    if outgoing.failure is not None:
        raise outgoing.failure
    return came


async def _heed(incoming: "Incoming", came: list[signal.Signals]) -> None:
    """Let the first signal close what comes in; a second one ends at once."""
    heeded = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    with anyio.open_signal_receiver(*heeded) as signals:
        came.append(await anext(signals))
    incoming.close()


class Incoming(ObjectReceiveStream[SessionMessage | Exception]):
    """The messages that are read from a descriptor; a line that is none comes as its error.

    They end when all that was asked is answered: whoever pipes calls in closes their end at once.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._may_wait = _is_channel(descriptor) or os.isatty(descriptor)
        self._lines: deque[bytes] = deque()
        self._begun = bytearray()
        self._ended = False
        self._calls = _Calls()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; raise ``anyio.EndOfStream`` after the last."""
        while not self._lines:
            if self._ended:
                await self._calls.wait()
                raise anyio.EndOfStream
            self._take(await self._read())
        line = self._lines.popleft().decode("utf-8", "replace")
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError as error:
            mended = _mended(line)
            if mended is None:
                return error
            message = mended
        self._calls.came(message)
        return SessionMessage(message)

    def close(self) -> None:
        """End here, whatever else would come or was asked."""
        self._ended = True
        self._lines.clear()
        self._begun.clear()
        self._calls.give_up()
        anyio.notify_closing(self._descriptor)

    def answered(self, call: RequestId | None) -> None:
        """Wait no more for the answer to a call."""
        self._calls.settle(call)

    async def aclose(self) -> None:
        """End here, whatever else would come or was asked."""
        self.close()

    async def _read(self) -> bytes:
        """Return some bytes, none at the end."""
        while True:
            try:
                if self._may_wait:
                    await anyio.wait_readable(self._descriptor)
                return os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                continue  # somebody else has read it
            except (OSError, anyio.ClosedResourceError):
                return b""  # a client that is gone has closed its end, too

    def _take(self, chunk: bytes) -> None:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._lines.append(bytes(self._begun + line))
            self._begun.clear()
        self._begun += rest
        if not chunk:
            self._ended = True
            if self._begun:
                self._lines.append(bytes(self._begun))


class _Calls:
    """The calls that wait for their answers; of the same id there may be several."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._changed = anyio.Event()

    def came(self, message: JSONRPCMessage) -> None:
        """Note a call, or that one is taken back."""
        if isinstance(message, JSONRPCRequest) and message.method != _LISTENING:
            self._open[str(message.id)] += 1
        elif isinstance(message, JSONRPCNotification) and message.method == _TAKEN_BACK:
            self.settle((message.params or {}).get("requestId"))

    def settle(self, call: object) -> None:
        """Note that a call waits no more; "5" is 5."""
        self._open[str(call)] -= 1
        self._open += Counter()  # without what waits no more
        self._changed.set()

    def give_up(self) -> None:
        """Let nothing wait any more."""
        self._open.clear()
        self._changed.set()

    async def wait(self) -> None:
        """Wait until all are answered, or none is for long."""
        while self._open:
            self._changed = anyio.Event()
            with anyio.move_on_after(_NEXT_ANSWER_SECONDS) as limit:
                await self._changed.wait()
            if limit.cancelled_caught:
                return


class Outgoing(ObjectSendStream[SessionMessage]):
    """The messages that are written to a descriptor, each whole and on a line of its own.

    They answer what is ``incoming``, which is closed when nobody can read any more.
    """

    def __init__(self, descriptor: int, incoming: Incoming) -> None:
        self._descriptor = descriptor
        self._incoming = incoming
        self._turn = anyio.Lock(fast_acquire=True)
        self._left = bytearray()
        # Why nothing could be written, where the client is not gone.
        self.failure: OSError | None = None

    async def send(self, item: SessionMessage) -> None:
        """Write a message; raise ``anyio.BrokenResourceError`` where nobody reads."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        async with self._turn:
            self._left += line + b"\n"
            await self._flush()
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._incoming.answered(item.message.id)

    async def aclose(self) -> None:
        """Write the rest of a message whose sender was stopped, if it is read in time."""
        with (
            contextlib.suppress(anyio.BrokenResourceError),
            anyio.move_on_after(_LAST_SECONDS, shield=True),
        ):
            async with self._turn:
                await self._flush()
        self._left.clear()

    async def _flush(self) -> None:
        """Write what is left; who is stopped here leaves the rest to the next."""
        while self._left:
            try:
                written = os.write(self._descriptor, self._left)
            except BlockingIOError:
                await anyio.wait_writable(self._descriptor)
            except OSError as error:
                self._left.clear()
                self._incoming.close()
                self.failure = None if error.errno in _GONE else error
                raise anyio.BrokenResourceError from error
            else:
                del self._left[:written]


def _mended(line: str) -> JSONRPCMessage | None:
    """Return a message in which half of a surrogate pair became U+FFFD; null for any other line."""
    if _HALF not in line.lower():
        return None
    try:
        fields = storable_value(json.loads(line))
        return jsonrpc_message_adapter.validate_python(fields, by_name=False)
    except (ValueError, RecursionError):
        return None


def _is_channel(descriptor: int) -> bool:
    """Tell whether another process is at its other end: a pipe or a socket."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextlib.contextmanager
def _never_blocking(sink: int) -> Iterator[None]:
    """Have a write to a full pipe say so instead of waiting."""
    before = os.get_blocking(sink)
    os.set_blocking(sink, before and not _is_channel(sink))
    try:
        yield
    finally:
        os.set_blocking(sink, before)


@contextlib.contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Keep both streams for the protocol: others read nothing meanwhile, and print to stderr."""
    if sys.stdin is None:
        raise UsageError("standard input is closed", hint="give it a pipe, or serve over --http")
    reading, writing = sys.stdin.fileno(), sys.stdout.fileno()
    source, sink, null = os.dup(reading), os.dup(writing), os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, reading)
    os.dup2(sys.stderr.fileno(), writing)
    os.close(null)
    try:
        yield source, sink
    finally:
        sys.stdout.flush()
        os.dup2(source, reading)
        os.dup2(sink, writing)
        os.close(source)
        os.close(sink)
