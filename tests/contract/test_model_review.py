"""The review of near records by a model, against a real service on loopback."""

import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.remembering import Talk

from muniment.adapters import registry
from muniment.adapters.models import openai_client
from muniment.adapters.models.settings import ModelSettings
from muniment.pipeline.memory.pairing import Review, near, proposals, review, settle


@pytest.fixture
def talk(tmp_path: Path, openai_port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    monkeypatch.setattr(openai_client, "_FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(openai_client, "RETRY_SECONDS", 2.0)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(f"http://127.0.0.1:{openai_port}/reset").close()
    made = Talk(tmp_path / "root")
    for text in ("The spare key hangs in the shed.", "The spare key is hanging in the shed!",
                 "Nothing like it at all, a heron."):  # fmt: skip
        made.claim(None, None, "2024-05-01", text=text)
    yield made
    made.store.close()


@pytest.fixture
def ask(talk: Talk, openai_port: int) -> Callable[..., Review]:
    def asked(model: str, **options: Any) -> Review:
        url = f"http://127.0.0.1:{openai_port}/v1"
        table = {"base_url": url, "model": model, "timeout": 5.0, **options}
        models = ModelSettings.from_config({"chat": table})
        return review(talk.ledger, lambda audit: registry.model("chat", models, audit))

    return asked


def states(talk: Talk) -> list[tuple[str, str, str]]:
    rows = talk.memory.records("1 ORDER BY r.version_seq")
    return [(row["id"], row["status"], row["text"]) for row in rows]


@pytest.mark.parametrize(
    ("model", "verdict"), [("reviews-same", "same"), ("reviews-odds", "contradiction")]
)
def test_what_a_model_finds_waits_and_changes_nothing(
    talk: Talk, ask: Callable[..., Review], model: str, verdict: str
) -> None:
    before = states(talk)

    done = ask(model)

    assert states(talk) == before
    assert [found[2] for found in done.proposed] == [verdict]
    (waiting,) = proposals(talk.ledger)
    assert (waiting["verdict"], waiting["actor"]) == (verdict, "model")
    (call,) = talk.ledger.audit.calls("chat")
    assert call["outcome"] == "ok"
    assert call["inputs"] == [before[0][0], before[1][0]]


def test_a_pair_is_asked_about_once_whatever_was_said(
    talk: Talk, ask: Callable[..., Review]
) -> None:
    assert ask("reviews-apart").asked == 1

    assert ask("reviews-same") == Review()
    assert not list(proposals(talk.ledger))
    assert not near(talk.ledger)
    assert len(talk.ledger.audit.calls("chat")) == 1


@pytest.mark.parametrize(
    ("model", "code"),
    [("not-json", "model_answer"), ("cut-short", "model_answer"), ("drops", "model_unavailable"),
     ("status-401", "model_refused"), ("busy-for-ever", "model_unavailable")],
)  # fmt: skip
def test_a_failure_leaves_everything_as_it_was_for_the_next_run(
    talk: Talk, ask: Callable[..., Review], model: str, code: str
) -> None:
    before = states(talk)

    done = ask(model)

    assert (done.failed, done.asked, done.proposed) == (code, 0, [])
    assert states(talk) == before
    assert len(near(talk.ledger)) == 1
    assert talk.ledger.audit.calls("chat")
    assert ask("reviews-same").asked == 1


@pytest.mark.parametrize(
    ("how", "status"), [("merge", "archived"), ("both", "active"), ("keep", "revoked")]
)
def test_the_user_settles_a_pair_and_no_value_is_overwritten(
    talk: Talk, ask: Callable[..., Review], how: str, status: str
) -> None:
    ask("reviews-same")
    (waiting,) = proposals(talk.ledger)
    before = states(talk)
    kept, other = waiting["sides"]

    with talk.ledger.unit():
        settle(talk.ledger, kept, other, how, "asked")

    after = states(talk)
    assert [one[2] for one in after] == [one[2] for one in before]
    assert [one[1] for one in after] == ["active", status, "active"]
    assert not list(proposals(talk.ledger))
    assert not near(talk.ledger)
    evidence = talk.claims().current(kept["id"])["evidence"]
    assert len(evidence) == (2 if how == "merge" else 1)
