import pytest

from muniment.adapters.models.whisper import choose_language


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        ({"en": 0.9, "zh": 0.05}, ("en", 0.9)),
        ({"ja": 0.5, "zh": 0.4, "en": 0.1}, ("zh", 0.4)),
        ({"de": 0.95, "en": 0.03}, ("de", 0.95)),
        ({"cy": 0.6, "en": 0.3, "zh": 0.1}, ("en", 0.3)),
    ],
)
def test_the_persons_languages_win_unless_another_is_all_but_certain(
    heard: dict[str, float], expected: tuple[str, float]
) -> None:
    assert choose_language(heard, ("en", "zh")) == expected


def test_languages_that_the_model_does_not_know_leave_the_choice_to_it() -> None:
    assert choose_language({"en": 0.6, "zh": 0.4}, ("xx",)) == ("en", 0.6)
