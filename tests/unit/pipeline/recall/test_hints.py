"""What a question says besides its words: quotes, versions, times, media, in both languages."""

import pytest
from support.asking import Asker
from support.stores import Line, TinyStore


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ('Who wrote "red door" on the wall?', "Ann wrote red door on the wall"),
        ("谁在墙上写了“红色的门”？", "小安在墙上写了红色的门"),
    ],
)
def test_a_quoted_phrase_leads(store: TinyStore, asker: Asker, question: str, first: str) -> None:
    store.note("Who wrote on the wall by the door? The wall is red, wrote Bob, red red wall")
    store.note("Ann wrote red door on the wall")
    store.note("谁在墙上写了字？墙是红色的，门也写了，谁在门上写了红色？")
    store.note("小安在墙上写了红色的门")

    assert asker.texts(question)[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When did we install 1.2.1 on the server?", "installed 1.2.1 on the server in May"),
        ("服务器什么时候装的 1.2.10？", "服务器六月装了 1.2.10"),
    ],
)
def test_a_version_is_found_as_it_is_written(
    store: TinyStore, asker: Asker, question: str, first: str
) -> None:
    store.notes([
        "installed 1.2.10 on the server in June", "installed 1.2.1 on the server in May",
        "服务器六月装了 1.2.10", "服务器五月装了 1.2.1",
    ])  # fmt: skip

    assert asker.texts(question)[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did we have for lunch last week?", "lunch: soup"),
        ("What did we have for lunch on 8 May 2024?", "lunch: rice"),
        ("What did we have for lunch two years ago?", "lunch: rice"),
        ("上周午饭吃了什么", "午饭吃了汤"),
        ("2024年5月8日午饭吃了什么", "午饭吃了饭"),
    ],
)
def test_a_time_decides_between_equals(
    store: TinyStore, asker: Asker, question: str, first: str
) -> None:
    for text, time in (
        ("lunch: soup", "2026-03-04T12:00:00Z"), ("lunch: rice", "2024-05-08T12:00:00Z"),
        ("lunch: beans", "2025-07-01T12:00:00Z"), ("午饭吃了汤", "2026-03-04T12:00:00Z"),
        ("午饭吃了饭", "2024-05-08T12:00:00Z"), ("午饭吃了豆", "2025-07-01T12:00:00Z"),
    ):  # fmt: skip
        if text.isascii() == first.isascii():
            store.note(text, time=time)

    assert asker.texts(question)[0] == first


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("the recording of the harbour crane", "transcript"),
        ("the photo of the harbour crane", "ocr"),
        ("the video of the harbour crane", "caption"),
        ("港口吊车的录音", "transcript"),
        ("港口吊车的照片", "ocr"),
        ("港口吊车的视频", "caption"),
    ],
)
def test_a_word_for_a_medium_decides_between_equals(
    store: TinyStore, asker: Asker, question: str, kind: str
) -> None:
    text = "harbour crane 港口吊车"
    for name, media_type, family, own in (
        ("a.wav", "audio/wav", "audio", "transcript"), ("b.png", "image/png", "image", "ocr"),
        ("c.mp4", "video/mp4", "video", "caption"), ("d.txt", "text/plain", "text", "text"),
    ):  # fmt: skip
        store.file(name, [Line(text, kind=own)], media_type=media_type, family=family)

    assert asker.search(question)[0]["kind"] == kind
