"""One guarded door to OpenAI-compatible services: deadlines, retries, validation, audit rows.

Nothing that a service or a key holds reaches an error message or an audit row.
"""

import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from muniment.adapters.ports import ModelCall
from muniment.store.errors import InputError, MissingToolError, UsageError
from muniment.store.records import Lenient

if TYPE_CHECKING:
    import httpx

    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

Reply = TypeVar("Reply", bound=BaseModel)

MAX_ATTEMPTS = 4
RETRY_SECONDS = 60.0
_FIRST_WAIT_SECONDS = 0.5
_CONNECT_SECONDS = 10.0
_MAX_REPLY_BYTES = 64 * 1024 * 1024
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403, 404, 405})


class Usage(Lenient):
    """What a call cost, where the service tells."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


class Answered(Lenient):
    """What every reply may say of itself."""

    model: str | None = None
    usage: Usage | None = Field(default=None)


@dataclass(frozen=True, slots=True)
class Request:
    """One call: a JSON body, or form fields with files."""

    path: str
    inputs: tuple[str, ...]
    body: Mapping[str, Any] | None = None
    form: Mapping[str, Any] | None = None
    files: Mapping[str, tuple[str, bytes, str]] | None = None


class _FailedError(Exception):
    """An attempt that failed: a word for the audit row, and whether and when to try again."""

    def __init__(self, outcome: str, *, again: bool, wait: float | None = None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.again = again
        self.wait = wait


class OpenAiClient:
    """Call one service for one role; safe to share between threads."""

    def __init__(
        self,
        setup: "Setup",
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        import httpx

        options = setup.options
        if not options.base_url or not setup.model:
            raise UsageError(f"models.{setup.role} needs base_url and model")
        self.role = setup.role
        self.model = setup.model
        self._adapter = options.adapter
        self._extra = options.extra_body
        self._timeout = float(options.timeout)
        self._audit = setup.audit
        self._sleep = sleep
        self._host = urlsplit(options.base_url).hostname
        self._slots = threading.BoundedSemaphore(options.max_concurrency)
        self._http = httpx.Client(
            base_url=options.base_url.rstrip("/") + "/",
            headers=_authorization(setup.role, options.api_key_env),
            timeout=httpx.Timeout(self._timeout, connect=min(_CONNECT_SECONDS, self._timeout)),
            transport=transport,
            trust_env=options.trust_env,
            follow_redirects=False,
        )
        # Whoever drops the model need not know that it holds connections.
        weakref.finalize(self, self._http.close)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def call(self, request: Request, reply: type[Reply]) -> Reply:
        """Send until it is answered or hopeless; ``InputError`` then, or ``MissingToolError``
        when the service refuses us.

        ``extra_body`` wins over the request's own fields and is never dropped.
        """
        give_up = time.monotonic() + RETRY_SECONDS
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return self._attempt(request, reply)
            except _FailedError as failure:
                wait = failure.wait
                if wait is None:
                    wait = _FIRST_WAIT_SECONDS * 2 ** (attempt - 1)
                late = time.monotonic() + wait > give_up
                if not failure.again or late or attempt == MAX_ATTEMPTS:
                    raise self._error(failure.outcome, again=failure.again) from None
                self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, request: Request, reply: type[Reply]) -> Reply:
        """Send once and leave one audit row, however it ends."""
        with self._slots:
            started = time.monotonic()
            answered, outcome = Answered(), "ok"
            try:
                data = self._exchange(request, started + self._timeout)
                answered = _validated(data, Answered)
                return _validated(data, reply)
            except _FailedError as failure:
                outcome = failure.outcome
                raise
            finally:
                self._record(request, answered, outcome, time.monotonic() - started)

    def _exchange(self, request: Request, deadline: float) -> bytes:
        import httpx

        try:
            with self._http.stream("POST", request.path, **self._content(request)) as response:
                if response.status_code != httpx.codes.OK:
                    raise _FailedError(
                        f"http_{response.status_code}",
                        again=response.status_code in _TRY_AGAIN,
                        wait=_retry_after(response.headers.get("retry-after")),
                    )
                return _read(response, deadline)
        except httpx.TimeoutException:
            raise _FailedError("timeout", again=True) from None
        except httpx.TransportError:
            raise _FailedError("connection", again=True) from None
        except httpx.DecodingError:
            raise _FailedError("invalid_answer", again=False) from None

    def _content(self, request: Request) -> dict[str, Any]:
        if request.form is None:
            # Lone surrogates of broken texts can't be sent; ASCII escapes of them can.
            body = json.dumps({**(request.body or {}), **self._extra}).encode("ascii")
            return {"content": body, "headers": {"Content-Type": "application/json"}}
        fields = {**request.form, **self._extra}
        return {
            "data": {name: _form_value(value) for name, value in fields.items()},
            "files": dict(request.files or {}),
        }

    def _record(self, request: Request, answered: Answered, outcome: str, seconds: float) -> None:
        if self._audit is None:
            return
        usage = answered.usage or Usage()
        self._audit(
            ModelCall(
                role=self.role,
                adapter=self._adapter,
                model_asked=self.model,
                model_answered=answered.model,
                inputs=request.inputs,
                tokens_in=usage.prompt_tokens,
                tokens_out=usage.completion_tokens,
                cost=usage.cost,
                milliseconds=round(seconds * 1000),
                outcome=outcome,
            )
        )

    def _error(self, outcome: str, *, again: bool) -> InputError | MissingToolError:
        message = f"the {self.role} service at {self._host} failed: {outcome}"
        if outcome.removeprefix("http_") in {str(status) for status in _REFUSED}:
            return MissingToolError(
                message,
                code="model_refused",
                hint=f"check base_url, model and api_key_env in [models.{self.role}]",
            )
        code = "model_unavailable" if again else "model_answer"
        return InputError(message, code=code, transient=again)


def _authorization(role: str, variable: str) -> dict[str, str]:
    if not variable:
        return {}
    key = os.environ.get(variable, "").strip()
    if not key:
        raise MissingToolError(
            f"the environment variable {variable} is empty or not set",
            hint=f"it is named by models.{role}.api_key_env",
        )
    if not key.isascii() or not key.isprintable():
        raise MissingToolError(f"the key in {variable} has characters that no header can carry")
    return {"Authorization": f"Bearer {key}"}


def _read(response: "httpx.Response", deadline: float) -> bytes:
    """Read the body; a service that trickles is cut off at the deadline as a whole."""
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if time.monotonic() > deadline:
            raise _FailedError("timeout", again=True)
        if len(data) > _MAX_REPLY_BYTES:
            raise _FailedError("too_large", again=False)
    return bytes(data)


def _validated(data: bytes, shape: type[Reply]) -> Reply:
    try:
        return shape.model_validate_json(data)
    except ValidationError:
        # Its message would quote the reply.
        raise _FailedError("invalid_answer", again=False) from None


def _retry_after(header: str | None) -> float | None:
    """Return seconds to wait, from seconds or an HTTP date; null when it says nothing usable."""
    if not header:
        return None
    if header.strip().isdigit():
        return float(header)
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _form_value(value: Any) -> Any:
    if isinstance(value, bool | Mapping):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return [_form_value(item) for item in value]
    return str(value)


class RemoteModel:
    """What the adapters of every role share: who they are, their parameters, their service."""

    def __init__(
        self, producer: "Producer", setup: "Setup", transport: "httpx.BaseTransport | None" = None
    ) -> None:
        self.producer = producer
        self._params = dict(setup.params)
        self._client = OpenAiClient(setup, transport)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()
