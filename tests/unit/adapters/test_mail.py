import time
from email.message import EmailMessage
from pathlib import Path

import pytest
from support.documents import derived, drafts, outcome, quote_of, read

from muniment.adapters.ports import Derived, Draft, Limits, TimeClaim
from muniment.store.records import MessageLocator

HEAD = b"From: Ann <ann@example.com>\r\nTo: Bo <bo@example.com>\r\nSubject: Tea\r\n"


def mail(*headers: str, body: bytes = b"Words.\r\n") -> bytes:
    return HEAD + "".join(f"{header}\r\n" for header in headers).encode() + b"\r\n" + body


def the(data: bytes) -> Draft:
    (draft,) = drafts(read(data))
    return draft


def test_a_mail_is_a_message_with_who_when_and_which_thread() -> None:
    data = mail("Date: Mon, 6 May 2024 09:00:00 +0200", "Message-ID: <one@x>")

    found = read(data)

    (draft,) = drafts(found)
    (claim,) = (finding for finding in found if isinstance(finding, TimeClaim))
    assert (draft.kind, draft.text) == ("message", "Tea\n\nWords.")
    assert (draft.author, draft.thread, draft.origin) == ("Ann", "mail:one@x", "third_party")
    assert draft.occurred is not None
    assert (draft.occurred.utc, draft.occurred.offset) == ("2024-05-06T07:00:00.000000Z", "+02:00")
    assert draft.locator == MessageLocator(
        index=0, author="Ann", sent_at="2024-05-06T07:00:00.000000Z"
    )
    assert draft.attributes["from"] == ["Ann <ann@example.com>"]
    assert draft.attributes["to"] == ["Bo <bo@example.com>"]
    assert (claim.source, claim.moment) == ("header", draft.occurred)
    assert quote_of(data, draft) == draft.text


@pytest.mark.parametrize(
    "date", ["", "Date: soon", "Date: Mon, 99 Foo 2024", "Date: Thu, 01 Jan 1970 00:00:00 +0000"]
)
def test_a_mail_without_a_usable_date_has_none(date: str) -> None:
    found = read(mail("MIME-Version: 1.0", *filter(None, [date])))

    assert [finding for finding in found if isinstance(finding, TimeClaim)] == []
    assert drafts(found)[0].occurred is None


def test_a_date_of_unknown_zone_keeps_its_wall_time() -> None:
    occurred = the(mail("Date: Mon, 6 May 2024 09:00:00 -0000")).occurred

    assert occurred is not None
    assert (occurred.utc, occurred.local) == (None, "2024-05-06T09:00:00.000000")


def test_a_broken_date_is_replaced_by_the_last_relays() -> None:
    received = "Received: from a by b; Mon, 6 May 2024 09:00:00 +0000"
    occurred = the(mail("Date: nonsense", received)).occurred

    assert occurred is not None
    assert occurred.utc == "2024-05-06T09:00:00.000000Z"


@pytest.mark.parametrize(
    ("charset", "body", "text", "flaw"),
    [
        ("x-unknown", b"caf\xe9", "café", {"unknown_charset": "x-unknown"}),
        ("x-unknown", "café".encode(), "café", {"unknown_charset": "x-unknown"}),
        ("gb2312", "镕基 says 你好".encode("gb18030"), "镕基 says 你好", {}),
        ("utf-8", b"caf\xe9 au lait", None, {"undecodable_bytes": "utf-8"}),
        ("us-ascii", "naïve".encode(), "naïve", {}),
    ],
)
def test_a_wrong_charset_loses_no_mail(
    charset: str, body: bytes, text: str | None, flaw: dict[str, str]
) -> None:
    draft = the(mail(f"Content-Type: text/plain; charset={charset}", body=body))

    assert text is None or draft.text == f"Tea\n\n{text}"
    assert flaw.items() <= draft.attributes.items()


def test_headers_are_decoded_whatever_was_made_of_them() -> None:
    data = (
        b"From: =?utf-8?B?546L5bCP5piO?= <wang@example.com>\r\n"
        b'To: "Ren\xe9" <rene@example.com>, undisclosed\r\n'
        b"Subject: =?x-odd?Q?caf=C3=A9?= =?utf-8?Q?_late?=\r\nMessage-ID: <a@b>\r\n\r\nHi.\r\n"
    )

    draft = the(data)

    assert draft.author == "王小明"
    assert draft.text == "café late\n\nHi."
    assert draft.attributes["to"][0] == "René <rene@example.com>"


def test_html_is_read_when_there_is_no_plain_text() -> None:
    page = b"<html><head><style>p{}</style></head><body><p>Dear <b>Bo</b>,</p><p>yes.</p></body>"

    assert the(mail("Content-Type: text/html", body=page)).text == "Tea\n\nDear Bo,\n\nyes."


def test_of_alternatives_the_plain_one_is_read_unless_it_says_nothing() -> None:
    def both(plain: str) -> str:
        message = EmailMessage()
        message["Subject"], message["From"] = "Tea", "ann@example.com"
        message.set_content(plain)
        message.add_alternative("<p>rich</p>", subtype="html")
        return the(message.as_bytes()).text

    assert both("plain") == "Tea\n\nplain"
    assert both(" ") == "Tea\n\nrich"


