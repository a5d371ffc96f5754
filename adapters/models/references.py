"""Which inputs a remote call is about, for its audit row: named by the caller, not the content."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[tuple[str, ...]] = ContextVar("references", default=())


@contextmanager
def referring(*ids: str) -> Iterator[None]:
    """Name the assets or observations that the calls inside are about."""
    before = _current.set(ids)
    try:
        yield
    finally:
        _current.reset(before)


def references(otherwise: str) -> tuple[str, ...]:
    """Return the ids named around this call, or the given stand-in."""
    return _current.get() or (otherwise,)
