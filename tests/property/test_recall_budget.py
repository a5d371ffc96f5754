"""A budget is a ceiling and every claim is proven, in any language (invariants 2 and 8)."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asking import Asker
from support.stores import TinyStore

from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.recall.schema import MemoryPack
from muniment.pipeline.recall.tokens import counter_of, estimate

WORDS = (
    "harbour", "lantern", "Ferrari", "42", "the", "[c1]", "## records", "```", "港口", "灯笼",
    "小明", "фонарь", "γέφυρα", "كتاب", "🙂", "\u202e", "\n", "naïve",
)  # fmt: skip
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=120).map(" ".join)
queries = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(WORDS)).map(" ".join))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@settings(max_examples=40)
@given(notes=st.lists(texts, min_size=1, max_size=12), query=queries, budget=st.integers(256, 3000))
def test_a_pack_keeps_its_budget_and_its_closure(
    cache: Path, notes: list[str], query: str, budget: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = TinyStore(Path(folder))
        ids = [store.note(text) for text in notes]
        store.chat([(text[:10], text, "2026-02-01T10:00:00Z") for text in notes])
        if notes[0].strip():
            store.record(notes[0], ids[0], kind="preference")
        pack = Asker(store, cache).recall(query, token_budget=budget)

        check_budget(pack, budget)
        check_closure(pack, store)
        store.close()


@pytest.mark.parametrize("vocabulary", ["cl100k_base", "o200k_base"])
@settings(max_examples=10)
@given(notes=st.lists(texts, min_size=1, max_size=12), query=queries, budget=st.integers(256, 3000))
def test_an_exact_count_keeps_the_budget_in_english_and_chinese(
    cache: Path, vocabulary: str, notes: list[str], query: str, budget: int
) -> None:
    count = counter_of(vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        store = TinyStore(Path(folder))
        store.notes([*notes, "港口的灯笼在晚上亮着。" * 20, "The lantern at the harbour. " * 20])
        pack = Asker(store, cache).recall(query, count=count, token_budget=budget)
        text = render(pack)

        assert count(text) <= pack["tokens_used"] <= budget
        assert len(text) <= 4 * budget
        store.close()


def check_budget(pack: dict[str, Any], budget: int) -> None:
    text = render(pack)

    assert len(text) <= 4 * budget
    assert estimate(text) <= budget
    assert pack["tokens_used"] <= budget


def check_closure(pack: dict[str, Any], store: TinyStore) -> None:
    MemoryPack.model_validate(pack)
    citations = {one["id"]: one for one in pack["citations"]}
    used = set()
    for section in pack["sections"]:
        for item in section["items"]:
            assert section["name"] == "unknowns" or item["citations"]
            used |= set(item["citations"])
    assert used == set(citations)
    for citation in citations.values():
        row = store.ledger.evidence.get(citation["ref"].removeprefix("observation:"))
        assert row is not None
        assert citation["quote"] in row.text
        assert citation["asset"] == row.asset
    if pack["coverage"] == "none":
        assert not used


def test_a_long_chinese_query_fits_the_least_budget(tmp_path: Path, cache: Path) -> None:
    store = TinyStore(tmp_path / "root")
    store.notes(["港口的灯笼" * 100])

    pack = Asker(store, cache).recall("港口的灯笼" * 500, token_budget=256)

    check_budget(pack, 256)
    store.close()


def test_long_names_and_warnings_fit_the_least_budget(tmp_path: Path, cache: Path) -> None:
    store = TinyStore(tmp_path / "root")
    store.note("a lantern at the harbour", name="灯" * 80 + ".txt")

    check_budget(Asker(store, cache).recall("lantern harbour", token_budget=256), 256)
    store.close()
