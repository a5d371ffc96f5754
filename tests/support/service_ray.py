"""A Ray cluster of node processes on this machine, for tests."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support.services import library

SUPPORT = Path(__file__).parent
# A machine that is busy with other things starts processes slowly and answers late; that is no
# fault of what is tested.
PATIENCE = {
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_health_check_timeout_ms": "60000",
    "RAY_USAGE_STATS_ENABLED": "0",
}
# A node that was not there after so long has given up: it waits no more than 15 seconds for the
# processes that it starts itself, and is started again here.
START_SECONDS = 90
STARTS = 4
STORE_BYTES = 100_000_000
NODE_CPUS = 2


class RayNodes:
    """The cluster's nodes: a head that computes nothing, and workers that come and go."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self.address: str = cluster.address

    def add(self, **more: Any) -> Any:
        """Start a node with two cores, or other resources, and return it once it is counted."""
        return _started(
            lambda: self._cluster.add_node(**{"num_cpus": NODE_CPUS, **_node_arguments(), **more})
        )

    def kill(self, node: Any) -> None:
        """Kill a node with its processes, as a power cut would."""
        self._cluster.remove_node(node, allow_graceful=False)


def _started(start: Callable[[], Any]) -> Any:
    for _ in range(STARTS - 1):
        with contextlib.suppress(Exception):  # Ray raises no other when a node does not come up
            return start()
    return start()


@contextlib.contextmanager
def cluster(nodes: int = 1, environment: Mapping[str, str] | None = None) -> Iterator[RayNodes]:
    """Run a cluster; its processes see the readers of the tests, and more of an environment."""
    os.environ.update(PATIENCE)
    library("ray")
    from ray._private import services
    from ray.cluster_utils import Cluster

    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(SUPPORT), str(SUPPORT.parent), path))
    )
    slow = patch.object(services, "get_node", _patient(services.get_node))
    slow.start()
    try:
        made = _started(lambda: Cluster(initialize_head=True, head_node_args=_head_arguments()))
        try:
            running = RayNodes(made)
            with patch.dict(os.environ, environment or {}):
                for _ in range(nodes):
                    running.add()
            yield running
        finally:
            made.shutdown()
    finally:
        slow.stop()
        if path is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = path


def _head_arguments() -> dict[str, Any]:
    own = {"gcs_server_port": _free_port(), "num_cpus": 0, "include_dashboard": False}
    return {**own, **_node_arguments()}


def _node_arguments() -> dict[str, int]:
    """Return what every node is given.

    A node waits no more than 15 seconds for ports that its agents choose, so they are chosen here.
    """
    ports = (
        "metrics_agent_port", "runtime_env_agent_port", "metrics_export_port",
        "dashboard_agent_listen_port",
    )  # fmt: skip
    return {"object_store_memory": STORE_BYTES, **{name: _free_port() for name in ports}}


def _patient(get_node: Callable[..., Any]) -> Callable[..., Any]:
    """Wait longer for a node that starts than the half minute that is written into Ray."""

    def wait(*given: Any) -> Any:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                return get_node(*given)
            except RuntimeError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.2)

    return wait


def _free_port() -> int:
    """Return a port that nobody listens at: another cluster of this machine is left alone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
