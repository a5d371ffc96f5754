"""A small S3 server for tests: versions, delete markers, multipart, and faults on demand.

It keeps everything in memory and checks no signature; rclone's server does that. Faults are
functions that are asked before each request and may answer it themselves.
"""

import hashlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.sax.saxutils import escape

KEY, SECRET = "testkey", "testsecret"
Fault = Callable[["Handler"], bool]


@dataclass
class Version:
    """One version of an object; ``data`` null is a delete marker."""

    id: str
    data: bytes | None
    tag: str
    at: float = field(default_factory=time.time)


@dataclass
class Buckets:
    """Everything that the server holds, and how it misbehaves."""

    versioned: bool = True
    conditional: bool = True
    faults: list[Fault] = field(default_factory=list)
    objects: dict[str, dict[str, list[Version]]] = field(default_factory=lambda: {"bucket": {}})
    uploads: dict[str, tuple[str, str, dict[int, bytes]]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def current(self, bucket: str, key: str) -> Version | None:
        """Return the version that a plain GET gives."""
        versions = self.objects[bucket].get(key, [])
        return versions[-1] if versions and versions[-1].data is not None else None

    def add(self, bucket: str, key: str, data: bytes | None, tag: str = "") -> Version:
        """Add a version, or put it in the place of the last one."""
        version = Version(f"v{next(self.numbers)}" if self.versioned else "null", data, tag)
        held = self.objects[bucket].setdefault(key, [])
        held[:] = [*held, version] if self.versioned else [version]
        return version


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    held: ClassVar[Buckets]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _run(self) -> None:
        split = urlsplit(self.path)
        self.query = dict(parse_qsl(split.query, keep_blank_values=True))
        _, self.bucket, *rest = unquote(split.path).split("/", 2)
        self.key = rest[0] if rest else ""
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.held.requests.append(f"{self.command} {self.path}")
        if any(fault(self) for fault in list(self.held.faults)):
            return
        with self.held.lock:
            self._answer()

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _run

    def _answer(self) -> None:
        if KEY not in self.headers.get("authorization", ""):
            self.say(403, self.error("InvalidAccessKeyId"))
        elif self.bucket not in self.held.objects:
            self.say(404, self.error("NoSuchBucket"))
        elif self.key:
            getattr(self, f"_object_{self.command.lower()}")()
        else:
            self._of_bucket()

    def _of_bucket(self) -> None:
        if self.command == "POST":  # delete=
            keys = self.body.decode().split("<Key>")[1:]
            for key in keys:
                self.held.add(self.bucket, key.partition("</Key>")[0], None)
            self.say(200, b"<DeleteResult/>")
        elif "versioning" in self.query:
            status = "<Status>Enabled</Status>" if self.held.versioned else ""
            self.say(200, f"<VersioningConfiguration>{status}</VersioningConfiguration>".encode())
        elif "versions" in self.query:
            self.say(200, self._versions())
        elif "uploads" in self.query:
            self.say(200, self._uploads())
        else:
            self.say(200, self._listing())

    def _listing(self) -> bytes:
        prefix, found = self.query.get("prefix", ""), []
        for key in sorted(self.held.objects[self.bucket]):
            version = self.held.current(self.bucket, key)
            if version is not None and key.startswith(prefix):
                found.append(
                    f"<Contents><Key>{escape(key)}</Key><Size>{len(version.data or b'')}</Size>"
                    f"<LastModified>{self.moment(version, '%Y-%m-%dT%H:%M:%S.000Z')}"
                    f'</LastModified><ETag>"{version.tag}"</ETag></Contents>'
                )
        inner = "".join(found)
        return (
            f"<ListBucketResult><Name>{self.bucket}</Name><KeyCount>{len(found)}</KeyCount>"
            f"<IsTruncated>false</IsTruncated>{inner}</ListBucketResult>"
        ).encode()

    def _versions(self) -> bytes:
        prefix, entries = self.query.get("prefix", ""), []
        for key, versions in self.held.objects[self.bucket].items():
            if key.startswith(prefix) and self.held.versioned:
                for one in versions:
                    kind = "Version" if one.data is not None else "DeleteMarker"
                    entries.append(
                        f"<{kind}><Key>{escape(key)}</Key><VersionId>{one.id}</VersionId></{kind}>"
                    )
        inner = "<IsTruncated>false</IsTruncated>" + "".join(entries)
        return f"<ListVersionsResult>{inner}</ListVersionsResult>".encode()

    def _uploads(self) -> bytes:
        inner = "".join(
            f"<Upload><Key>{escape(key)}</Key><UploadId>{identity}</UploadId></Upload>"
            for identity, (bucket, key, _) in self.held.uploads.items()
            if bucket == self.bucket and key.startswith(self.query.get("prefix", ""))
        )
        return f"<ListMultipartUploadsResult>{inner}</ListMultipartUploadsResult>".encode()

    def _object_put(self) -> None:
        if "partNumber" in self.query:
            self.held.uploads[self.query["uploadId"]][2][int(self.query["partNumber"])] = self.body
            self.say(200, b"", etag=hashlib.md5(self.body).hexdigest())
            return
        taken = self.held.current(self.bucket, self.key) is not None
        if self.headers.get("if-none-match") == "*" and taken and self.held.conditional:
            self.say(412, self.error("PreconditionFailed"))
            return
        tag = hashlib.md5(self.body).hexdigest()
        self.held.add(self.bucket, self.key, self.body, tag)
        self.say(200, b"", etag=tag)

    def _object_post(self) -> None:
        if "uploads" in self.query:
            identity = f"u{next(self.held.numbers)}"
            self.held.uploads[identity] = (self.bucket, self.key, {})
            inner = f"<Bucket>b</Bucket><Key>k</Key><UploadId>{identity}</UploadId>"
            body = f"<InitiateMultipartUploadResult>{inner}</InitiateMultipartUploadResult>"
            self.say(200, body.encode())
            return
        _, _, parts = self.held.uploads.pop(self.query["uploadId"])
        pieces = [parts[number] for number in sorted(parts)]
        whole = hashlib.md5(b"".join(hashlib.md5(piece).digest() for piece in pieces))
        tag = f"{whole.hexdigest()}-{len(pieces)}"
        self.held.add(self.bucket, self.key, b"".join(pieces), tag)
        inner = f'<Location>l</Location><Bucket>b</Bucket><Key>k</Key><ETag>"{tag}"</ETag>'
        body = f"<CompleteMultipartUploadResult>{inner}</CompleteMultipartUploadResult>"
        self.say(200, body.encode())

    def _object_delete(self) -> None:
        if "uploadId" in self.query:
            self.held.uploads.pop(self.query["uploadId"], None)
        elif "versionId" in self.query:
            held = self.held.objects[self.bucket].get(self.key, [])
            held[:] = [one for one in held if one.id != self.query["versionId"]]
        elif self.held.versioned:
            self.held.add(self.bucket, self.key, None)
        else:
            self.held.objects[self.bucket].pop(self.key, None)
        self.say(204, b"")

    def _object_get(self) -> None:
        version = self.held.current(self.bucket, self.key)
        if version is None:
            self.say(404, self.error("NoSuchKey"))
            return
        data, status, more = version.data or b"", 200, {}
        asked = self.headers.get("range", "")
        if asked.startswith("bytes="):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) + 1 if last else len(data), len(data))
            more = {"content-range": f"bytes {start}-{end - 1}/{len(data)}"}
            data, status = data[start:end], 206
        moment = self.moment(version, "%a, %d %b %Y %H:%M:%S GMT")
        self.say(status, data, etag=version.tag, **{"last-modified": moment}, **more)

    _object_head = _object_get

    @staticmethod
    def moment(version: Version, form: str) -> str:
        """Write the time of a version."""
        return time.strftime(form, time.gmtime(version.at))

    @staticmethod
    def error(code: str) -> bytes:
        """Return the body of an error."""
        return f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()

    def say(self, status: int, body: bytes, *, etag: str = "", **headers: str) -> None:
        """Send an answer; a HEAD gets no body."""
        self.send_response(status)
        if etag:
            self.send_header("etag", f'"{etag}"')
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def double(**how: bool) -> Iterator[tuple[str, Buckets]]:
    """Run a server; yield its address and what it holds."""
    held = Buckets(**how)  # type: ignore[arg-type]
    handler = type("Own", (Handler,), {"held": held})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", held
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
