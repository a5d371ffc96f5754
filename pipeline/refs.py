"""References: ``kind:id``, ``sha256:…``, else a path (``path:`` forces it)."""

import os
import re
from typing import NamedTuple

from muniment.store.errors import NotFoundError, UsageError
from muniment.store.ids import storable
from muniment.store.ledger import Ledger

KINDS = (
    "asset", "observation", "episode", "candidate", "record", "run", "session", "event",
    "tombstone", "entity", "topic", "persona",
)  # fmt: skip
_PREFIXES = {"obs": "observation", "ep": "episode", "cand": "candidate", "rec": "record",
             "run": "run", "tmb": "tombstone", "ent": "entity", "tpc": "topic"}  # fmt: skip
_NAMED_BY_HOSTS = {"session", "event"}
_LIKE_A_REFERENCE = re.compile(r"[a-z][a-z0-9_]*:[^/]*$")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Ref(NamedTuple):
    """An object by kind and id; ``version`` for ``record:rec_…@2``."""

    kind: str
    id: str
    version: int | None = None

    def __str__(self) -> str:
        """Return the reference as it is written."""
        return f"{self.kind}:{self.id}" + (f"@{self.version}" if self.version else "")


def resolve(ledger: Ledger, text: str) -> Ref:
    """Return what a reference names; raise ``NotFoundError`` when nothing, or not one thing."""
    if not text:
        raise UsageError("a reference is missing", hint="use kind:id, sha256:... or a path")
    kind, _, rest = text.partition(":")
    if _DIGEST.fullmatch(text):
        return Ref("asset", text)
    if kind in _NAMED_BY_HOSTS and rest:
        return Ref(kind, storable(rest))  # whatever characters the host chose
    if kind in KINDS and rest:
        identity, _, version = storable(rest).partition("@")
        if version and not version.isdecimal():
            raise UsageError(f"{text!r} has a version that is not a number")
        return Ref(kind, identity, int(version) if version else None)
    prefix = text.partition("_")[0]
    if prefix in _PREFIXES and "/" not in text:
        return Ref(_PREFIXES[prefix], storable(text))
    return _by_path(ledger, rest) if kind == "path" else _by_bare_path(ledger, text)


def require_path(text: str) -> None:
    """Raise ``UsageError`` for what looks like a reference and is none; nothing is at that path."""
    kind, _, rest = text.partition(":")
    known = kind in KINDS
    if _LIKE_A_REFERENCE.match(text) is None or kind == "path" or (known and rest):
        return
    hint = f"the kinds are {', '.join(KINDS)}; path:{text} forces a path"
    if known:
        hint = f"an id follows {kind}:"
    elif kind == "sha256":
        if _DIGEST.fullmatch(text):
            return
        hint = "64 hexadecimal digits follow sha256:"
    elif kind == "scope":
        hint = "scope:. is what forget takes, for everything"
    raise UsageError(f"{text!r} is not a reference", code="bad_ref", hint=hint)


def _by_bare_path(ledger: Ledger, text: str) -> Ref:
    try:
        return _by_path(ledger, text)
    except NotFoundError:
        require_path(text)
        raise


def _by_path(ledger: Ledger, text: str) -> Ref:
    path = os.path.abspath(os.fsencode(text))  # noqa: PTH100 (a name is bytes here)
    found = ledger.assets.at_path(path)
    if not found:
        raise NotFoundError(
            "nothing was seen at this path", hint="see: muniment list assets", path=text
        )
    return Ref("asset", found[0])
