import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from muniment.adapters.models import openai_client, openai_http
from muniment.adapters.models.openai_client import OpenAiClient, Request
from muniment.adapters.models.settings import RoleSettings, Setup
from muniment.adapters.ports import ModelCall
from muniment.store.errors import InputError, MissingToolError, UsageError

REQUEST = Request("embeddings", ("obs_1",), body={"input": ["a"]})


class Reply(BaseModel):
    value: int


def client(
    answer: Callable[[httpx.Request], httpx.Response],
    waits: list[float] | None = None,
    audit: list[ModelCall] | None = None,
    **options: Any,
) -> OpenAiClient:
    chosen = RoleSettings(**{"base_url": "http://models.example/v1", **options})
    setup = Setup("embed", "m", {}, chosen, audit=None if audit is None else audit.append)
    sleep = (waits if waits is not None else []).append
    return OpenAiClient(setup, httpx.MockTransport(answer), sleep)


def replies(*answers: httpx.Response) -> Callable[[httpx.Request], httpx.Response]:
    left = list(answers)
    return lambda _: left.pop(0)


def test_the_path_is_put_below_the_base_url() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"value": 1})

    assert client(answer, base_url="http://models.example/v1/").call(REQUEST, Reply).value == 1
    assert str(seen[0].url) == "http://models.example/v1/embeddings"
    assert "authorization" not in seen[0].headers


def test_waits_double_until_the_attempts_are_used_up() -> None:
    waits: list[float] = []

    with pytest.raises(InputError):
        client(lambda _: httpx.Response(503), waits).call(REQUEST, Reply)

    assert waits == [0.5, 1.0, 2.0]


def test_the_time_that_a_service_names_is_waited() -> None:
    waits: list[float] = []
    busy = httpx.Response(429, headers={"Retry-After": "7"})

    client(replies(busy, httpx.Response(200, json={"value": 1})), waits).call(REQUEST, Reply)

    assert waits == [7.0]


def test_a_reply_beyond_every_reason_is_not_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openai_client, "_MAX_REPLY_BYTES", 1000)
    audit: list[ModelCall] = []

    with pytest.raises(InputError, match="too_large"):
        client(lambda _: httpx.Response(200, content=b" " * 2000), audit=audit).call(REQUEST, Reply)

    assert [call.outcome for call in audit] == ["too_large"]


def test_a_reply_whose_compression_is_broken_is_an_invalid_answer() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        stream = httpx.ByteStream(b"not gzip")
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=stream)

    with pytest.raises(InputError, match="invalid_answer"):
        client(answer).call(REQUEST, Reply)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("3", 3.0),
        ("soon", None),
        ("-1", None),
        ("Mon, 01 Jan 2001 00:00:00", 0.0),
    ],
)
def test_retry_after_in_seconds_or_nonsense(header: str | None, seconds: float | None) -> None:
    assert openai_client._retry_after(header) == seconds


def test_retry_after_as_a_date_is_counted_from_now() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)

    assert openai_client._retry_after(later) == pytest.approx(90, abs=3)


@pytest.mark.parametrize("key", ["", "   ", "sk\x00x", "sk-é"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    if "\x00" in key:
        monkeypatch.setattr(os, "environ", {"KEY": key})
    else:
        monkeypatch.setenv("KEY", key)

    with pytest.raises(MissingToolError, match="KEY") as caught:
        client(lambda _: httpx.Response(200), api_key_env="KEY")

    assert not key.strip() or key not in str(caught.value)


def test_a_service_needs_an_address_and_a_model() -> None:
    with pytest.raises(UsageError, match=r"models\.embed needs base_url and model"):
        client(lambda _: httpx.Response(200), base_url="")


def test_a_schema_is_made_strict_all_the_way_down() -> None:
    class Inner(BaseModel):
        default: int = 3

    class Outer(BaseModel):
        name: str = "x"
        inner: list[Inner] = []

    strict = openai_http._strict(Outer.model_json_schema())

    inner = strict["$defs"]["Inner"]
    assert strict["required"] == ["name", "inner"]
    assert inner["required"] == ["default"]
    assert inner["additionalProperties"] is False
    assert "default" not in strict["properties"]["name"]


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"a": 1}', '{"a": 1}'), ('Sure:\n```json\n{"a": {}}\n```', '{"a": {}}'), ("no", "no")],
)
def test_json_is_found_inside_words(text: str, found: str) -> None:
    assert openai_http._json_in(text) == found
