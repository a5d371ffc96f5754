from pathlib import Path

import pytest
from support.documents import derived, drafts, outcome, quote_of, read

from muniment.adapters.formats.mail.calendar_times import recurrence_words
from muniment.adapters.formats.mail.content_lines import content_lines
from muniment.adapters.ports import Draft
from muniment.store.records import MessageLocator


def calendar(*lines: str, before: str = "") -> bytes:
    body = "\r\n".join(["BEGIN:VEVENT", *lines, "END:VEVENT"])
    return f"BEGIN:VCALENDAR\r\n{before}{body}\r\nEND:VCALENDAR\r\n".encode()


def event(*lines: str, before: str = "") -> Draft:
    (draft,) = drafts(read(calendar(*lines, before=before)))
    return draft


def test_an_appointment_says_what_when_where_and_who() -> None:
    data = calendar(
        "SUMMARY:Lunch\\, long",
        "DTSTART;TZID=Asia/Shanghai:20240506T120000",
        "DTEND;TZID=Asia/Shanghai:20240506T130000",
        "LOCATION:Canteen",
        "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20241231T000000Z",
        "ORGANIZER;CN=Ann:mailto:ann@example.com",
        'ATTENDEE;CN="Bo; B";ROLE=X:mailto:bo@example.com',
        "ATTENDEE:mailto:cy@example.com",
        "DESCRIPTION:Bring\\na fork",
        "BEGIN:VALARM",
        "DESCRIPTION:ring",
        "END:VALARM",
    )

    (draft,) = drafts(read(data))

    assert draft.kind == "event"
    assert draft.text.splitlines() == [
        "Lunch, long",
        "When: 2024-05-06 12:00 to 13:00 (+08:00)",
        "Repeats: every week on Monday, Wednesday until 2024-12-31",
        "Where: Canteen",
        "Organiser: Ann",
        "Attendees: Bo; B, cy@example.com",
        "Bring",
        "a fork",
    ]
    assert draft.occurred is not None
    assert (draft.occurred.utc, draft.occurred.offset) == ("2024-05-06T04:00:00.000000Z", "+08:00")
    assert draft.attributes["end"] == "2024-05-06T05:00:00.000000Z"
    assert draft.locator == MessageLocator(index=0, sent_at="2024-05-06T04:00:00.000000Z")
    assert quote_of(data, draft) == draft.text


def test_days_instants_and_floating_times_are_told_apart() -> None:
    day = event("SUMMARY:x", "DTSTART;VALUE=DATE:20240506", "DTEND;VALUE=DATE:20240508")
    instant = event("SUMMARY:x", "DTSTART:20240506T120000Z", "DURATION:PT90M")
    floating = event("SUMMARY:x", "DTSTART:20240506T120000")
    strange = event("SUMMARY:x", "DTSTART;TZID=Nowhere/Town:20240506T120000")

    assert day.occurred is not None
    assert (day.occurred.local, day.occurred.precision) == ("2024-05-06", "day")
    assert "2024-05-06 to 2024-05-07 (all day)" in day.text
    assert "2024-05-06 12:00 to 13:30 (+00:00)" in instant.text
    for draft in (floating, strange):
        assert draft.occurred is not None
        assert (draft.occurred.utc, draft.occurred.offset) == (None, None)


def test_zones_of_windows_and_those_of_the_file_are_known() -> None:
    zone = (
        "BEGIN:VTIMEZONE\r\nTZID:Office\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n"
        "TZOFFSETFROM:+0330\r\nTZOFFSETTO:+0330\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )
    defined = event("SUMMARY:x", "DTSTART;TZID=Office:20240506T120000", before=zone)
    windows = event("SUMMARY:x", "DTSTART;TZID=China Standard Time:20240506T120000")

    assert defined.occurred is not None
    assert defined.occurred.offset == "+03:30"
    assert windows.occurred is not None
    assert windows.occurred.offset == "+08:00"


def test_an_event_without_a_readable_time_is_kept_and_said() -> None:
    found = read(calendar("SUMMARY:x", "DTSTART:whenever"))

    assert drafts(found)[0].occurred is None
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "broken_events")


def test_a_calendar_that_is_cut_off_gives_what_there_is() -> None:
    data = calendar("SUMMARY:one") + b"BEGIN:VEVENT\r\nSUMMARY:two\r\n"

    found = read(data)

    assert [draft.text for draft in drafts(found)] == ["one", "two"]
    assert outcome(found)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=DAILY;INTERVAL=3;COUNT=5", "every 3 days 5 times"),
        ("FREQ=MONTHLY;BYDAY=2TU,-1FR", "every month on the second Tuesday, the last Friday"),
        ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "every year on day 24 in December"),
        ("FREQ=NEVER", ""),
    ],
)
def test_repetition_is_said_in_words(rule: str, words: str) -> None:
    assert recurrence_words([rule]) == words


CARD = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann Lee\r\nN:Lee;Ann;;;\r\nORG:Pond\\; Co;Frogs\r\n"
    "item1.EMAIL;TYPE=INTERNET,WORK:ann@exam\r\n ple.com\r\nTEL;CELL:+49 1\r\nBDAY:1980-03-22\r\n"
    "NOTE:likes\\ntea\r\nEND:VCARD\r\n"
)


def test_a_contact_is_its_name_and_what_is_known() -> None:
    data = CARD.encode()

    (draft,) = drafts(read(data))

    assert draft.kind == "contact"
    assert draft.text.splitlines() == [
        "Ann Lee",
        "Organisation: Pond; Co, Frogs",
        "Email (work): ann@example.com",
        "Phone (cell): +49 1",
        "Birthday: 1980-03-22",
        "Note: likes tea",
    ]
    assert draft.attributes["email"] == ["ann@example.com"]
    assert quote_of(data, draft) == draft.text


def test_old_cards_are_decoded_and_their_pictures_kept() -> None:
    data = (
        b"BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E7=8E=8B;"
        b"=E5=B0=8F=\r\n=E6=98=8E\r\nPHOTO;ENCODING=BASE64;JPEG:\r\n /9j/4AAQSkZJRg==\r\n"
        b"END:VCARD\r\n"
    )

    found = read(data)

    assert drafts(found)[0].text == "小明 王"
    (picture,) = derived(found)
    assert (picture.relation, picture.name) == ("embedded_image", "photo")


def test_a_card_that_is_cut_off_is_partial() -> None:
    found = read((CARD + "BEGIN:VCARD\r\nFN:Bo\r\n").encode())

    assert [draft.text.splitlines()[0] for draft in drafts(found)] == ["Ann Lee", "Bo"]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "truncated")


def test_lines_unfold_over_block_borders() -> None:
    text = "NAME;A=b:one\r\n two\nOTHER:x\r\n"
    whole = list(content_lines([text]))

    assert [(line.name, line.value) for line in whole] == [("NAME", "onetwo"), ("OTHER", "x")]
    assert list(content_lines(text)) == whole


@pytest.mark.corpus
def test_calendars_and_contacts_of_the_corpus_are_read(corpus: Path) -> None:
    for name, count in (
        ("ics/example.ics", 3),
        ("ics/broken_ical.ics", 1),
        ("ics/america_new_york.ics", 1),
        ("vcf/gmail-list.vcf", 3),
        ("vcf/John_Doe_ANDROID.vcf", 6),
        ("vcf/John_Doe_IPHONE.vcf", 1),
    ):
        data = (corpus / "docs" / name).read_bytes()
        found = drafts(read(data))
        assert len(found) == count, name
        assert all(quote_of(data, draft) == draft.text for draft in found)
