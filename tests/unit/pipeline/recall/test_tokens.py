from muniment.pipeline.recall.tokens import estimate


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
