"""An OpenAI-compatible server for tests: a process of its own, real sockets, scripted faults.

The model's name in a request picks the behaviour. ``GET /log`` returns what was received, ``GET
/reset`` forgets it. The first line of stdout is the port.
"""

import base64
import contextlib
import hashlib
import json
import math
import socket
import sys
import threading
import time
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOG: list[dict[str, Any]] = []
LOCK = threading.Lock()
ACTIVE: list[str] = []
DIMENSIONS = 64
GOOD = {"name": "王小明", "year": 2024}


class Handler(BaseHTTPRequestHandler):
    """Answer like a service would, or misbehave as the model's name says."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        if self.path == "/log":
            with LOCK:
                self.answer(LOG)
        elif self.path == "/reset":
            with LOCK:
                LOG.clear()
            self.answer({})
        else:
            self.answer({"error": "no such page"}, 404)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fields = self.fields(raw)
        model = str(fields.get("model"))
        with LOCK:
            before = sum(1 for entry in LOG if entry["fields"].get("model") == model)
            LOG.append(
                {
                    "path": self.path,
                    "fields": fields,
                    "authorization": self.headers.get("Authorization"),
                    "at_once": ACTIVE.count(model) + 1,
                }
            )
            ACTIVE.append(model)
        try:
            if not self.misbehave(model, before):
                self.serve(fields, model, before)
        finally:
            with LOCK:
                ACTIVE.remove(model)

    def fields(self, raw: bytes) -> dict[str, Any]:
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("application/json"):
            return dict(json.loads(raw))
        message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + raw)
        fields: dict[str, Any] = {}
        for part in message.get_payload():
            assert isinstance(part, Message)
            name = str(part.get_param("name", header="content-disposition"))
            data = part.get_payload(decode=True)
            assert isinstance(data, bytes)
            is_file = part.get_filename() is not None
            value = hashlib.sha256(data).hexdigest() if is_file else data.decode()
            fields.setdefault(name, []).append(value)
        return {name: value[0] if len(value) == 1 else value for name, value in fields.items()}

    def misbehave(self, model: str, before: int) -> bool:
        """Do what the model's name asks for; say whether the request is dealt with."""
        if model.startswith("status-"):
            self.answer({"error": "secret body"}, int(model.removeprefix("status-")))
            return True
        if model == "slow":
            time.sleep(0.15)
            return False
        if (model == "busy-twice" and before > 1) or (model == "broken-once" and before):
            return False
        faults: dict[str, Callable[[], None]] = {
            "busy-twice": lambda: self.answer({}, 429, {"Retry-After": "0"}),
            "busy-for-ever": lambda: self.answer({}, 429, {"Retry-After": "3600"}),
            "broken-once": lambda: self.answer({"error": "secret body"}, 500),
            "hangs": lambda: time.sleep(30),
            "drops": self.drop,
            "redirects": lambda: self.answer({}, 307, {"Location": "/v1/elsewhere"}),
            "trickles": self.trickle,
            "not-json": lambda: self.send(b"<html>secret body</html>", 200, {}),
        }
        if model not in faults:
            return False
        faults[model]()
        return True

    def drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        with contextlib.suppress(OSError):  # the client gives up
            for _ in range(300):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)

    def serve(self, fields: dict[str, Any], model: str, before: int) -> None:
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, "cost": 0.25}
        reply: dict[str, Any] = {"object": "list", "model": model + "-0711", "usage": usage}
        if self.path == "/v1/embeddings":
            self.answer(reply | {"data": vectors(fields["input"], model)})
        elif self.path == "/v1/chat/completions":
            text = said(fields, model, before)
            message = {"role": "assistant", "content": text}
            reason = "length" if model == "cut-short" else "stop"
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self.answer(reply | {"choices": [choice]})
        elif self.path == "/v1/audio/transcriptions":
            self.answer(heard(model))
        else:
            self.answer({"error": "no such page"}, 404)

    def answer(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send(json.dumps(body).encode(), status, headers or {})

    def send(self, data: bytes, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def vectors(texts: list[str], model: str) -> list[dict[str, Any]]:
    """Return a vector a text from hashes of its letter pairs, in an order that must be undone."""
    rows = [{"index": index, "embedding": embedding(text)} for index, text in enumerate(texts)]
    if model == "one-too-few":
        rows.pop()
    if model == "without-length":
        rows[0]["embedding"] = [0.0] * DIMENSIONS
    return rows[::-1]


def embedding(text: str) -> list[float]:
    values = [0.0] * DIMENSIONS
    for first, second in zip(f" {text}", f"{text} ", strict=True):
        digest = hashlib.sha256((first + second).encode("utf-8", "surrogatepass")).digest()
        values[digest[0] % DIMENSIONS] += 1.0 + digest[1] / 256
    return [value * math.pi for value in values]


def said(fields: dict[str, Any], model: str, before: int) -> str:
    """Return what the model says; a picture is answered with the size that was seen."""
    asked = fields["messages"][1]["content"]
    if isinstance(asked, list):
        encoded = asked[-1]["image_url"]["url"].removeprefix("data:image/jpeg;base64,")
        size = len(base64.b64decode(encoded))
        seen = {"text": f"A picture of {size} bytes.", "labels": ["picture"], "confidence": 0.75}
        return "Just a picture." if model == "plain-words" else json.dumps(seen)
    if model.startswith("reviews"):
        return reviewed(asked, model)
    if model.startswith("propos"):
        return proposed(asked, model, before)
    good = json.dumps(GOOD, ensure_ascii=False)
    scripts = {
        "fenced": f"Here it is:\n```json\n{good}\n```",
        "never-valid": '{"name": "secret answer"}',
        "valid-second": good if before else '{"name": 7}',
    }
    return scripts.get(model, good)


def reviewed(asked: str, model: str) -> str:
    """Return what a reviewer says of pairs: by the words that only one side has."""
    verdict = {"reviews-same": "same", "reviews-odds": "contradiction"}.get(model, "apart")
    pairs = [
        {"id": one["id"], "verdict": verdict, "reason": "scripted"} for one in json.loads(asked)
    ]
    return json.dumps({"pairs": [*pairs[:1], {"id": "q99", "verdict": "same"}]})


def proposed(asked: str, model: str, before: int) -> str:
    """Return what a proposer finds: one claim for each passage that says where someone lives."""
    if model == "proposes-at-the-second-run" and before < 2:
        return "{"
    found = []
    for passage in json.loads(asked):
        quote = next((part for part in passage["text"].split(".") if "live in" in part), "").strip()
        if quote:
            claim = {
                "passage": passage["id"], "quote": quote, "text": quote, "type": "semantic",
                "kind": "fact", "subject": "user", "key": "Home", "value": quote.split()[-1],
                "inferred": False, "confidence": 0.9,
            }  # fmt: skip
            strange = {"proposes-forged": "quote", "proposes-of-others": "passage"}.get(model)
            found.append(claim | ({strange: "p99 never given"} if strange else {}))
    if model == "proposes-names":
        return json.dumps({"candidates": [], **named(asked)})
    return json.dumps({"candidates": found})


def named(asked: str) -> dict[str, Any]:
    """Name a place that the first passage names, one that it does not, and relate them."""
    where = {"passage": json.loads(asked)[0]["id"]}
    return {
        "entities": [
            {**where, "name": "Bergen", "kind": "place"},
            {**where, "name": "Berg", "kind": "place"},
            {"passage": "p99", "name": "Bergen", "kind": "place"},
        ],
        "relations": [
            {**where, "quote": "We live in Bergen", "subject": "user", "relation": "lives_in",
             "object": "Bergen", "confidence": 0.9},
            {**where, "quote": "We own Bergen", "subject": "user", "relation": "owns",
             "object": "Bergen", "confidence": 0.9},
        ],
    }  # fmt: skip


def heard(model: str) -> dict[str, Any]:
    """Return a transcription of two sentences, or of one without segments."""
    if model == "text-only":
        return {"text": "Good morning."}
    first = {"start": 0.0, "end": 1.2, "text": " Good morning.", "avg_logprob": -0.25}
    second = {"start": 1.2, "end": 99.0, "text": " Ha " + "la la " * 40, "avg_logprob": -2.0}
    return {
        "language": "english",
        "text": "Good morning.",
        "segments": [first, second],
        "words": [
            {"word": "Good", "start": 0.1, "end": 0.4},
            {"word": "morning.", "start": 0.5, "end": 1.0},
        ],
    }


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
