"""Which asset store a root has: files beside the ledger, or what its manifest names."""

import json
import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.store.errors import DamageError, StateError, UsageError
from muniment.store.local_assets import LocalAssets

if TYPE_CHECKING:
    from muniment.store.layout import Root, Scope
    from muniment.store.ports import AssetStore

KEY = "assets"
CACHE_BYTES = 2 * 1024**3
_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
_STEP = re.compile(r"[A-Za-z0-9_.=-]{1,255}")


@dataclass(frozen=True, slots=True)
class Location:
    """A prefix in a bucket; ``prefix`` is empty or ends in a slash."""

    bucket: str
    prefix: str

    @classmethod
    def parse(cls, url: str) -> "Location":
        """Read ``s3://bucket/prefix``; raise ``UsageError`` for anything else."""
        found = _URL.fullmatch(url)
        steps = [step for step in (found[2] or "").split("/") if step] if found else []
        sound = all(_STEP.fullmatch(step) and step not in {".", ".."} for step in steps)
        if not found or not sound:
            raise UsageError(
                f"{url!r} is not the address of an object store", code="bad_address",
                hint="write it as s3://BUCKET/PREFIX",
            )  # fmt: skip
        return cls(found[1], "".join(f"{step}/" for step in steps))

    @property
    def url(self) -> str:
        """The address as it is written down."""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def below(self, *steps: str) -> "Location":
        """Return the location of a folder in this one."""
        return Location(self.bucket, self.prefix + "".join(f"{step}/" for step in steps))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the assets of a root lie when not beside its ledgers.

    ``id`` stands in the store too, so that two roots never share one without being told.
    ``cache_bytes`` bounds what is kept of it on this machine, for each scope.
    """

    location: Location
    id: str
    cache_bytes: int = CACHE_BYTES

    @classmethod
    def new(cls, location: Location, cache_bytes: int | None = None) -> "Place":
        """Return a place with an id of its own."""
        bound = CACHE_BYTES if cache_bytes is None else cache_bytes
        return cls(location, secrets.token_hex(16), bound)

    def as_dict(self) -> dict[str, Any]:
        """Return what the manifest says of it: no address of a server, and no secret."""
        return {"url": self.location.url, "id": self.id, "cache_bytes": self.cache_bytes}

    @classmethod
    def of(cls, said: Any) -> "Place":
        """Read what a manifest says; raise ``DamageError`` when it makes no sense."""
        try:
            place = cls(Location.parse(said["url"]), str(said["id"]), int(said["cache_bytes"]))
        except (KeyError, TypeError, ValueError, UsageError):
            raise DamageError(
                "the manifest does not say where the assets are", code="manifest_damaged",
                hint="restore muniment.json, or the root from a backup",
            ) from None  # fmt: skip
        return place


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Lets another process, on another machine too, fetch the assets of a scope by itself.

    It holds no secret: each process reads those of its own environment.
    """

    place: Place
    scope: "Scope"
    cache: Path
    offline: bool = False

    def fetch(self, asset: str, scratch: Path) -> Path:
        """Return a file with the bytes that stays for as long as ``scratch`` does.

        Where the folder of the root is not to be seen, nothing is kept beyond that.
        """
        from muniment.store.backends.s3_assets import RemoteAssets

        seen = self.cache.parent.is_dir()
        scratch.mkdir(mode=0o700, exist_ok=True)
        here = self if seen else replace(self, cache=scratch / "cache")
        return RemoteAssets(here, scratch).lend(asset, scratch)


def is_remote(address: str) -> bool:
    """Tell whether text names an object store and no folder."""
    return address.startswith("s3://")


def place_of(root: "Root") -> Place | None:
    """Return where the assets of a root lie; null for the folders beside its ledgers."""
    try:
        return place_in(root.manifest.read_bytes())
    except OSError:
        return None  # whoever opens the root says what is wrong with it


def place_in(manifest: bytes) -> Place | None:
    """Return what the bytes of a manifest say of the place of the assets."""
    try:
        said = json.loads(manifest)
    except ValueError:
        return None
    known = isinstance(said, dict) and said.get(KEY) is not None
    return Place.of(said[KEY]) if known else None


def require_place(root: "Root", location: Location) -> None:
    """Raise ``StateError`` unless the assets of a root lie there."""
    place = place_of(root)
    if place is None or place.location != location:
        where = "beside the ledgers" if place is None else place.location.url
        raise StateError(
            f"the assets of this root lie elsewhere: {where}",
            code="assets_elsewhere",
            hint="back it up, and restore it into another root with --assets",
        )


def assets_of(root: "Root", scope: "Scope") -> "AssetStore":
    """Return the asset store of one scope; the network is not touched by that."""
    paths = root.scope(scope)
    place = place_of(root)
    if place is None:
        return LocalAssets(paths)
    from muniment.store.backends.s3_assets import RemoteAssets

    elsewhere = Elsewhere(place, scope, paths.cache, offline=root.offline)
    return RemoteAssets(elsewhere, root.temporary)
