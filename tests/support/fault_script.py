"""A small script that fills a scope, for tests that make it fail.

As a program: ``fault_script.py ROOT door|statement N`` runs it and kills itself at the n-th use
of any door of ``store/files.py``, or at the n-th statement of SQLite. Each unit is named on
standard output once it is acknowledged.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

from muniment.store import files, locks, manifest
from muniment.store.assets import take_stream
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.ledger.evidence import observation_id
from muniment.store.records import CharLocator, Observation, Producer

STEPS = 6
READER = Producer(adapter="plain_text", version="1", role="text")


def run(root: Root, acknowledge: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """Fill a scope and yield nothing more than was already told to ``acknowledge``."""
    manifest.initialize(root)
    told = []
    with manifest.shared(root):
        paths = root.scope(Scope())
        files.make_directory(paths.path)
        with locks.hold(paths.writer_lock), Ledger.create(root, Scope()) as ledger:
            for step in range(STEPS):
                told.append(_put(ledger, step))
                acknowledge(told[-1])
    yield from told


def _put(ledger: Ledger, step: int) -> str:
    data = f"text {step} ".encode() * (20_000 if step % 2 else 20)
    taken = take_stream(BytesIO(data), ledger.assets.store, ledger.root.temporary)
    with ledger.unit():
        number, new = ledger.assets.add(taken)
        if new:
            ledger.assets.add_type(number, "text/plain", "text", "1")
        ledger.assets.see(
            (number, taken.asset), b"/in/%d" % step, source="in", origin="external",
            size=taken.size, run="run_1",
        )  # fmt: skip
        producer, fingerprint = ledger.evidence.producer(READER)
        attempt = ledger.attempts.add(
            number, "observe", "plain_text", fingerprint, status="ok", run="run_1"
        )
        ledger.attempts.cover(number, attempt, [("text", READER.role, producer)])
        place = CharLocator(start=0, end=6, line_start=1, line_end=1)
        read = Observation(
            id=observation_id(taken.asset, "text", place.model_dump(), fingerprint, 0),
            asset=taken.asset, kind="text", text=f"text {step}", locator=place,
            producer=fingerprint, origin="external", created_at="2026-01-01T00:00:00.000000Z",
        )  # fmt: skip
        ledger.evidence.add([read], number, {fingerprint: producer}, attempt)
    return taken.asset


def _kill_at(nth: int) -> Callable[[], None]:
    calls = count(1)

    def step() -> None:
        if next(calls) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def _watch_doors(step: Callable[[], None]) -> None:
    for name in (
        "make_directory", "sync_directory", "create_temporary", "write_chunk", "sync_file",
        "close_file", "publish",
    ):  # fmt: skip
        door = getattr(files, name)

        def watched(*arguments: Any, _door: Any = door, **named: Any) -> Any:
            step()
            result = _door(*arguments, **named)
            step()
            return result

        setattr(files, name, watched)


def _watch_statements(step: Callable[[], None]) -> None:
    import apsw

    def each(connection: apsw.Connection) -> None:
        def traced(*_: Any) -> bool:
            step()
            return True

        connection.exec_trace = traced

    apsw.connection_hooks.append(each)


def main() -> None:
    """Run the script and die on the way."""
    root, where, nth = sys.argv[1:]
    step = _kill_at(int(nth))
    (_watch_doors if where == "door" else _watch_statements)(step)
    list(run(Root(Path(root)), lambda asset: print(asset, flush=True)))  # noqa: T201


if __name__ == "__main__":
    main()
