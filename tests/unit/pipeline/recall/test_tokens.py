from pathlib import Path

import pytest
from support.asking import Asker
from support.stores import TinyStore

from muniment.pipeline.recall.answer import recall
from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.tokens import counter_of, estimate
from muniment.pipeline.stages.index import open_live
from muniment.store.errors import UsageError


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """Make a tokenizer of single characters, the costliest there is."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split

    made = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = Split(Regex("."), "isolated")
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    return str(path)


def test_ascii_is_four_characters_a_token() -> None:
    assert estimate("abcdefgh") == 2
    assert estimate("abcdefghi") == 3
    assert estimate("") == 0


def test_other_scripts_are_one_character_a_token() -> None:
    assert estimate("四个字符") == 4
    assert estimate("混合 text") == 2 + 2


def test_a_whole_never_takes_more_than_its_parts() -> None:
    parts = ["ab", "中文", "a 中", "\n"]

    assert estimate("".join(parts)) <= sum(map(estimate, parts))


def test_a_tokenizer_file_counts_exactly(tokenizer: str) -> None:
    assert counter_of(None) is estimate
    assert counter_of(tokenizer)("four tokens"[:4]) == 4


def test_a_pack_keeps_its_budget_by_an_exact_count(
    store: TinyStore, asker: Asker, tokenizer: str
) -> None:
    store.notes([f"The heron number {number} stands in the lake." for number in range(60)])
    asker.refresh()
    count = counter_of(tokenizer)
    index = open_live(store.paths.index)
    request = Request("heron in the lake", token_budget=1_500)
    pack = recall(
        store.ledger, index, request, clock=lambda: "2026-03-10T12:00:00.000000Z", count=count
    )
    index.close()

    assert 0 < count(render(pack)) <= 1_500
    assert pack["coverage"] == "supported"


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")

    with pytest.raises(UsageError):
        counter_of(str(path))
