import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from muniment.adapters.formats.chats import ChatReader
from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.sniff import sniff
from muniment.adapters.ports import Draft, Finding, Limits, Source, Tools
from muniment.store.records import MessageLocator


@dataclass
class FakeTools:
    limits: Limits = field(default_factory=Limits)


def read(text: str | bytes, name: str = "chat.txt") -> list[Finding]:
    data = text.encode() if isinstance(text, str) else text
    kind = sniff(data, data, len(data), name)
    assert kind.family == "chat"
    source = Source("sha256:0", len(data), kind.media_type, kind.family, name, Path(), data=data)
    return list(ChatReader().read(source, cast("Tools", FakeTools())))


def messages(text: str | bytes, name: str = "chat.txt") -> list[Draft]:
    return [finding for finding in read(text, name) if isinstance(finding, Draft)]


def said(text: str | bytes, name: str = "chat.txt") -> list[tuple[str | None, str, str | None]]:
    """Return (author, text, local time) of what people wrote."""
    return [
        (draft.author, draft.text, draft.occurred.local if draft.occurred else None)
        for draft in messages(text, name)
        if draft.role != "system"
    ]


# --- WhatsApp ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "local"),
    [
        ("15/01/2024, 10:30 - Ann: hi", "2024-01-15T10:30"),
        ("١٥/١/٢٠٢٤، ١٠:٣٠ م - Ann: hi", "2024-01-15T22:30"),
        ("١٥\u200f/١\u200f/٢٠٢٤، ١٠:٣٠ ص - Ann: hi", "2024-01-15T10:30"),
        ("15.1.2024 klo 22.30 - Ann: hi", "2024-01-15T22:30"),
        ("2024-01-15 kl. 22:30 - Ann: hi", "2024-01-15T22:30"),
        ("15.01.24 г., 22:30 ч. - Ann: hi", "2024-01-15T22:30"),
        ("15/01/24, 10:30 CH - Ann: hi", "2024-01-15T22:30"),
        ("15/1/24, 10:30 μ.μ. - Ann: hi", "2024-01-15T22:30"),
        ("2024. 01. 15. 22:30 - Ann: hi", "2024-01-15T22:30"),
        ("2024. 1. 15. 오후 10:30, Ann : hi", "2024-01-15T22:30"),
        ("2024년 1월 15일 오전 10:30, Ann : hi", "2024-01-15T10:30"),
        ("1/15/24, 10:30 PM - Ann: hi", "2024-01-15T22:30"),
        ("1/15/24, 12:05\u202fAM - Ann: hi", "2024-01-15T00:05"),
        ("15.01.24, 10:30 - Ann: hi", "2024-01-15T10:30"),
        ("15-01-2024 10:30 - Ann: hi", "2024-01-15T10:30"),
        ("15/01/24 10.30 - Ann: hi", "2024-01-15T10:30"),
        ("2024/1/15 下午3:41 - Ann: hi", "2024-01-15T15:41"),
        ("2024. 1. 15. 오후 3:41 - Ann: hi", "2024-01-15T15:41"),
        ("01/15/2024, 08:49 p. m. - Ann: hi", "2024-01-15T20:49"),
        ("01/15/2024, 00:08 a. m. - Ann: hi", "2024-01-15T00:08"),
        ("[1/15/24, 9:12:33 AM] Ann: hi", "2024-01-15T09:12:33"),
        ("[2024/1/15 下午3:41:20] Ann: hi", "2024-01-15T15:41:20"),
        ("\u200e[15.01.24, 21:12:33] Ann: hi", "2024-01-15T21:12:33"),
        ("[15/01/2024 à 09:12:33] Ann: hi", "2024-01-15T09:12:33"),
    ],
)
def test_whatsapp_dates_of_any_locale(line: str, local: str) -> None:
    assert said(line) == [("Ann", "hi", local)]


def test_the_order_of_day_and_month_is_taken_from_the_whole_file() -> None:
    later = "03/04/24, 10:00 - Ann: a\n05/13/24, 10:00 - Bo: b\n"

    assert [time for _, _, time in said(later)] == ["2024-03-04T10:00", "2024-05-13T10:00"]


def test_an_order_that_goes_back_in_time_loses() -> None:
    text = "01/02/24, 10:00 - Ann: a\n02/01/24, 10:00 - Bo: b\n03/01/24, 10:00 - Ann: c\n"

    assert [time for _, _, time in said(text)] == [
        "2024-01-02T10:00",
        "2024-02-01T10:00",
        "2024-03-01T10:00",
    ]


def test_an_order_that_nothing_decides_is_flagged() -> None:
    (draft,) = messages("03/04/24, 10:00 - Ann: a\n")

    assert draft.occurred is not None
    assert draft.occurred.local == "2024-04-03T10:00"
    assert draft.attributes["date_order"] == "ambiguous"


def test_a_message_goes_on_over_lines_and_stands_in_the_file_as_it_is() -> None:
    text = "15/01/2024, 10:30 - Ann: one\r\n\r\ntwo: three\r\n15/01/2024, 10:31 - Bo: x\r\n"
    first, _ = messages(text)

    assert first.text == "one\r\n\r\ntwo: three"
    assert text[first.attributes["start"] : first.attributes["end"]] == first.text


def test_what_the_program_wrote_has_the_role_system() -> None:
    text = (
        '20/06/20, 00:08 - +12 345 created group "Us: all"\n'
        "20/06/20, 00:09 - You were added\n"
        "20/06/20, 00:10 - Ann: hello\n20/06/20, 00:11 - Bo: hello\n"
        "20/06/20, 00:12 - Ann: \u200eMissed voice call\n"
    )

    assert [draft.role for draft in messages(text)] == ["system", "system", None, None, "system"]


