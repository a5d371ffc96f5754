"""Deterministic ids (invariant 7): digests of where and how, never of a text alone.

The occurrence is part of the key, so that what repeats in time stays apart.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(value: Any) -> bytes:
    """Return the one JSON form of a value that ids and fingerprints are made from."""
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def canonical_text(value: Any) -> str:
    """Return the canonical form of a value from anywhere as text that a database can hold.

    Lone surrogates become U+FFFD; numbers that JSON lacks become null.
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_finite(value))
    return storable(text)


def storable(text: str) -> str:
    """Return text that can be written as UTF-8: lone surrogates become U+FFFD, one for one."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def storable_or_none(text: str | None) -> str | None:
    """Return :func:`storable` text, or null for null."""
    return None if text is None else storable(text)


def storable_value(value: Any) -> Any:
    """Return a JSON value with :func:`storable` texts in it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: storable_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_value(item) for item in value]
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def digest(*parts: Any) -> str:
    """Return 32 hex digits over the canonical form of the parts."""
    return hashlib.sha256(canonical(parts)).hexdigest()[:32]


def asset_id(data: bytes) -> str:
    """Return the id of bytes: ``sha256:`` and 64 hex digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def made(prefix: str, *parts: Any) -> str:
    """Return ``prefix_digest``, the id of an object that is not an asset."""
    return f"{prefix}_{digest(prefix, *parts)}"


def made_around(prefix: str, before: tuple[Any, ...], known: str, after: tuple[Any, ...]) -> str:
    """Return what :func:`made` does for (*before, known, *after); ``known`` is canonical JSON.

    For those who need that JSON anyway, a hundred thousand times over.
    """
    data = f"[{_members((prefix, *before))},{known},{_members(after)}]"
    return f"{prefix}_{hashlib.sha256(data.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


@lru_cache(maxsize=64, typed=True)
def _members(parts: tuple[Any, ...]) -> str:
    """Return the canonical form of an array without its brackets; few differ in a long row."""
    return _ENCODER.encode(parts)[1:-1]


def record_ref(row: Mapping[str, Any]) -> str:
    """Return the reference of one version of a record, from a row with its id and version."""
    return f"record:{row['id']}@{row['version']}"
