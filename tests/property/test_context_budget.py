"""The context of a session keeps its budget whatever it is called (invariant 8)."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.asking import Asker
from support.stores import TinyStore

from muniment.pipeline.agent.appending import Taking
from muniment.pipeline.agent.events import read_event
from muniment.pipeline.agent.resuming import Resume
from muniment.pipeline.agent.turns import prepare
from muniment.pipeline.recall.tokens import Counter, counter_of, estimate
from muniment.pipeline.recalling import Reading
from muniment.pipeline.stages.index import open_live

ALPHABET = st.sampled_from("ab7 #[<`|-_会议龙ф🙂\n\u202e")
ids = st.text(ALPHABET, min_size=1, max_size=256)
texts = st.text(ALPHABET, min_size=1, max_size=400).filter(str.strip)
personas = st.one_of(st.just("You are Ada."), st.just("你是艾达，简短而友善。"), texts)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@contextmanager
def session_of(
    cache: Path, session: str, said: list[tuple[str, bool, str]], count: Counter = estimate
) -> Iterator[Reading]:
    with tempfile.TemporaryDirectory() as folder:
        store = TinyStore(Path(folder))
        fields = [
            {"event_id": str(n), "role": role, "text": text, "session": session,
             **({"category": "voice_fragment", "final": final} if role == "user" else {})}
            for n, (role, final, text) in enumerate(said)
        ]  # fmt: skip
        Taking(store.ledger).take([read_event(one, None) for one in fields])
        Asker(store, cache).refresh()
        index = open_live(store.paths.index)
        try:
            yield Reading(store.ledger, index, cache, None, [], count)
        finally:
            index.close()
            store.close()


@settings(max_examples=12)
@given(
    session=ids,
    persona=personas,
    said=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.booleans(), texts),
                  min_size=1, max_size=8),
    query=texts,
    budget=st.integers(512, 1200),
)  # fmt: skip
@example("会" * 256, "You are Ada.", [("assistant", True, "嗯")], "你好", 512)
@example("a" * 256, "你是艾达。" * 60, [("user", False, "龙" * 400)] * 6, "hello", 513)
@example("s", "You are Ada.", [("user", True, "会" * 400)], "会", 515)
def test_a_context_keeps_its_budget(
    cache: Path, session: str, persona: str, said: list[tuple[str, bool, str]], query: str,
    budget: int,
) -> None:  # fmt: skip
    who = {"text": persona, "at": None, "version": 1}
    with session_of(cache, session, said) as opened:
        check(*Resume(opened, who, session, None).document(budget // 2), budget // 2)
        for name in (session, "another"):
            document, text = prepare(opened, who, name, query, {"token_budget": budget})
            check(document, text, budget)
            check(document["pack"], "", document["pack"]["token_budget"])


@pytest.mark.parametrize("vocabulary", ["cl100k_base", "o200k_base"])
@settings(max_examples=3)
@given(session=ids, persona=personas, query=texts, budget=st.integers(512, 900))
@example("龘" * 256, "你是艾达。" * 10, "龘" * 40, 512)
def test_an_exact_count_keeps_the_budget_of_a_turn(
    cache: Path, vocabulary: str, session: str, persona: str, query: str, budget: int
) -> None:
    count = counter_of(vocabulary)
    who = {"text": persona, "at": None, "version": 1}
    said = [("assistant", True, "龘靐 会议 meeting " * 8)] * 6
    with session_of(cache, session, said, count) as opened:
        for name in (session, "another"):
            document, text = prepare(opened, who, name, query, {"token_budget": budget})
            check(document, text, budget)
            assert count(text) <= budget


def check(document: dict[str, Any], text: str, budget: int) -> None:
    assert document["tokens_used"] <= document["token_budget"] == budget
    assert estimate(text) <= budget
    assert len(text) <= 4 * budget
