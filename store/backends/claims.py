"""One prefix of a bucket belongs to one root: a small object there says to which."""

import json

from muniment.store.asset_places import Place
from muniment.store.backends.bucket import Bucket
from muniment.store.errors import StateError

MARKER = "muniment-assets.json"
_FORMAT = "muniment.assets"


def claim(place: Place) -> None:
    """Take a prefix for a root, which may have it already by its id.

    Raises ``StateError`` when another root has it.
    """
    bucket = Bucket(place.location)
    text = json.dumps({"format": _FORMAT, "id": place.id}) + "\n"
    try:
        bucket.put(MARKER, [text.encode()], create=True)
    except FileExistsError:
        if owner(bucket) != place.id:
            raise StateError(
                f"{place.location.url} holds the assets of another root", code="assets_taken",
                hint=f"choose another prefix; if that root is gone, remove its {MARKER}",
            ) from None  # fmt: skip


def release(place: Place) -> None:
    """Give a prefix back that was claimed for a root that could not be made."""
    Bucket(place.location).delete(MARKER)


def owner(bucket: Bucket) -> str | None:
    """Return the id of the root that a prefix belongs to; null when nothing says so."""
    try:
        said = json.loads(b"".join(bucket.chunks(MARKER)))
        return str(said["id"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
