"""Answer one byte range of what is in memory, as players ask for it when they seek."""

import re

from starlette.responses import Response

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def ranged(
    data: bytes, media_type: str, headers: dict[str, str], range_header: str | None
) -> Response:
    """Return all of it, the one range that is asked for, or 416 for one outside."""
    shown = {**headers, "accept-ranges": "bytes"}
    if range_header is None or not data:
        return Response(data, media_type=media_type, headers=shown)
    span = _span(range_header, len(data))
    if span is None:
        return Response(status_code=416, headers={**shown, "content-range": f"bytes */{len(data)}"})
    start, end = span
    shown["content-range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return Response(data[start:end], status_code=206, media_type=media_type, headers=shown)


def _span(header: str, size: int) -> tuple[int, int] | None:
    """Return the half-open span of a range; null for one that lies outside or is none.

    >>> _span("bytes=0-9", 100), _span("bytes=-10", 100), _span("bytes=200-", 100)
    ((0, 10), (90, 100), None)
    """
    found = _RANGE.fullmatch(header.strip())
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(int(last) + 1 if last else size, size)
    return (start, end) if start < end else None
