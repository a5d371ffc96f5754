from typing import Any

import pytest

from muniment.pipeline.policy import Policy, judge
from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.found import FoundProposer
from muniment.pipeline.proposers.receipts import find_receipt, lines_of

WHEN = {"utc": "2026-05-04T12:30:00.000000Z", "precision": "minute"}


def propose(*passages: Passage) -> list[CandidateDraft]:
    drafts = list(FoundProposer().propose(passages))
    by_id = {passage.observation: passage for passage in passages}
    for draft in drafts:
        for quote in (draft.evidence, *draft.also):
            assert by_id[quote.observation].text[quote.start : quote.end] == quote.quote
        decision = judge(draft, by_id[draft.evidence.observation], Policy())
        assert decision.status == "pending", decision
    return drafts


def event(text: str, **facts: Any) -> Passage:
    return Passage(
        "obs_1", text, "event", "user", occurred=WHEN, asset="a", confidence=1.0, attributes=facts
    )


def printed(text: str, kind: str = "ocr", origin: str = "user") -> list[Passage]:
    lines = text.strip().splitlines()
    return [
        Passage(f"obs_{n}", line, kind, origin, asset="a", confidence=0.9)
        for n, line in enumerate(lines)
    ]


def test_an_appointment_is_proposed_with_its_time() -> None:
    (draft,) = propose(
        event("Dentist\nWhen: 2026-05-04 12:30\nWhere: Oslo", type="event", summary="Dentist",
              start="2026-05-04T12:30:00.000000Z")
    )  # fmt: skip

    assert (draft.kind, draft.type, draft.basis) == ("event", "episodic", "media")
    assert draft.text == "Dentist · When: 2026-05-04 12:30"
    assert draft.due_at == WHEN


def test_a_todo_is_a_task_and_what_is_done_or_off_is_none() -> None:
    (draft,) = propose(event("Pay rent", type="todo", summary="Pay rent"))
    assert (draft.kind, draft.type) == ("task", "prospective")

    for status in ("CANCELLED", "completed"):
        facts = {"type": "event", "summary": "Dentist", "status": status}
        assert propose(event("Dentist", **facts)) == []
    assert propose(event("no summary", type="event")) == []


def test_a_contact_gives_a_claim_a_field_about_that_person() -> None:
    text = "Ada Byron\nEmail (work): ada@example.org\nPhone: +44 1\nBirthday: 1815-12-10"
    passage = Passage(
        "obs_1", text, "contact", "user", asset="a", confidence=1.0,
        attributes={"name": "Ada Byron", "email": ["ada@example.org"], "tel": ["+44 1"],
                    "bday": ["1815-12-10"]},
    )  # fmt: skip

    drafts = propose(passage)

    assert [(draft.subject, draft.key, draft.value) for draft in drafts] == [
        ("Ada Byron", "email", "ada@example.org"),
        ("Ada Byron", "phone", "+44 1"),
        ("Ada Byron", "birthday", "1815-12-10"),
    ]
    assert drafts[0].text == "Ada Byron: Email (work): ada@example.org"
    assert [draft.sensitive for draft in drafts] == [False, True, True]


ENGLISH = """
CORNER BAKERY
12 Mill Lane
Date: 2026-03-02 08:15
Croissant        2.40
Coffee           3.10
Subtotal         5.50
VAT 10%          0.55
TOTAL          £ 6.05
VISA ****1234
"""
CHINESE = """
永辉超市（人民路店）
购物小票
日期：2026年3月2日
苹果   12.50
牛奶   8.80
小计   21.30
合计：21.30元
微信支付
谢谢惠顾
"""


@pytest.mark.parametrize(
    ("text", "total", "merchant", "day"),
    [
        (ENGLISH, "6.05 GBP", "CORNER BAKERY", "2026-03-02"),
        (CHINESE, "21.30 CNY", "永辉超市（人民路店）", "2026-03-02"),
        (ENGLISH.replace("TOTAL          £ 6.05", "TOTAL\n1.206,05 €"), "1206.05 EUR",
         "CORNER BAKERY", "2026-03-02"),
    ],
)  # fmt: skip
def test_a_receipt_gives_total_merchant_and_day(
    text: str, total: str, merchant: str, day: str
) -> None:
    (draft,) = propose(*printed(text))

    assert draft.value == total
    assert draft.text == f"Receipt: {merchant}, {total}, {day}"
    assert {quote.quote for quote in draft.also} >= {merchant}
    assert draft.confidence == 0.9
    assert draft.valid_at is not None


def test_a_receipt_of_one_page_and_of_a_mail_are_read_alike() -> None:
    page = Passage("obs_1", ENGLISH.strip(), "page_text", "user", asset="a", confidence=1.0)
    mail = Passage(
        "obs_2", ENGLISH.strip(), "message", "third_party", author="shop", asset="b", confidence=1.0
    )

    assert [draft.basis for draft in propose(page, mail)] == ["media", "third_party"]


@pytest.mark.parametrize(
    "text",
    [
        "Total: 12.30",
        "In total we walked 12.30 km and said thank you",
        "Total eclipse 2026-08-12\nreceipt of light",
        "Receipt\nDate: 2026-03-02\nTotal items 3.00",
        "Subtotal 4.00\nDate 2026-03-02\nthank you",
        "",
    ],
)
def test_what_only_looks_like_a_receipt_is_none(text: str) -> None:
    assert find_receipt(lines_of(printed(text))) is None


def test_two_messages_are_never_one_receipt() -> None:
    parts = printed(ENGLISH, kind="message", origin="third_party")

    assert propose(*parts) == []


def test_the_assistants_words_are_no_source() -> None:
    assert propose(*printed(ENGLISH, kind="message", origin="agent")) == []
