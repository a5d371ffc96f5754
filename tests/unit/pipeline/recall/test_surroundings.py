from support.asking import Asker, items
from support.stores import Line, TinyStore

from muniment.store.ledger.changes import Changes
from muniment.store.records import BboxLocator, PageLocator

LETTER = (
    "Northgate Plumbing", "14 Canal Road", "Invoice number INV-20417", "Dear Ms. Lin,",
    "The amount due is 312.50 dollars. Please pay it", "before 24 April 2026.",
)  # fmt: skip
FILLER = [f"Nothing of note happened on day {number} of the trip." for number in range(400)]


def scan(store: TinyStore, lines: tuple[str, ...], page: int = 1, name: str = "letter.pdf") -> None:
    observed = [Line(text, kind="ocr", locator=PageLocator(page=page), origin="media")
                for text in lines]  # fmt: skip
    store.file(name, observed, media_type="application/pdf", family="document")


def test_the_words_of_a_question_may_stand_in_several_lines_of_a_page(
    store: TinyStore, asker: Asker
) -> None:
    scan(store, LETTER)

    pack = asker.recall("What is the invoice number of the plumber?")

    assert pack["coverage"] != "none"
    shown = [item["text"] for item in items(pack, "observations")]
    assert "Invoice number INV-20417" in shown
    assert "Northgate Plumbing" in shown


def test_another_page_is_other_evidence(store: TinyStore) -> None:
    lines = [Line(text, kind="ocr", locator=PageLocator(page=page), origin="media")
             for page, text in ((1, "one"), (1, "two"), (2, "three"))]  # fmt: skip
    first, second, third = store.file("scan.pdf", lines)
    numbers = {row.id: row.seq for row in store.ledger.evidence.live("1")}
    changes = Changes(store.ledger.database)

    assert changes.at_place(numbers[first], 10) == [(numbers[second], second)]
    assert changes.at_place(numbers[third], 10) == []


def test_what_stands_on_one_picture_is_judged_together(store: TinyStore, asker: Asker) -> None:
    places = [BboxLocator(x=0.1, y=0.1 * row, w=0.5, h=0.05) for row in range(3)]
    texts = ("Camping list", "two lanterns", "gas stove")
    store.file(
        "board.png",
        [Line(text, kind="ocr", locator=place, origin="media")
         for text, place in zip(texts, places, strict=True)],
        media_type="image/png", family="image",
    )  # fmt: skip

    assert asker.recall("How many lanterns are on the camping list?")["coverage"] != "none"


def test_a_message_answers_the_one_before_it(store: TinyStore, asker: Asker) -> None:
    store.notes(FILLER)
    store.chat([
        ("Ann", "Which hotel did Marco book in Bergamo?", "2026-03-02T10:00:00Z"),
        ("Marco", "The Pergola, near the funicular.", "2026-03-02T10:01:00Z"),
    ])  # fmt: skip

    pack = asker.recall("hotel near the funicular in Bergamo")

    assert pack["coverage"] == "supported"
    assert "The Pergola, near the funicular." in [item["text"] for item in items(pack)]


def test_the_configured_threshold_replaces_the_calibrated_ones(
    store: TinyStore, asker: Asker
) -> None:
    store.note("The red sofa cost 400 euros.")
    question = "How much does a red velvet curtain cost?"

    assert asker.recall(question)["coverage"] == "none"
    assert asker.recall(question, coverage_threshold=0.1)["coverage"] == "partial"
