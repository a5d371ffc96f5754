"""Reach a Ray cluster, and say plainly why one can't be reached."""

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from muniment.store.errors import MissingToolError, MunimentError

CONNECT_SECONDS = 5.0
_HINT = "start one with: ray start --head, or name one with --ray-address HOST:PORT"


class ClusterError(MunimentError):
    """The cluster can't be reached, or can't bear what a stage needs."""

    code = "cluster_unreachable"


def require_ray() -> Any:
    """Return the library, told to report nothing home; ``MissingToolError`` where it is absent."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingToolError("Ray is not installed", hint="pip install 'muniment[ray]'") from None
    return ray


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Be a driver of the cluster for the block; one that is connected already is used as it is.

    Yields the library. Raises ``ClusterError`` when nobody answers there, or when Ray or Python
    are of other versions there.
    """
    ray = require_ray()
    if ray.is_initialized():
        yield ray
        return
    _require_answer(address)
    _keep_stdout_clean()
    with _own_signals():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            said = " ".join(str(error).split())[:300]
            raise ClusterError(f"no cluster at {address}: {said}", hint=_HINT) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _keep_stdout_clean() -> None:
    """Stop Ray from printing what becomes of nodes where the answer goes; no option does that."""
    from ray._private import worker

    worker._worker_logs_enabled = False


def _require_answer(address: str) -> None:
    """Try the port first: Ray itself would try for a minute before it says what is wrong."""
    host, colon, port = address.rpartition(":")
    if not (colon and port.isdigit()) or "/" in address:
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS):
            return
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise ClusterError(f"nobody answers at {address}: {said}", hint=_HINT) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our answer to SIGTERM, which connecting replaces by an abrupt exit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with contextlib.suppress(TypeError):  # a handler that was not set from Python
            signal.signal(signal.SIGTERM, before)
