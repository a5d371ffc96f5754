"""OpenStack Swift with its S3 API in one process: a proxy and one server of each other kind.

Run it with the Python that Debian's packages are for: ``python3 swift_program.py FOLDER PORT``.
One replica, no memcached; what it keeps lies in the folder, whose file system has to know extended
attributes.
"""

import sys
from pathlib import Path
from typing import Any

import eventlet

eventlet.patcher.monkey_patch()

from eventlet import wsgi  # noqa: E402  # what it imports has to be patched
from swift.common.http_protocol import SwiftHttpProtocol  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.utils import NullLogger, set_swift_dir  # noqa: E402
from swift.common.wsgi import loadapp  # noqa: E402

KINDS = ("object", "container", "account")
KEY, SECRET = "test:tester", "testing"
FILTERS = (
    "catch_errors", "gatekeeper", "listing_formats", "bulk", "s3api", "tempauth", "copy", "slo",
    "dlo", "versioned_writes", "symlink",
)  # fmt: skip
OPTIONS = {
    "s3api": "location = us-east-1\ns3_acl = false",
    "tempauth": f"user_{KEY.replace(':', '_')} = {SECRET} .admin",
    "versioned_writes": "allow_object_versioning = true",
}
HASHING = """
[swift-hash]
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
"""


class Cache:
    """What the proxy otherwise keeps in memcached: tokens, and what it knows of containers."""

    def __init__(self, proxy: Any) -> None:
        self._proxy = proxy
        self._held: dict[str, Any] = {}

    def __call__(self, environment: dict[str, Any], respond: Any) -> Any:
        environment["swift.cache"] = self
        return self._proxy(environment, respond)

    def get(self, key: str, **_: Any) -> Any:
        return self._held.get(key)

    def set(self, key: str, value: Any, **_: Any) -> None:
        self._held[key] = value

    def delete(self, key: str, **_: Any) -> None:
        self._held.pop(key, None)


def configure(folder: Path, sockets: dict[str, eventlet.greenio.GreenSocket]) -> None:
    """Write the rings and the configuration of each server."""
    (folder / "devices" / "d1").mkdir(parents=True)
    (folder / "swift.conf").write_text(HASHING)
    common = f"[DEFAULT]\nswift_dir = {folder}\nlog_address = {folder / 'no-log'}\n"
    for kind in KINDS:
        ring = RingBuilder(4, 1, 0)
        ring.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1",
                      "port": sockets[kind].getsockname()[1], "device": "d1"})  # fmt: skip
        ring.rebalance()
        ring.get_ring().save(str(folder / f"{kind}.ring.gz"))
        (folder / f"{kind}.conf").write_text(
            f"{common}devices = {folder / 'devices'}\nmount_check = false\n"
            f"[pipeline:main]\npipeline = {kind}-server\n"
            f"[app:{kind}-server]\nuse = egg:swift#{kind}\nallow_versions = true\n"
        )
    filters = "".join(
        f"[filter:{name}]\nuse = egg:swift#{name}\n{OPTIONS.get(name, '')}\n" for name in FILTERS
    )
    (folder / "proxy.conf").write_text(
        f"{common}[pipeline:main]\npipeline = {' '.join(FILTERS)} proxy-server\n{filters}"
        "[app:proxy-server]\nuse = egg:swift#proxy\n"
        "allow_account_management = true\naccount_autocreate = true\n"
    )


def main() -> None:
    """Serve until the process is ended."""
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    sockets = {kind: eventlet.listen(("127.0.0.1", 0)) for kind in KINDS}
    sockets["proxy"] = eventlet.listen(("127.0.0.1", port))
    configure(folder, sockets)
    set_swift_dir(str(folder))
    running = []
    for kind, listening in sockets.items():
        served = loadapp(str(folder / f"{kind}.conf"))
        served = Cache(served) if kind == "proxy" else served
        running.append(
            eventlet.spawn(wsgi.server, listening, served, NullLogger(), protocol=SwiftHttpProtocol)
        )
    for server in running:
        server.wait()


main()
