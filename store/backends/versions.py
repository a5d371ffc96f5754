"""Versions, delete markers and unfinished uploads: what ``obstore`` has no words for.

A hard forget has to remove them, so these few requests are signed here (AWS Signature Version 4)
and sent by httpx, which is a dependency anyway; a second whole client would be the alternative.
"""

import hashlib
import hmac
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from muniment.store.backends.bucket import Bucket
from muniment.store.backends.client import fault
from muniment.store.errors import RemoteError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_TRIES = 4
_SECONDS = 30.0
_WITHOUT = {400, 404, 405, 501}  # what servers say that don't know versions or uploads
_EMPTY = hashlib.sha256(b"").hexdigest()


class Version(NamedTuple):
    """One version of an object; a marker is one that says that it was deleted."""

    key: str
    id: str
    marker: bool


class Versions:
    """The versions below one prefix of a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def state(self) -> str:
        """Return ``enabled``, ``suspended``, ``off``, or ``unknown`` where nobody says."""
        found = self._ask("GET", "", {"versioning": ""})
        if found is None:
            return "unknown"
        return (_text(found, "Status") or "off").lower()

    def all(self, name: str) -> Iterator[Version]:
        """Yield every version and marker of the object with exactly this name."""
        query = {"versions": "", "prefix": self._bucket.key(name)}
        while (page := self._ask("GET", "", query)) is not None:
            for entry in page:
                kind, key = _tag(entry), _text(entry, "Key")
                if kind in {"Version", "DeleteMarker"} and key == query["prefix"]:
                    yield Version(key, _text(entry, "VersionId") or "null", kind == "DeleteMarker")
            if _text(page, "IsTruncated") != "true":
                return
            query |= {"key-marker": _text(page, "NextKeyMarker"),
                      "version-id-marker": _text(page, "NextVersionIdMarker")}  # fmt: skip

    def remove(self, version: Version) -> None:
        """Remove one version for good."""
        self._ask("DELETE", version.key, {"versionId": version.id})

    def uploads(self, name: str = "") -> Iterator[tuple[str, str]]:
        """Yield (key, id) of the uploads below a name that were begun and not finished."""
        query = {"uploads": "", "prefix": self._bucket.key(name)}
        while (page := self._ask("GET", "", query)) is not None:
            for entry in page:
                if _tag(entry) == "Upload" and _text(entry, "Key").startswith(query["prefix"]):
                    yield _text(entry, "Key"), _text(entry, "UploadId")
            if _text(page, "IsTruncated") != "true":
                return
            query |= {"key-marker": _text(page, "NextKeyMarker"),
                      "upload-id-marker": _text(page, "NextUploadIdMarker")}  # fmt: skip

    def abort(self, key: str, upload: str) -> None:
        """Drop the parts of an unfinished upload."""
        self._ask("DELETE", key, {"uploadId": upload})

    def _ask(self, method: str, key: str, query: dict[str, str]) -> "Element | None":
        """Send a signed request; null when the server knows no such thing."""
        from defusedxml.ElementTree import ParseError, fromstring

        answer = self._send(method, key, query)
        if answer.status_code in _WITHOUT and "NoSuchBucket" not in answer.text:
            return None
        if not answer.is_success:
            raise fault(
                self._bucket.location.bucket, f"status code: {answer.status_code} {answer.text}"
            )
        try:
            found: Element | None = fromstring(answer.content) if answer.content.strip() else None
        except ParseError:
            raise fault(self._bucket.location.bucket, "it makes no sense") from None
        return found

    def _send(self, method: str, key: str, query: dict[str, str]) -> Any:
        import httpx

        for attempt in range(_TRIES):
            url, headers = self._signed(method, key, query)
            try:
                answer = httpx.request(method, url, headers=headers, timeout=_SECONDS)
            except httpx.HTTPError as error:
                if attempt == _TRIES - 1:
                    raise fault(self._bucket.location.bucket, type(error).__name__) from error
            else:
                busy = answer.status_code in {500, 502, 503, 504, 429}
                if not busy or attempt == _TRIES - 1:
                    return answer
            time.sleep(0.2 * 2**attempt)
        raise RemoteError("no answer")  # the last try has returned or raised

    def _signed(self, method: str, key: str, query: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Return the address and headers of a request without a body."""
        own, bucket = self._bucket.access, self._bucket.location.bucket
        base = (own.endpoint or f"https://s3.{own.region}.amazonaws.com").rstrip("/")
        host = base.partition("://")[2].partition("/")[0]
        path = base.partition("://")[2][len(host) :] + "/" + quote(f"{bucket}/{key}".rstrip("/"))
        pairs = ((quote(name, safe=""), quote(query[name], safe="")) for name in sorted(query))
        asked = "&".join(f"{name}={value}" for name, value in pairs)
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        headers = {"host": host, "x-amz-content-sha256": _EMPTY, "x-amz-date": moment}
        headers |= {"x-amz-security-token": own.token} if own.token else {}
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = "\n".join((method, path, asked, lines, names, _EMPTY))
        granted = f"{moment[:8]}/{own.region}/s3/aws4_request"
        told = hashlib.sha256(canonical.encode()).hexdigest()
        key_bytes = f"AWS4{own.secret}".encode()
        for step in granted.split("/"):
            key_bytes = hmac.new(key_bytes, step.encode(), hashlib.sha256).digest()
        signature = hmac.new(
            key_bytes, f"AWS4-HMAC-SHA256\n{moment}\n{granted}\n{told}".encode(), hashlib.sha256
        ).hexdigest()
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={own.key}/{granted}, SignedHeaders={names}, "
            f"Signature={signature}"
        )
        return f"{base.partition('://')[0]}://{host}{path}?{asked}", headers


def _tag(entry: "Element") -> str:
    return str(entry.tag).rpartition("}")[2]


def _text(entry: "Element", name: str) -> str:
    return next((one.text or "" for one in entry if _tag(one) == name), "")
