"""The client of object stores, ``obstore``: how it is loaded, and its errors in our words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from muniment.store.errors import MissingToolError, MunimentError, RemoteError

_STATUS = re.compile(r"status code: (\d{3})")
_REFUSED = {"401", "403"}


def library_of_stores() -> Any:
    """Import the library; raise ``MissingToolError`` when it is not installed."""
    try:
        import obstore
    except ImportError:
        raise MissingToolError(
            "the library for object stores is not installed", code="missing_library",
            hint="install muniment[s3]",
        ) from None  # fmt: skip
    return obstore


def status_of(said: str) -> str:
    """Return the HTTP status in what the client said; empty where there is none."""
    found = _STATUS.search(said)
    return found[1] if found else ""


@contextmanager
def faults(bucket: str) -> Iterator[None]:
    """Turn the client's errors into ours, without what a server or a proxy said at length."""
    library = library_of_stores()
    try:
        yield
    except (MunimentError, FileNotFoundError, FileExistsError):
        raise
    except library.exceptions.BaseError as error:
        raise fault(bucket, str(error)) from error
    except OSError as error:
        raise fault(bucket, "connection lost") from error


def fault(bucket: str, said: str) -> RemoteError:
    """Return the error for what a client or server said."""
    url = f"s3://{bucket}"
    status = status_of(said)
    if "NoSuchBucket" in said:
        return RemoteError(f"{url} does not exist", code="bucket_missing", hint="make it first")
    if status in _REFUSED:
        return RemoteError(
            f"{url} refuses these credentials ({status})", code="store_denied",
            hint="check the AWS_... variables and the rights that they give",
        )  # fmt: skip
    why = f"status {status}" if status else _short(said)
    return RemoteError(
        f"{url} can't be used now: {why}",
        hint="nothing is lost: run the same command again when it can be reached",
    )


def _short(said: str) -> str:
    """Say in a few words what a client's error means."""
    low = said.lower()
    if "timed out" in low or "readtimeout" in low or "connecttimeout" in low:
        return "it does not answer in time"
    if "error sending request" in low or "connect" in low:
        return "no connection"
    return "the answer was cut short or makes no sense"