def test_attachments_and_messages_inside_become_assets() -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "Inside / out", "cy@example.com"
    inner.set_content("deep")
    message = EmailMessage()
    message["Subject"], message["From"] = "Tea", "ann@example.com"
    message.set_content("Words.")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="../näh.png")
    message.add_attachment(inner)

    found = read(message.as_bytes())

    picture, nested = derived(found)
    assert (picture.relation, picture.name, picture.data) == (
        "attachment",
        ".._näh.png",
        b"\x89PNG",
    )
    assert nested.name == "Inside out.eml"
    assert nested.data
    assert b"deep" in nested.data
    assert picture.observe
    assert nested.observe
    assert drafts(found)[0].attributes["attachments"] == [".._näh.png", "Inside out.eml"]


def test_attachments_of_a_mail_that_lies_too_deep_stay_in_it() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Tea", "ann@example.com"
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="a.png")

    found = read(message.as_bytes(), limits=Limits(max_depth=2), depth=2)

    assert derived(found) == []
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "depth_limit")


def test_an_encrypted_mail_says_so_and_keeps_its_headers() -> None:
    body = (
        b"--x\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n"
        b"--x\r\nContent-Type: application/octet-stream\r\n\r\nsecret\r\n--x--\r\n"
    )
    found = read(mail("Content-Type: multipart/encrypted; boundary=x", body=body))

    assert [draft.text for draft in drafts(found)] == ["Tea"]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("encrypted", "encrypted_parts")


def test_a_mail_that_says_nothing_is_who_wrote_to_whom() -> None:
    data = b"From: Ann <ann@example.com>\r\nTo: bo@example.com\r\nMessage-ID: <a@b>\r\n\r\n"

    assert the(data).text == "From: Ann <ann@example.com>\nTo: bo@example.com"


def test_the_messages_of_a_box_are_counted_and_threaded() -> None:
    box = b""
    for headers, body in (
        (b"Message-ID: <1@x>\nSubject: Plan", b"one\n>From the start\n"),
        (b"Message-ID: <2@x>\nIn-Reply-To: <1@x>\nSubject: Re: Plan", b"two\n"),
        (b"Message-ID: <3@x>\nIn-Reply-To: <2@x>\nSubject: RE: Plan", b"three\n"),
        (b"Message-ID: <4@x>\nSubject: AW: Re: [list] plan", b"four\n"),
        (b"Message-ID: <5@x>\nSubject: Plan", b"another\n"),
    ):
        box += b"From a@x Mon May  6 09:00:00 2024\nFrom: a@x\n" + headers + b"\n\n" + body + b"\n"

    found = drafts(read(box))

    assert [
        draft.locator.index for draft in found if isinstance(draft.locator, MessageLocator)
    ] == [*range(5)]
    assert [draft.thread for draft in found] == ["mail:1@x"] * 4 + ["mail:5@x"]
    assert found[0].text == "Plan\n\none\nFrom the start"
    assert all(quote_of(box, draft) == draft.text for draft in found)


def test_a_very_long_mail_is_cut_into_pieces_of_one_message() -> None:
    data = mail("MIME-Version: 1.0", body=b"a line of words\r\n" * 10_000)

    found = drafts(read(data))

    assert [draft.occurrence for draft in found] == [0, 1, 2]
    assert len({draft.locator for draft in found}) == 1
    assert all(quote_of(data, draft) == draft.text for draft in found)


def test_a_mail_saved_as_utf16_is_read() -> None:
    text = mail("MIME-Version: 1.0").decode()

    assert the(text.encode("utf-16")).text == "Tea\n\nWords."


@pytest.mark.parametrize(
    "body",
    [
        b"--x\r\n" * 3000,
        b"Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" * 500,
        b"\x00\xff" * 4000,
        b'--x\r\nContent-Type: text/plain; charset="\r\n\r\nhi',
        b"--x\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n--x--",
    ],
)
def test_hostile_bodies_end_soon(body: bytes) -> None:
    started = time.monotonic()
    read(mail("Content-Type: multipart/mixed; boundary=x", body=body))

    assert time.monotonic() - started < 20


@pytest.mark.corpus
def test_mails_of_the_corpus_are_read(corpus: Path) -> None:
    for file in sorted((corpus / "docs" / "eml").glob("*.eml")):
        data = file.read_bytes()
        found = drafts(read(data, file.name))
        assert found, file.name
        assert all(quote_of(data, draft, file.name) == draft.text for draft in found)


@pytest.mark.corpus
def test_outlook_messages_of_the_corpus_are_read(corpus: Path) -> None:
    found = read((corpus / "docs" / "msg" / "test_outlook_msg.msg").read_bytes())

    (draft,) = drafts(found)
    assert draft.text == "Test Email Message\n\nThis is the body of the test email message"
    assert draft.occurred is not None
    assert any(isinstance(finding, TimeClaim) for finding in found)
    assert not any(isinstance(finding, Derived) for finding in found)
