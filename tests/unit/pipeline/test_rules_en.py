from typing import Any

import pytest

from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.stages.propose import SpokenRules

WEDNESDAY: dict[str, Any] = {
    "utc": "2026-05-06T08:00:00.000000Z",
    "local": "2026-05-06T10:00:00.000000",
    "offset": "+02:00",
}


def said(text: str, **other: Any) -> list[CandidateDraft]:
    fields = {"kind": "message", "origin": "user", "role": "user", "occurred": WEDNESDAY} | other
    return list(RulesProposer().propose([Passage("obs_1", text, **fields)]))


def facts(text: str, **other: Any) -> list[tuple[str | None, str | None]]:
    return [(draft.key, draft.value) for draft in said(text, **other)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call me Ishmael.", [("form_of_address", "Ishmael")]),
        ("From now on, please call me Dr. Li.", [("form_of_address", "Dr. Li")]),
        ("You can call me Ana Maria, please", [("form_of_address", "Ana Maria")]),
        ("I'd like you to call me Bob.", [("form_of_address", "Bob")]),
        ("call me 小明", [("form_of_address", "小明")]),
        ("Remember that my name is Grace Hopper.", [("name", "Grace Hopper")]),
        ("I like strong coffee.", [("preference:strong coffee", "like")]),
        ("i really love hiking a lot", [("preference:hiking", "like")]),
        ("By the way, I hate early meetings!", [("preference:early meetings", "dislike")]),
        ("I don't like cilantro", [("preference:cilantro", "dislike")]),
        ("I can’t stand loud music.", [("preference:loud music", "dislike")]),
        ("I prefer tea to coffee.", [("preference:tea", "prefer")]),
        ("I prefer window seats", [("preference:window seats", "prefer")]),
        ("My favourite colour is blue.", [("favourite:colour", "blue")]),
        ("I'm allergic to peanuts.", [("allergy", "peanuts")]),
        (
            "I am severely allergic to peanuts, shellfish and kiwi.",
            [("allergy", "peanuts"), ("allergy", "shellfish"), ("allergy", "kiwi")],
        ),
        ("I have a penicillin allergy.", [("allergy", "penicillin")]),
        ("I have an allergy to cats", [("allergy", "cats")]),
        ("My birthday is on May 4th, 1990.", [("birthday", "1990-05-04")]),
        ("My birthday's 4 May", [("birthday", "--05-04")]),
        ("I was born on 1990-05-04.", [("birthday", "1990-05-04")]),
        ("I live in Berlin.", [("home", "Berlin")]),
        ("I now live in San Luis Obispo, California", [("home", "San Luis Obispo, California")]),
        ("We talked. I moved to Rio de Janeiro last year", [("home", "Rio de Janeiro")]),
        ("I'm based in the Hague", []),
        ("I work at Siemens.", [("employer", "Siemens")]),
        ("I work as a translator", [("job", "translator")]),
        (
            "I'm a senior software engineer at Acme Corp",
            [("job", "senior software engineer"), ("employer", "Acme Corp")],
        ),
        ("I live in Berlin and I love jazz", [("home", "Berlin"), ("preference:jazz", "like")]),
        ("My address is 12 Long Lane, Leeds", [("address", "12 Long Lane, Leeds")]),
    ],
)
def test_an_explicit_statement_gives_its_key_and_value(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # negated
        "I am not allergic to nuts.",
        "I'm no longer allergic to nuts",
        "I don't live in Berlin.",
        "I'm not a doctor.",
        "Don't call me Bob.",
        "I've never worked at Siemens",
        # asked
        "Am I allergic to nuts?",
        "Do you think I like coffee?",
        "I like coffee, don't I?",
        "Should I say my birthday is May 4?",
        "do I live in Berlin",
        "Do you remember that I live in Berlin?",
        # supposed
        "If I'm allergic to nuts, the app should warn me.",
        "I would like a coffee.",
        "I'd love to live in Paris",
        "Imagine I live in Paris.",
        "I might work at Google",
        "Let's say my name is Bob.",
        "I wish I lived in Rome",
        # others' words and lives
        "She said I live in Berlin.",
        'He wrote: "I am allergic to cats"',
        "“I live in Paris” is the first line of the song.",
        "My son is allergic to peanuts.",
        "My friend likes coffee",
        "My wife lives in Berlin.",
        "Alice: I live in Berlin",
        "> I live in Berlin",
        "According to the form, I live in Berlin",
        "They call me Bob.",
        # past
        "I used to live in Berlin.",
        "I lived in Paris for two years",
        "When I was a kid, I loved spinach",
        # not what it looks like
        "Call me later.",
        "call me when you land",
        "Call me Friday",
        "Call me a taxi",
        "My name is Bob.",
        "I like it.",
        "I love you",
        "I like how you did this",
        "I work at home",
        "I live in fear",
        "I'm a big fan",
        "My birthday is coming up",
        "I remember that day well",
        "Remember that time we got lost?",
        "You remind me of my uncle",
        "I'll be back",
        "I will see",
        "Never mind.",
        "Always a pleasure!",
        # nothing said
        "Hi!",
        "ok thanks",
        "lol",
        "",
        "???",
        "https://example.com/i-like-coffee",
        "```\nI live in Berlin\n```",
    ],
)
def test_what_is_not_stated_of_oneself_gives_nothing(text: str) -> None:
    assert said(text) == []


