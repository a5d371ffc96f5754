"""Which assets a check reads whole: all of them, a share, one part of several, or so many bytes."""

import re
import secrets
from collections.abc import Callable
from functools import cache

from muniment.store.errors import UsageError

_PART = re.compile(r"(\d{1,6})/(\d{1,6})")
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)%")
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,4})?)([kmgt])(?:i?b)?", re.IGNORECASE)
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_PRECISION = 1_000_000
_DIGITS = slice(len("sha256:"), len("sha256:") + 12)


def sampler(sample: str | None, total: Callable[[], int]) -> Callable[[str], bool]:
    """Return what tells whether an asset is in the sample; null takes every asset.

    ``n/t`` is the n-th of t parts, the same at each run, so that t runs read everything; ``x%``
    and a size (``500M``) are a new choice each time, the size being reached on average. ``total``
    gives the bytes that there are; it is asked once, for a size alone. Raises ``UsageError`` for
    anything else.
    """
    if sample is None:
        return lambda _: True
    if part := _PART.fullmatch(sample):
        chosen, parts = int(part[1]), int(part[2])
        if 1 <= chosen <= parts:
            return lambda asset: int(asset[_DIGITS], 16) % parts == chosen - 1
    if share := _SHARE.fullmatch(sample):
        threshold = round(float(share[1]) / 100 * _PRECISION)
        if threshold <= _PRECISION:
            return lambda _: _drawn(threshold)
    if size := _SIZE.fullmatch(sample):
        return _by_size(float(size[1]) * _UNITS[size[2].lower()], total)
    raise UsageError(
        f"{sample!r} is not a sample", code="bad_sample",
        hint="use a part as 2/7, a share as 5%, or a size as 500M",
    )  # fmt: skip


def _by_size(wanted: float, total: Callable[[], int]) -> Callable[[str], bool]:
    @cache
    def threshold() -> int:
        return round(min(1.0, wanted / max(1, total())) * _PRECISION)

    return lambda _: _drawn(threshold())


def _drawn(threshold: int) -> bool:
    return secrets.randbelow(_PRECISION) < threshold
