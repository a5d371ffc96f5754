from dataclasses import replace

import pytest
from support.asking import Asker
from support.stores import TinyStore

from muniment.pipeline.recall.answerability import VECTORS, WORDS, Signs, answers

FULL = Signs(share=1.0, first=1.0, score=2.0, strange=0.0)
NOTHING = Signs(share=0.0, first=0.0, score=0.0, strange=0.0)
PLACES = ("harbour", "market", "station", "museum", "garden", "library", "bakery", "bridge")


@pytest.mark.parametrize("language", WORDS)
def test_what_holds_a_whole_question_answers_and_nothing_does_not(language: str) -> None:
    assert answers(FULL, language, None)
    assert not answers(NOTHING, language, None)


@pytest.mark.parametrize("model", [*WORDS.values(), *VECTORS.values()])
@pytest.mark.parametrize("sign", ["share", "first", "score"])
def test_every_sign_of_an_answer_raises_its_odds(model: object, sign: str) -> None:
    assert model.odds(replace(NOTHING, **{sign: 1.0})) > model.odds(NOTHING)  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", VECTORS)
def test_a_cosine_counts_for_a_model_that_was_measured(key: tuple[str, str]) -> None:
    model, language = key
    far, near = (replace(NOTHING, share=0.3, first=0.3, cosine=one) for one in (0.7, 0.95))

    assert answers(near, language, model)
    assert not answers(far, language, model)
    assert not answers(near, language, "another model")


def test_a_language_without_weights_takes_the_english_ones() -> None:
    assert answers(FULL, "fr", None) == answers(FULL, "en", None)


@pytest.fixture
def town(store: TinyStore) -> TinyStore:
    """A store of many texts: rarity means something in it."""
    store.notes(f"Day {day}: walked from the {PLACES[day % 8]} to the {PLACES[day % 7]}"
                for day in range(320))  # fmt: skip
    store.note("Nadia left the green umbrella in the museum café on Friday")
    store.note("娜佳周五把绿色的雨伞忘在了博物馆的咖啡厅")
    return store


@pytest.mark.parametrize(
    "question", ["Where did Nadia leave the green umbrella?", "娜佳把绿色的雨伞忘在哪里了？"]
)
def test_a_store_of_many_texts_answers_what_it_holds(
    town: TinyStore, asker: Asker, question: str
) -> None:
    assert asker.recall(question)["coverage"] == "supported"


@pytest.mark.parametrize(
    "question",
    [
        "Where did Oskar park the yellow tractor?",
        "Which museum sold the stolen painting to the minister?",
        "奥斯卡把黄色的拖拉机停在哪里了？",
    ],
)
def test_a_store_of_many_texts_refuses_what_it_does_not_hold(
    town: TinyStore, asker: Asker, question: str
) -> None:
    assert asker.recall(question)["coverage"] == "none"


def test_the_configured_threshold_lets_anything_answer(town: TinyStore, asker: Asker) -> None:
    question = "Which museum sold the stolen painting to the minister?"

    assert asker.recall(question, coverage_threshold=0.0)["coverage"] != "none"
