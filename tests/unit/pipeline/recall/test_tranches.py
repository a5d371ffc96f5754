"""The best hits are packed first; the others are looked at only where those leave room."""

from typing import Any

import pytest
from support.asking import NOW, Asker, items
from support.stores import Line, TinyStore

from muniment.pipeline.recall import tranches
from muniment.pipeline.recall.answer import answered
from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.resolve import Resolver
from muniment.pipeline.stages.index import open_live

WORDS = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "juniper")
QUESTIONS = (
    "Which orchard gave pears?", "orchard of amber and basil", "pears", "the parrot of the plumber",
    "Which orchard gave pears, and who keeps bees?", "果园的梨子有多少",
)  # fmt: skip


@pytest.fixture
def orchards(store: TinyStore, asker: Asker) -> Asker:
    pairs = [(one, other) for one in WORDS for other in WORDS]
    store.notes([f"The orchard of {a} and {b} gave {n} pears" for n, (a, b) in enumerate(pairs)])
    store.notes([f"果园{number}号今年的梨子比去年多" for number in range(30)])
    store.chat([("Ann", f"Bees came to orchard {one}", f"2026-02-01T10:0{n}:00Z")
                for n, one in enumerate(WORDS)])  # fmt: skip
    return asker


def without_omitted(pack: dict[str, Any]) -> dict[str, Any]:
    """Leave out how many did not fit: what is not looked at counts among them unseen."""
    return {name: value for name, value in pack.items() if name != "omitted"}


@pytest.mark.parametrize("budget", [256, 1_000, 2_000, 6_000])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_pack_is_the_same_as_of_all_candidates_at_once(
    orchards: Asker, question: str, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lazy = orchards.recall(question, token_budget=budget)
    monkeypatch.setattr(tranches, "_TOKENS_AN_ITEM", 1)

    assert without_omitted(lazy) == without_omitted(orchards.recall(question, token_budget=budget))


@pytest.mark.parametrize("words", [1, 12, 17])
def test_a_short_hit_is_packed_after_long_ones_that_do_not_fit(
    store: TinyStore, asker: Asker, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.notes([f"pears of the orchard, {f'{one} ' * words}" for one in WORDS[:5]])
    store.notes([f"orchard {one}" for one in WORDS[5:]])
    lazy = asker.recall("pears of the orchard", token_budget=256)
    monkeypatch.setattr(tranches, "_LEAST_AT_ONCE", 1_000)

    assert without_omitted(lazy) == without_omitted(
        asker.recall("pears of the orchard", token_budget=256)
    )


def resolved(asker: Asker, question: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many observation hits are looked at."""
    counts: list[int] = []
    real = Resolver.observations

    def counting(self: Resolver, hits: Any) -> Any:
        counts.append(len(hits))
        return real(self, hits)

    monkeypatch.setattr(Resolver, "observations", counting)
    asker.recall(question)
    return sum(counts)


def test_no_more_is_looked_at_than_fills_the_budget(
    orchards: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = orchards.recall("Which orchard gave pears?")
    packed = len(items(pack, "observations"))

    assert pack["tokens_used"] > 1_800
    assert packed <= resolved(orchards, "Which orchard gave pears?", monkeypatch) <= packed * 1.25


def test_of_hits_that_say_nothing_of_the_question_more_are_looked_at(
    orchards: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tranches, "_TOKENS_AN_ITEM", 400)

    assert resolved(orchards, "Which orchard gave pears?", monkeypatch) >= 2_000 // 75


def test_a_question_of_several_parts_has_all_its_candidates_looked_at(
    orchards: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "Which orchard gave pears, and who keeps bees?"

    assert resolved(orchards, question, monkeypatch) == 2_000 // 40


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_markdown_beside_a_pack_is_the_pack_rendered(orchards: Asker, question: str) -> None:
    orchards.refresh()
    index = open_live(orchards.store.paths.index)
    try:
        pack, markdown = answered(
            orchards.store.ledger, index, Request(question),
            clock=lambda: NOW, cache=orchards.cache,
        )  # fmt: skip
    finally:
        index.close()

    assert markdown == render(pack)


def test_what_did_not_fit_and_what_was_not_looked_at_is_counted(orchards: Asker) -> None:
    pack = orchards.recall("Which orchard gave pears?")

    assert pack["omitted"]["budget"] >= 2_000 // 40 - len(items(pack, "observations"))


def test_where_most_hits_say_the_same_those_further_down_are_looked_at(
    store: TinyStore, asker: Asker
) -> None:
    for copy in range(120):
        store.file(f"copy-{copy}.txt", [Line("Pears of the orchard were sold at the market gate")])
    store.notes([f"In year {number} the orchard gave pears to the {word} school of the town"
                 for number, word in enumerate(WORDS)])  # fmt: skip

    texts = {item["text"] for item in items(asker.recall("pears of the orchard"), "observations")}

    assert len(texts) == 1 + len(WORDS)
