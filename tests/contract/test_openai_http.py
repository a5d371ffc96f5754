import base64
import json
import os
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from muniment.adapters import registry
from muniment.adapters.models import openai_client
from muniment.adapters.models.references import referring
from muniment.adapters.models.settings import ModelSettings, RoleSettings
from muniment.adapters.ports import ModelCall
from muniment.store.errors import InputError, MissingToolError, MunimentError, StateError

KEY = "sk-not-to-be-seen"


class Person(BaseModel):
    name: str
    year: int


class Service:
    """The running server, with a door to what it received and the audit rows of the calls."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.audit: list[ModelCall] = []
        self._made: list[Any] = []
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def model(self, role: str, name: str, **options: Any) -> Any:
        table = {
            "base_url": f"{self.url}/v1",
            "model": name,
            "api_key_env": "MUNIMENT_TEST_KEY",
            "timeout": 5.0,
            **options,
        }
        made = registry.model(role, ModelSettings.from_config({role: table}), self.audit.append)
        self._made.append(made)
        return made

    def close(self) -> None:
        for made in self._made:
            made.close()

    def log(self) -> list[dict[str, Any]]:
        with self._opener.open(f"{self.url}/log") as reply:
            return list(json.load(reply))

    def reset(self) -> None:
        self._opener.open(f"{self.url}/reset").close()

    def outcomes(self) -> list[str]:
        return [call.outcome for call in self.audit]


@pytest.fixture
def service(openai_port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("MUNIMENT_TEST_KEY", KEY)
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr(openai_client, "_FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(openai_client, "RETRY_SECONDS", 4.0)
    served = Service(openai_port)
    served.reset()
    yield served
    served.close()


def ask(service: Service, name: str, **options: Any) -> Person:
    chat = service.model("chat", name, **options)
    answer: Person = chat.complete("Say who.", "Who was it?", Person)
    return answer


def test_an_answer_is_validated_against_the_schema_that_was_sent(service: Service) -> None:
    person = ask(service, "good")

    (received,) = service.log()
    sent = received["fields"]["response_format"]["json_schema"]
    assert person == Person(name="王小明", year=2024)
    assert sent["name"] == "Person"
    assert sent["schema"]["required"] == ["name", "year"]
    assert sent["schema"]["additionalProperties"] is False


def test_json_in_a_code_fence_is_taken(service: Service) -> None:
    assert ask(service, "fenced").year == 2024


def test_an_invalid_answer_is_repaired_once(service: Service) -> None:
    assert ask(service, "valid-second").year == 2024

    messages = service.log()[1]["fields"]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]


def test_an_answer_that_stays_invalid_is_an_error_without_its_words(service: Service) -> None:
    with pytest.raises(InputError) as caught:
        ask(service, "never-valid")

    assert caught.value.code == "model_answer"
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert len(service.log()) == 2


def test_an_answer_cut_short_is_not_taken_for_a_whole_one(service: Service) -> None:
    with pytest.raises(InputError, match="cut short"):
        ask(service, "cut-short")


def test_extra_body_is_sent_exactly_and_wins_over_our_own_fields(service: Service) -> None:
    extra = {"provider": {"data_collection": "deny", "order": ["a", "b"]}, "temperature": 0.5}

    ask(service, "good", extra_body=extra)

    fields = service.log()[0]["fields"]
    assert {name: fields[name] for name in extra} == extra


def test_extra_body_is_not_relaxed_when_the_service_refuses_it(service: Service) -> None:
    extra = {"provider": {"data_collection": "deny"}}

    with pytest.raises(InputError):
        ask(service, "status-400", extra_body=extra)

    assert [entry["fields"]["provider"] for entry in service.log()] == [extra["provider"]]


def test_a_busy_service_is_asked_again_after_the_time_that_it_names(service: Service) -> None:
    assert ask(service, "busy-twice").year == 2024

    assert service.outcomes() == ["http_429", "http_429", "ok"]


def test_a_server_fault_is_tried_again(service: Service) -> None:
    assert ask(service, "broken-once").year == 2024

    assert service.outcomes() == ["http_500", "ok"]


def test_waiting_ends_with_the_budget(service: Service) -> None:
    with pytest.raises(InputError) as caught:
        ask(service, "busy-for-ever")

    assert caught.value.transient
    assert service.outcomes() == ["http_429"]


@pytest.mark.parametrize(
    ("name", "outcome", "options"),
    [
        ("hangs", "timeout", {"timeout": 0.3}),
        ("trickles", "timeout", {"timeout": 0.5}),
        ("drops", "connection", {}),
        ("status-503", "http_503", {}),
    ],
)
def test_a_service_that_is_down_gives_a_transient_error(
    service: Service, name: str, outcome: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        ask(service, name, **options)

    assert (caught.value.code, caught.value.transient) == ("model_unavailable", True)
    assert set(service.outcomes()) == {outcome}
    assert 1 < len(service.outcomes()) <= openai_client.MAX_ATTEMPTS


def test_a_closed_port_gives_a_transient_error(service: Service) -> None:
    with pytest.raises(InputError) as caught:
        ask(service, "good", base_url="http://127.0.0.1:9/v1")

    assert caught.value.transient


@pytest.mark.parametrize("name", ["not-json", "redirects", "status-400"])
def test_an_answer_that_makes_no_sense_is_not_asked_for_again(service: Service, name: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(service, name)

    assert not caught.value.transient
    assert len(service.log()) == 1


@pytest.mark.parametrize("name", ["status-401", "status-403", "status-404"])
def test_a_refusal_points_at_the_configuration(service: Service, name: str) -> None:
    with pytest.raises(MissingToolError) as caught:
        ask(service, name)

    assert caught.value.code == "model_refused"
    assert "[models.chat]" in caught.value.hint


@pytest.mark.parametrize("name", ["status-401", "status-500", "not-json", "never-valid"])
def test_errors_and_audit_rows_show_neither_keys_nor_bodies(service: Service, name: str) -> None:
    with pytest.raises(MunimentError) as caught:
        ask(service, name)

    shown = f"{caught.value!r} {caught.value.hint} {service.audit!r}"
    assert KEY not in shown
    assert "secret" not in shown
    assert "Who was it?" not in shown


def test_the_key_travels_in_the_header_alone(service: Service) -> None:
    ask(service, "good")

    (received,) = service.log()
    assert received["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(received["fields"])


def test_a_key_that_is_not_set_is_named_by_its_variable(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUNIMENT_TEST_KEY")

    with pytest.raises(MissingToolError, match="MUNIMENT_TEST_KEY"):
        ask(service, "good")


def test_every_call_leaves_an_audit_row(service: Service) -> None:
    with referring("obs_1", "obs_2"):
        ask(service, "good")

    (call,) = service.audit
    assert call.milliseconds >= 0
    assert replace(call, milliseconds=0) == ModelCall(
        role="chat",
        adapter="openai",
        model_asked="good",
        model_answered="good-0711",
        inputs=("obs_1", "obs_2"),
        tokens_in=7,
        tokens_out=5,
        cost=0.25,
        milliseconds=0,
        outcome="ok",
    )


def test_a_picture_is_described(service: Service) -> None:
    jpeg = b"\xff\xd8 not really a picture"

    seen = service.model("describe", "good").describe(jpeg)

    url = service.log()[0]["fields"]["messages"][1]["content"][0]["image_url"]["url"]
    assert seen.text == f"A picture of {len(jpeg)} bytes."
    assert (seen.labels, seen.confidence) == (("picture",), 0.75)
    assert base64.b64decode(url.partition(",")[2]) == jpeg
    assert service.audit[0].inputs[0].startswith("sha256:")


def test_a_description_in_plain_words_has_no_confidence(service: Service) -> None:
    seen = service.model("describe", "plain-words").describe(b"jpeg")

    assert (seen.text, seen.confidence) == ("Just a picture.", 0.0)


def test_vectors_come_in_the_order_of_the_texts_with_unit_length(service: Service) -> None:
    embedder = service.model("embed", "good")
    texts = [f"text {number}" for number in range(130)] + ["", "\ud800"]

    rows = embedder.passages(texts)

    assert rows.shape == (132, 64)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.allclose(rows[70], embedder.query("text 70"), atol=1e-6)
    assert [len(entry["fields"]["input"]) for entry in service.log()] == [64, 64, 4, 1]


def test_prefixes_of_the_model_are_put_before_the_texts(service: Service) -> None:
    params = {"query_prefix": "query: ", "passage_prefix": "passage: "}
    embedder = service.model("embed", "good", params=params)

    embedder.query("a")
    embedder.passages(["b"])

    assert [entry["fields"]["input"] for entry in service.log()] == [["query: a"], ["passage: b"]]


def test_the_length_of_vectors_is_asked_for_once(service: Service) -> None:
    embedder = service.model("embed", "good")

    assert (embedder.dimensions, embedder.dimensions) == (64, 64)
    assert embedder.passages([]).shape == (0, 64)
    assert len(service.log()) == 1


@pytest.mark.parametrize("name", ["one-too-few", "without-length"])
def test_vectors_that_do_not_fit_are_refused(service: Service, name: str) -> None:
    with pytest.raises(InputError) as caught:
        service.model("embed", name).passages(["a", "b"])

    assert caught.value.code == "model_answer"


def test_speech_is_transcribed_with_times_and_doubts(service: Service) -> None:
    samples = np.zeros(32_000, np.float32)

    heard = service.model("transcribe", "good", extra_body={"route": {"zdr": True}}).transcribe(
        samples, "en"
    )

    first, second = heard.segments
    fields = service.log()[0]["fields"]
    assert (first.text, first.start_ms, first.end_ms) == ("Good morning.", 0, 1200)
    assert [word.text for word in first.words] == ["Good", "morning."]
    assert first.confidence == pytest.approx(0.7788, abs=1e-3)
    assert (second.end_ms, second.suspicious) == (2000, "repetition")
    assert heard.language == "en"
    assert json.loads(fields["route"]) == {"zdr": True}
    assert fields["timestamp_granularities[]"] == ["segment", "word"]


def test_a_transcript_without_segments_spans_everything_with_confidence_unknown(
    service: Service,
) -> None:
    heard = service.model("transcribe", "text-only").transcribe(np.zeros(16_000, np.float32))

    (only,) = heard.segments
    assert (only.text, only.start_ms, only.end_ms, only.confidence) == ("Good morning.", 0, 1000, 0)


def test_offline_refuses_before_anything_is_sent(service: Service) -> None:
    chosen = RoleSettings(adapter="openai", base_url=f"{service.url}/v1", model="good")

    with pytest.raises(StateError) as caught:
        registry.model("chat", ModelSettings(roles={"chat": chosen}, offline=True))

    assert caught.value.code == "offline"
    assert service.log() == []


def test_proxies_of_the_environment_are_used_only_when_configured(service: Service) -> None:
    assert os.environ["HTTP_PROXY"]
    assert ask(service, "good").year == 2024

    with pytest.raises(InputError):
        ask(service, "good", trust_env=True)


def test_no_more_calls_run_at_once_than_configured(service: Service) -> None:
    embedder = service.model("embed", "slow", max_concurrency=2, params={"dimensions": 64})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(embedder.query, "abcdef"))

    assert max(entry["at_once"] for entry in service.log()) == 2