def test_the_quote_is_the_exact_words_at_its_offsets() -> None:
    text = "Morning! Well, I’m allergic to nuts. See you."
    (draft,) = said(text)

    assert draft.evidence.quote == "I’m allergic to nuts"
    assert text[draft.evidence.start : draft.evidence.end] == draft.evidence.quote
    assert (draft.basis, draft.subject, draft.rule) == ("user_statement", "user", "en.allergy")
    assert draft.sensitive


def test_remember_keeps_what_no_other_rule_knows() -> None:
    (draft,) = said("Please remember that the spare key is under the blue pot.")

    assert (draft.type, draft.kind, draft.key) == ("semantic", "fact", None)
    assert draft.text == "Please remember that the spare key is under the blue pot"
    assert draft.instructed


def test_remember_keeps_a_known_statement_under_its_key() -> None:
    (draft,) = said("Remember: I prefer aisle seats.")

    assert (draft.key, draft.value, draft.instructed) == ("preference:aisle seats", "prefer", True)
    assert draft.evidence.quote == "Remember: I prefer aisle seats"


@pytest.mark.parametrize(
    ("text", "value", "due"),
    [
        ("Remind me to call mum tomorrow at 5pm", "call mum tomorrow at 5pm", "2026-05-07T17:00"),
        ("Can you remind me on Friday to pay rent?", "pay rent", "2026-05-08"),
        ("Don't forget to buy milk", "buy milk", None),
        ("Remember to water the plants in 3 days.", "water the plants in 3 days", "2026-05-09"),
        (
            "I need to hand in the report by 2026-06-01",
            "hand in the report by 2026-06-01",
            "2026-06-01",
        ),
    ],
)
def test_a_reminder_is_a_task_with_its_due_time(text: str, value: str, due: str | None) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind, draft.value) == ("prospective", "task", value)
    assert (draft.due_at or {}).get("local") == due


def test_a_due_time_is_an_instant_where_the_zone_is_known() -> None:
    (draft,) = said("Remind me to call mum tomorrow at 5pm")

    assert draft.due_at is not None
    assert draft.due_at["utc"] == "2026-05-07T15:00:00.000000Z"


@pytest.mark.parametrize(
    "text", ["I'll send you the slides by Friday.", "I promise I'll send the slides on Friday"]
)
def test_a_promise_is_an_agreement_with_its_due_time(text: str) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind) == ("prospective", "agreement")
    assert (draft.due_at or {})["local"] == "2026-05-08"


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in metric units.",
        "Please never use emojis in your replies",
        "When I ask for code, always include tests.",
        "From now on, reply in Chinese",
        "When you write an email for me, keep it under 100 words.",
    ],
)
def test_a_lesson_for_the_assistant_is_procedural(text: str) -> None:
    (draft,) = said(text)

    assert (draft.type, draft.kind) == ("procedural", "lesson")
    assert draft.evidence.quote in text


def test_a_lesson_counts_in_a_turn_to_the_assistant_only() -> None:
    assert said("Always answer in metric units.", role=None) == []


@pytest.mark.parametrize("origin", ["agent", "tool", "media", "external"])
def test_what_others_than_people_say_is_not_mined(origin: str) -> None:
    assert said("I live in Berlin.", origin=origin, role=None) == []


def test_a_third_party_speaks_of_itself_alone() -> None:
    (draft,) = said(
        "I live in Berlin. Call me Bob. Remember that I rule.",
        origin="third_party",
        author="Alice",
        role=None,
    )

    assert (draft.subject, draft.key, draft.basis) == ("Alice", "home", "third_party")
    assert said("I live in Berlin.", origin="third_party") == []


@pytest.mark.parametrize("kind", ["asr", "ocr", "subtitle", "visual", "page_text"])
def test_nothing_is_taken_from_media_whoever_gave_the_file(kind: str) -> None:
    assert said("Call me Bob. I live in Berlin. I'm allergic to nuts.", kind=kind) == []


def test_a_document_of_the_owner_tells_of_them_and_asks_for_nothing() -> None:
    text = "Remember to install it. Note that it is fast. Remember that 1 > 0. I live in Berlin."

    assert facts(text, kind="text", role=None) == [("home", "Berlin")]


def test_equal_passages_give_equal_ids_and_other_places_other_ones() -> None:
    twice = said("I like tea. I like tea.")

    assert [draft.id for draft in twice] == [draft.id for draft in said("I like tea. I like tea.")]
    assert twice[0].id != twice[1].id


def test_the_stage_keeps_its_mark_under_the_rules_own_name() -> None:
    assert (SpokenRules.name, SpokenRules.version) == (RulesProposer.name, RulesProposer.version)


def test_the_stage_finds_what_the_rules_find() -> None:
    passages = [
        Passage("obs_1", "Call me Ishmael.", kind="message", origin="user", role="user"),
        Passage("obs_2", "Call me Ishmael.", kind="ocr", origin="user"),
        Passage("obs_3", "Call me Ishmael.", kind="message", origin="agent"),
    ]
    assert list(SpokenRules().propose(passages)) == list(RulesProposer().propose(passages)) != []