def test_attachments_and_omitted_media_are_named() -> None:
    text = (
        "15/01/2024, 10:30 - Ann: IMG-20240115-WA0004.jpg (file attached)\nsunset\n"
        "15/01/2024, 10:31 - Bo: <Media omitted>\n"
        "[15/01/2024, 10:32:01] Ann: \u200e<attached: 0001-PHOTO.jpg>\n"
        "[15/01/2024, 10:33:01] Ann: \u200eimage omitted\n"
    )
    found = [
        {k: v for k, v in draft.attributes.items() if k in {"attachment", "omitted"}}
        for draft in messages(text)
    ]

    assert found == [
        {"attachment": "IMG-20240115-WA0004.jpg"},
        {"omitted": "media"},
        {"attachment": "0001-PHOTO.jpg"},
        {"omitted": "image"},
    ]


def test_an_impossible_date_leaves_the_message_without_a_time() -> None:
    text = "31/12/2023, 10:00 - Ann: a\n31/02/2024, 10:00 - Bo: b\n"

    assert [time for _, _, time in said(text)] == ["2023-12-31T10:00", None]


# --- other logs --------------------------------------------------------------------------------


def test_stamped_logs_in_english_and_chinese() -> None:
    text = (
        "2023-01-01 10:00 Ann: hi\nthere\n"
        "[2023/01/01 10:01:05] 小明：你好\n2023年1月2日 9:00 Ann: 好\n"
    )

    assert said(text) == [
        ("Ann", "hi\nthere", "2023-01-01T10:00"),
        ("小明", "你好", "2023-01-01T10:01:05"),
        ("Ann", "好", "2023-01-02T09:00"),
    ]


def test_messages_copied_out_of_wechat() -> None:
    text = (
        "女朋友 2023/09/16 2:51 PM\n天气有点凉\n\n"
        "男朋友 2023/09/16 下午3:06\n今天只干成了一件像样的事\n那就是想你\n\n"
        "女朋友 2023/09/16 3:06 PM\n[动画表情]\n"
    )

    assert said(text) == [
        ("女朋友", "天气有点凉", "2023-09-16T14:51"),
        ("男朋友", "今天只干成了一件像样的事\n那就是想你", "2023-09-16T15:06"),
        ("女朋友", "[动画表情]", "2023-09-16T15:06"),
    ]


def test_plain_dialogue_has_authors_and_no_times() -> None:
    text = "Ann: hi\nBo: hello\nAnn: how are you?\n\nBo: fine\nand you?\n"

    assert said(text) == [
        ("Ann", "hi", None),
        ("Bo", "hello", None),
        ("Ann", "how are you?", None),
        ("Bo", "fine\nand you?", None),
    ]


def test_what_stands_before_the_first_message_is_kept() -> None:
    first, *_ = messages(
        "Exported from a phone\n\n我 2023/09/16 14:51\n嗯\n\n你 2023/09/16 14:52\n好\n"
    )

    assert (first.text, first.role, first.author) == ("Exported from a phone", "system", None)


def test_a_named_author_is_a_third_party_whatever_the_name() -> None:
    text = "User: remember this\nAssistant: ok\nUser: thanks\nAssistant: bye\n"

    assert {draft.origin for draft in messages(text)} == {"third_party"}


def test_messages_count_up_and_carry_their_locator() -> None:
    first, second = messages("2023-01-01 10:00 Ann: ok\n2023-01-01 10:00 Ann: ok\n")

    assert first.locator == MessageLocator(index=0, author="Ann", sent_at="2023-01-01T10:00")
    assert cast("MessageLocator", second.locator).index == 1
    assert first.occurred is not None
    assert (first.occurred.utc, first.occurred.offset) == (None, None)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_spans_hold_in_any_encoding(encoding: str) -> None:
    data = "2023-01-01 10:00 小明：你好，我们明天见\r\n2023-01-01 10:01 Ann：好的\r\n".encode(
        encoding
    )
    text = decode(data).text
    for draft in messages(data):
        assert text[draft.attributes["start"] : draft.attributes["end"]] == draft.text


# --- known answers -----------------------------------------------------------------------------


@pytest.mark.corpus
@pytest.mark.parametrize(
    "form", ["ddmmyy_24hrs", "mmddyy_24hrs", "mmddyyyy_12hrs", "yyyymmdd_24hrs"]
)
def test_public_whatsapp_variants_give_the_same_messages(corpus: Path, form: str) -> None:
    folder = corpus / "chats" / "whatsapp"
    gold = json.loads((folder / "chatminer_whatsapp_target.json").read_text("utf-8"))
    expected = [(m["author"], m["message"], m["timestamp"][:16]) for m in reversed(gold)]
    found = said((folder / f"chatminer_test_{form}.txt").read_bytes())

    assert [(author, " ".join(text.split()), time) for author, text, time in found] == expected


@pytest.mark.corpus
def test_public_chats_give_their_known_answers(corpus: Path) -> None:
    folder = corpus / "chats"
    apple = messages((folder / "whatsapp" / "langchain_whatsapp_chat.txt").read_bytes())
    wechat = said((folder / "wechat" / "wememoir_sample_chat.txt").read_bytes())
    qq = said((folder / "qq" / "qq_file.txt").read_bytes())

    assert sum("omitted" in draft.attributes for draft in apple) == 3
    assert sum(draft.role == "system" for draft in apple) == 1
    assert len(apple) == 12
    assert ("Alice", "那明天晚上七点见", "2023-01-01T10:10") in wechat
    assert qq == [("A", "A", "1883-03-07T11:22:33"), ("B", "B", "1883-03-07T12:34:56")]
