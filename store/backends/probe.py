"""Try an object store out: can it be reached, written, read and emptied, and what does it keep?"""

import secrets
from collections.abc import Callable, Iterator
from typing import NamedTuple

from muniment.store.asset_places import Place
from muniment.store.backends.bucket import Bucket
from muniment.store.backends.claims import owner
from muniment.store.backends.versions import Versions
from muniment.store.errors import MunimentError, StateError

_FOLDER = "muniment-probe/"
_DATA = b"a probe of muniment doctor; it may be removed\n"


class Finding(NamedTuple):
    """What one trial showed."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def probe(place: Place, *, offline: bool = False) -> Iterator[Finding]:
    """Yield what each trial shows, up to the first that fails; what it wrote is removed."""
    bucket = Bucket(place.location, offline=offline)
    for name, trial in (
        ("reached", lambda: _reached(bucket)),
        ("owner", lambda: _owner(bucket, place)),
        ("objects", lambda: _objects(bucket)),
        ("versions", lambda: _versions(bucket)),
    ):
        found = _tried(name, trial)
        yield found
        if not found.ok:
            return


def _tried(name: str, trial: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, trial())
    except MunimentError as error:
        return Finding(name, False, error.message, error.hint)


def _reached(bucket: Bucket) -> str:
    next(iter(bucket.list(_FOLDER)), None)
    return f"{bucket.location.url} at {bucket.access.endpoint or 'AWS'}"


def _owner(bucket: Bucket, place: Place) -> str:
    if owner(bucket) != place.id:
        raise StateError(
            f"{place.location.url} does not say that it belongs to this root",
            hint="see whether another root uses it before anything is forgotten",
        )
    return "it belongs to this root"


def _objects(bucket: Bucket) -> str:
    name = f"{_FOLDER}{secrets.token_hex(8)}"
    versions = Versions(bucket)
    try:
        bucket.put(name, [_DATA])
        if b"".join(bucket.chunks(name)) != _DATA:
            raise StateError("what was written is not what is read", hint="check the server")
        guarded = bucket.refuses_second(name, _DATA)
    finally:
        for version in list(versions.all(name)):
            versions.remove(version)
        bucket.delete(name)
        for version in list(versions.all(name)):
            versions.remove(version)
    if bucket.head(name) is not None:
        raise StateError("what was deleted is still there", hint="check the rights to delete")
    kind = "conditional writes" if guarded else "no conditional writes: names are looked at first"
    return f"written, read and removed; {kind}"


def _versions(bucket: Bucket) -> str:
    said = {
        "enabled": "every version is kept by the bucket; a hard forget removes them",
        "suspended": "older versions may be kept by the bucket; a hard forget removes them",
        "off": "none are kept",
    }
    return said.get(Versions(bucket).state(), "the server does not say; none are assumed")
