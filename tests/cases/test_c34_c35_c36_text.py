"""Old encodings, consoles that are not UTF-8, mail that breaks its own rules (C34, C35, C36)."""

import os
from pathlib import Path

import pytest
from support.cli import execute
from support.ingesting import Store


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("你好", "gb18030"),
        ("王小明在上海虹桥火车站", "gb18030"),
        ("会议改到周四，地点㐀阁", "gb18030"),
        ("會議改到週四，請準時到場，謝謝大家。", "big5"),
        ("Grüße aus Köln, bis später – Anna", "cp1252"),
        ("Привет, встреча переносится на четверг", "cp1251"),
        ("会議は木曜日に変更されました。よろしくお願いします。", "shift_jis"),
        ("Wide words and 宽字", "utf-16"),
        ("marked words", "utf-8-sig"),
    ],
)
def test_a_text_in_an_old_encoding_is_read_and_says_which(
    store: Store, folder: Path, text: str, encoding: str
) -> None:
    (folder / "note.txt").write_bytes(text.encode(encoding))

    assert store.ingest(folder)["exit"] == 0

    (item,) = store.items("observations")
    assert item["text"] == text
    said = store.show(item["ref"])
    # What was told by its bytes alone may be guessed; then it is less sure.
    assert said["confidence"] > 0
    assert said["attributes"].get("encoding") or said["confidence"] == 1.0


def test_a_console_that_is_not_utf8_breaks_nothing(store: Store, folder: Path) -> None:
    (folder / "note.txt").write_text("今天买了苹果 🍎 and é.")
    store.ingest(folder)
    environment = {
        "PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONIOENCODING": "gbk",
        "MUNIMENT_ROOT": str(store.root), "MUNIMENT_CACHE": os.environ["MUNIMENT_CACHE"],
    }  # fmt: skip

    said = execute("recall", "苹果", environment=environment)

    assert said.code == 0
    assert "今天买了苹果 🍎 and é." in said.out


HEADERS = b"From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nSubject: The lease\r\n"
BODY = b"\r\nThe lease ends in June.\r\n"


@pytest.mark.parametrize(
    "extra",
    [
        b"Content-Type: text/plain; charset=x-unknown\r\n",
        b"Content-Type: text/plain; charset=\r\n",
        b'Content-Type: text/plain; charset="utf-8\xff"\r\n',
        b"Content-Transfer-Encoding: x-odd\r\nContent-Type: text/plain\r\n",
        b"Date: not a date at all\r\nContent-Type: text/plain\r\n",
        b"Date: Mon, 99 Foo 2024 25:61:61 +9999\r\n",
        b"Content-Type: nonsense\r\n",
    ],
)
def test_mail_that_breaks_its_own_rules_is_read_all_the_same(
    store: Store, folder: Path, extra: bytes
) -> None:
    (folder / "mail.eml").write_bytes(HEADERS + extra + BODY)

    assert store.ingest(folder)["exit"] == 0

    (text,) = [text for text in store.texts() if "lease" in text]
    assert "The lease ends in June." in text


@pytest.mark.parametrize("body", [b"", b"\r\n", b"\r\n \r\n"])
def test_mail_without_a_body_keeps_its_headers_and_attachments(
    store: Store, folder: Path, body: bytes
) -> None:
    parts = (
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n"
        + body
        + b"\r\n--x\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; "
        b"filename=list.txt\r\n\r\nEggs and flour.\r\n--x--\r\n"
    )
    (folder / "mail.eml").write_bytes(HEADERS + parts)

    assert store.ingest(folder)["exit"] == 0

    assert any("Eggs and flour." in text for text in store.texts())
    assert any("The lease" in text for text in store.texts())
