import pytest

from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.tools import LocalTools


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The meeting is on Tuesday.", "en"),
        ("ok", "en"),
        ("会议在星期二", "zh"),
        ("好", "zh"),
        ("我们用 Kubernetes 部署新的服务", "zh"),
        ("Please read 《红楼梦》 before the seminar on Chinese literature", "en"),
        ("ＨＥＬＬＯ　ＷＯＲＬＤ", "en"),
    ],
)
def test_english_and_chinese_are_told_apart_by_their_script(text: str, language: str) -> None:
    named, confidence = LocalTools().language_identifier().identify(text)

    assert named == language
    assert 0.5 < confidence <= 1.0


@pytest.mark.parametrize("text", ["", "   ", "12:30", "😀👍", "Привет, мир", "สวัสดี"])
def test_what_is_in_none_of_the_languages_is_undetermined(text: str) -> None:
    assert LocalTools().language_identifier().identify(text) == ("und", 0.0)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The weather is lovely today and we went for a walk.", "en"),
        ("Das Wetter ist heute schön und wir gingen spazieren.", "de"),
        ("Il fait beau aujourd'hui et nous sommes allés nous promener.", "fr"),
        ("今日は天気がいいので散歩に行きました。", "ja"),
        ("今天天气很好，我们去散步了。", "zh"),
        ("오늘은 날씨가 좋아서 산책을 갔어요.", "ko"),
    ],
)
def test_languages_that_share_a_script_are_told_apart_by_the_model(
    text: str, language: str
) -> None:
    tools = LocalTools(ModelSettings(languages=("en", "de", "fr", "ja", "zh", "ko")))

    assert tools.language_identifier().identify(text)[0] == language
