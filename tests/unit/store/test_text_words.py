import pytest

from muniment.store.text.segment import BulkCutter
from muniment.store.text.words import Analysis, analyse, grams_of


@pytest.mark.parametrize(
    ("text", "words", "names"),
    [
        ("She was running.", ["she", "was", "run"], []),
        ("agentic-os", ["agent", "os"], ["agentic-os"]),
        ("(POL-358),", ["pol", "358"], ["pol-358"]),
        ("v2026.4.10.", ["v2026", "4", "10"], ["v2026.4.10"]),
        ("I don't like Ann's", ["i", "don't", "like", "ann"], []),
        ("rock'n'roll l'été", ["rock'n", "roll", "l", "ete"], ["rock'n'roll", "l'ete"]),
        ("C++, C#: .NET", ["c", "c", "net"], ["c++", "c#", ".net"]),
        ("snake_case foo:bar", ["snake", "case", "foo", "bar"], ["snake_case", "foo:bar"]),
        ("a - b ... **", ["a", "b"], ["-", "...", "**"]),
        ('"quoted" (text) {a} col:', ["quot", "text", "a", "col"], []),
        ("5€ 👍🏽ok", ["5", "ok"], ["€", "👍", "🏽"]),
        ("Привет, мир", ["привет", "мир"], []),
    ],
)
def test_words_and_names_of_a_text(text: str, words: list[str], names: list[str]) -> None:
    assert analyse(text) == Analysis(words, names, [], [])


def test_unspaced_scripts_give_pairs_and_the_last_character() -> None:
    assert grams_of("王小明") == ["王小", "小明", "明"]
    assert analyse("东京タワー").grams == ["东京", "京タ", "タワ", "ワー", "ー"]
    assert analyse("กทม").grams == ["กท", "ทม", "ม"]


def test_hangul_gives_words_and_pairs() -> None:
    tokens = analyse("서울에서 만나")
    assert tokens.words == ["서울에서", "만나"]
    assert tokens.grams == ["서울", "울에", "에서", "서", "만나", "나"]


def test_han_text_is_cut_when_there_is_a_cutter() -> None:
    assert analyse("在北京大学,C++").cuts == []
    assert analyse("在北京大学,C++", BulkCutter()).cuts == ["在", "北京", "大学", "北京大学"]


def test_scripts_in_one_text_don_t_mix() -> None:
    tokens = analyse("iPhone15发布T恤")
    assert tokens == Analysis(["iphone15", "t"], [], ["发布", "布", "恤"], [])


def test_long_runs_are_cut_into_pieces() -> None:
    assert [len(word) for word in analyse("x" * 150).words] == [64, 64, 22]
    assert [len(name) for name in analyse("-" * 150).names] == [64, 64, 22]
