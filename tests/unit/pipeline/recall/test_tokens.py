import sys
from pathlib import Path

import pytest
from support.asking import Asker
from support.stores import TinyStore

from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.recall.tokens import counter_of, estimate
from muniment.store.errors import MissingToolError, UsageError


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
    count = counter_of(tokenizer)
    pack = asker.recall("heron in the lake", token_budget=1_500, count=count)

    assert 0 < count(render(pack)) <= 1_500
    assert pack["coverage"] == "supported"


def test_a_file_that_cuts_texts_short_still_counts_them_whole(tokenizer: str) -> None:
    from tokenizers import Tokenizer

    cutting = Tokenizer.from_file(tokenizer)
    cutting.enable_truncation(3)
    cutting.enable_padding(length=8)
    cutting.save(tokenizer)

    assert counter_of(tokenizer)("a") == 1
    assert counter_of(tokenizer)("twelve chars") == 12


@pytest.mark.parametrize(
    ("vocabulary", "english", "chinese"),
    [("cl100k_base", 9, 17), ("o200k_base", 9, 12), ("o200k_harmony", 9, 12), ("qwen3.5", 9, 8)],
)
def test_a_packaged_vocabulary_counts_without_a_file(
    vocabulary: str, english: int, chinese: int
) -> None:
    count = counter_of(vocabulary)

    assert count("The quick brown fox jumps over the lazy dog") == english
    assert count("记忆要有出处，也要能被忘记。") == chinese
    assert count("") == 0
    # What looks like a mark of the model's is text here.
    assert count("<|endoftext|>") > 1


@pytest.mark.parametrize(
    ("module", "named"), [("toktok", "cl100k_base"), ("tokenizers", "tokenizer.json")]
)
def test_without_its_package_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, named: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingToolError) as caught:
        counter_of(named)

    assert caught.value.hint == "pip install 'muniment[tokenizer]'"


def test_a_vocabulary_that_nobody_knows_names_those_that_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        counter_of("gpt2_base")

    assert "o200k_base" in caught.value.hint


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")

    with pytest.raises(UsageError):
        counter_of(str(path))
