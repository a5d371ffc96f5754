"""The manifest of one snapshot, and the checks that it passes before anything is done by it."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from muniment.store.asset_places import KEY
from muniment.store.errors import DamageError, StateError
from muniment.store.ids import canonical
from muniment.store.manifest import placed

VERSION = 1
KINDS = ("manifest", "database", "asset", "file")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,255}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"\d{6}-\d{8}T\d{6}Z")


@dataclass(frozen=True, slots=True)
class Part:
    """One object: the SHA-256 and size of its content."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the store; ``schema`` and ``rows`` (by table) are a database's."""

    path: str
    kind: str
    size: int
    sha256: str
    parts: tuple[Part, ...]
    schema: int | None = None
    rows: dict[str, int] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; parts are left out where the file is one object."""
        said: dict[str, Any] = {
            "path": self.path, "kind": self.kind, "size": self.size, "sha256": self.sha256
        }  # fmt: skip
        if self.kind == "database":
            said["parts"] = [[part.sha256, part.size] for part in self.parts]
            said |= {"schema": self.schema, "rows": self.rows}
        return said


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of a whole store.

    ``store`` is a digest of the store's own manifest, which tells one store from another.
    ``missing`` lists ``{"path", "reason"}`` of what the store had lost when it was copied.
    """

    id: str
    created_at: str
    store: str
    entries: tuple[Entry, ...]
    missing: tuple[dict[str, str], ...] = ()
    forgotten: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The digest over every path, size and SHA-256."""
        lines = sorted((entry.path, entry.size, entry.sha256) for entry in self.entries)
        return hashlib.sha256(canonical(lines)).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries)

    @property
    def scopes(self) -> list[str]:
        """The scopes in it, as ``tenant/user/namespace``."""
        ledgers = [
            PurePosixPath(e.path).parts for e in self.entries if e.path.endswith("/ledger.sqlite3")
        ]
        return sorted(f"{p[2]}/{p[4]}/{p[6]}" for p in ledgers)

    def objects(self) -> Iterable[Part]:
        """Yield every object that it needs; one that is used twice comes twice."""
        for entry in self.entries:
            yield from entry.parts

    def summary(self) -> dict[str, Any]:
        """Return what a list says of it."""
        return {
            "id": self.id,
            "created_at": self.created_at,
            "store": self.store,
            "fingerprint": self.fingerprint,
            "complete": not self.missing,
            "files": len(self.entries),
            "bytes": self.size,
            "scopes": self.scopes,
        }


def encode(snapshot: Snapshot) -> bytes:
    """Write a manifest down; its own digest stands beside it."""
    said = {
        "format": "muniment.snapshot",
        "version": VERSION,
        "id": snapshot.id,
        "created_at": snapshot.created_at,
        "store": snapshot.store,
        "fingerprint": snapshot.fingerprint,
        "files": [entry.as_dict() for entry in snapshot.entries],
        "missing": list(snapshot.missing),
        "forgotten": list(snapshot.forgotten),
    }
    return canonical({"sha256": hashlib.sha256(canonical(said)).hexdigest(), "snapshot": said})


def decode(data: bytes, identity: str) -> Snapshot:
    """Read a manifest; raise ``DamageError`` unless everything in it is as it should be."""
    try:
        document = json.loads(data)
        said = document["snapshot"]
        if said["version"] > VERSION:
            raise StateError(
                f"snapshot {identity} was written by a newer version",
                code="future",
                hint="upgrade muniment",
            )
        if hashlib.sha256(canonical(said)).hexdigest() != document["sha256"]:
            raise _invalid(identity, "its digest does not match")
        snapshot = Snapshot(
            id=said["id"],
            created_at=said["created_at"],
            store=said["store"],
            entries=tuple(_entry(one) for one in said["files"]),
            missing=tuple(said["missing"]),
            forgotten=tuple(said["forgotten"]),
        )
        _check(snapshot, identity, said["fingerprint"])
    except (ValueError, TypeError, KeyError) as error:
        raise _invalid(identity, f"it can't be read ({type(error).__name__})") from error
    return snapshot


def is_id(text: str) -> bool:
    """Tell whether a text has the form of a snapshot's id."""
    return _ID.fullmatch(text) is not None


def store_of(manifest: bytes) -> str:
    """Return by what a snapshot names the store with a manifest, wherever its assets lie."""
    try:
        said = json.loads(manifest)
    except ValueError:
        said = None
    if isinstance(said, dict) and KEY in said:
        manifest = placed(said, None)
    return hashlib.sha256(manifest).hexdigest()[:16]


def next_id(known: Iterable[str], created_at: str) -> str:
    """Return the id after those that are known: they count, whatever the clock says."""
    number = max((int(identity[:6]) for identity in known), default=0) + 1
    return f"{number:06d}-{created_at[:19].replace('-', '').replace(':', '')}Z"


def _entry(said: dict[str, Any]) -> Entry:
    parts = said.get("parts", [[said["sha256"], said["size"]]])
    return Entry(
        path=said["path"],
        kind=said["kind"],
        size=said["size"],
        sha256=said["sha256"],
        parts=tuple(Part(sha256, size) for sha256, size in parts),
        schema=said.get("schema"),
        rows=said.get("rows"),
    )


def _check(snapshot: Snapshot, identity: str, fingerprint: str) -> None:
    """Check ids, paths, digests and sums; no path may leave the root or be another's folder."""
    if snapshot.id != identity or not is_id(identity):
        raise _invalid(identity, "it is another snapshot's")
    if snapshot.fingerprint != fingerprint:
        raise _invalid(identity, "its fingerprint does not match")
    paths = [entry.path for entry in snapshot.entries]
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    if len({path.casefold() for path in paths}) < len(paths) or folders & set(paths):
        raise _invalid(identity, "it names a path twice")
    for entry in snapshot.entries:
        if not _is_sound(entry):
            raise _invalid(identity, "a path, digest or size in it is not allowed")


def _is_sound(entry: Entry) -> bool:
    steps = entry.path.split("/")
    inside = steps == ["muniment.json"] or (len(steps) > 1 and steps[0] == "store")
    named = all(_NAME.fullmatch(step) and step not in {".", ".."} for step in steps)
    digests = [entry.sha256, *(part.sha256 for part in entry.parts)]
    sums = sum(part.size for part in entry.parts) == entry.size
    even = len({part.size for part in entry.parts[:-1]} | {part.size for part in entry.parts[:1]})
    cut = even <= 1 and all(part.size <= entry.parts[0].size for part in entry.parts[-1:])
    own = entry.kind != "asset" or steps[-1] == entry.sha256
    return (
        inside and named and own and sums and cut and entry.kind in KINDS
        and all(_DIGEST.fullmatch(digest) for digest in digests)
        and all(type(part.size) is int and part.size >= 0 for part in entry.parts)
    )  # fmt: skip


def _invalid(identity: str, why: str) -> DamageError:
    return DamageError(
        f"the manifest of snapshot {identity} is damaged: {why}",
        code="snapshot_damaged",
        hint="use another snapshot; see: muniment backup list DEST",
    )
