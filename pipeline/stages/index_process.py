"""Write much into an index in a process of its own, while this one reads and analyses.

The process holds no lock and decides nothing: it does what it is told, in order, and a batch that
was not committed when it ends never was. Its parent holds the index lock meanwhile.
"""

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator
from queue import Queue
from typing import TYPE_CHECKING, Any

from muniment.pipeline.processes import Child, attach
from muniment.store.index.fts import TextIndex
from muniment.store.index.inverting import InvertedCollector, invert
from muniment.store.index.statements import values_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from muniment.store.index.documents import Document
    from muniment.store.text.words import Cutter


# Batches that may wait while one is written.
_WAITING = 4


class IndexProcessError(Exception):
    """The process ended before its work; what it committed stays."""


class IndexProcess:
    """What following a ledger asks of an index, done by another process; a context manager.

    Nothing is waited for but a removal and the end. Raises ``IndexProcessError`` from any method
    when the process failed, on any error in there.
    """

    def __init__(self, index: TextIndex, cutter: "Cutter | None") -> None:
        self._index = index
        self._cutter = cutter
        self._marks: dict[str, int | str] = {}
        try:
            self._child = Child(__name__)
        except OSError as error:
            raise IndexProcessError from error
        with contextlib.suppress(OSError):  # it died at once: the end will tell
            self._child.connection.send(("open", index.path))

    def __enter__(self) -> "IndexProcess":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._answer("close")
        finally:
            self._child.end()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what the block writes one unit; when it raises, the process must end."""
        self._ask("begin")
        yield
        self._ask("commit")

    def add(self, documents: "Iterable[Document]") -> int:
        """Add documents, replacing those of the same ref; return how many were given."""
        told = list(documents)
        if told:
            self._ask("add", list(map(values_of, told)), invert(told, self._cutter))
        return len(told)

    def remove(self, refs: Iterable[str]) -> int:
        """Remove documents by ref; return how many there were."""
        gone = list(refs)
        return self._answer("remove", gone) if gone else 0

    def get_mark(self, name: str, default: int | str = 0) -> int | str:
        """Return a watermark as it was set here, or before."""
        return self._marks[name] if name in self._marks else self._index.get_mark(name, default)

    def set_mark(self, name: str, value: int | str) -> None:
        """Set a watermark, in the transaction that makes it true."""
        self._marks[name] = value
        self._ask("mark", name, value)

    def _ask(self, *message: Any) -> None:
        try:
            self._child.connection.send(message)
        except OSError as error:
            raise IndexProcessError from error

    def _answer(self, *message: Any) -> int:
        self._ask(*message)
        answer = self._child.receive()
        if answer is None:
            raise IndexProcessError
        return int(answer[0])


def serve(connection: "Connection") -> None:
    """Do what the parent says until it is content; whatever is raised ends the process."""
    index = TextIndex(connection.recv()[1])
    with contextlib.ExitStack() as open_transaction:
        for message in _received(connection):
            match message:
                case ("begin",):
                    open_transaction.enter_context(index.transaction())
                case ("commit",):
                    open_transaction.close()
                case ("add", values, inverted):
                    index.write(values, InvertedCollector(inverted))
                case ("remove", refs):
                    connection.send((index.remove(refs),))
                case ("mark", name, value):
                    index.set_mark(name, value)
    index.close()
    connection.send((0,))


def _received(connection: "Connection") -> Iterator[Any]:
    """Yield what is sent until the end is, taken in while what came before is worked on.

    A pipe holds less than one batch: without this the parent would wait for each to be written.
    """
    waiting: Queue[Any] = Queue(maxsize=_WAITING)

    def take_in() -> None:
        try:
            with contextlib.suppress(EOFError, OSError):
                while True:
                    waiting.put(connection.recv())
        finally:
            waiting.put(None)

    threading.Thread(target=take_in, daemon=True).start()
    while (message := waiting.get()) != ("close",):
        if message is None:
            raise EOFError  # the parent is gone
        yield message


def main() -> None:
    """Serve the parent that started this process."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        serve(attach())
    os._exit(0)


if __name__ == "__main__":
    main()
