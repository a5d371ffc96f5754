"""Which assets a check reads whole: all of them, a share, or one part of several."""

import re
import secrets
from collections.abc import Callable

from muniment.store.errors import UsageError

_PART = re.compile(r"(\d{1,6})/(\d{1,6})")
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)%")
_PRECISION = 1_000_000
_DIGITS = slice(len("sha256:"), len("sha256:") + 12)


def sampler(sample: str | None) -> Callable[[str], bool]:
    """Return what tells whether an asset is in the sample; null takes every asset.

    ``n/t`` is the n-th of t parts, the same at each run, so that t runs read everything;
    ``x%`` is a new choice each time. Raises ``UsageError`` for anything else.
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
            return lambda _: secrets.randbelow(_PRECISION) < threshold
    raise UsageError(
        f"{sample!r} is not a sample", code="bad_sample", hint="use a part as 2/7, or a share as 5%"
    )
