import pytest

from muniment.pipeline.stages.documents import CONTEXT_CHARACTERS, date_words, observation_document
from muniment.store.ledger.changes import AssetFacts, Neighbour
from muniment.store.rows import IndexedRow

ASSET = AssetFacts(1, "sha256:a", 3, "inline", "text/plain", "text", b"/chats/with bob.txt", "me")


def row(**fields: object) -> IndexedRow:
    values: dict[str, object] = {
        "seq": 7, "id": "obs_1", "asset": "sha256:a", "kind": "message", "text": "hello",
        "confidence": 1.0, "origin": "user", "role": None, "author": "Ann", "thread": "t",
        "local": None, "instant": "2026-02-01T10:00:00.000000Z", "heading": None,
    }  # fmt: skip
    return IndexedRow(**{**values, **fields})  # type: ignore[arg-type]  # by name


def test_a_message_is_found_by_author_file_neighbours_and_date() -> None:
    around = ([Neighbour(6, "b", "before", "Bob")], [Neighbour(8, "c", "after", None)])

    document = observation_document(row(), ASSET, around, "ep_1")

    assert document.ref == "observation:obs_1"
    assert document.title == "Ann\nwith bob.txt"
    assert document.context == "Bob: before\nafter\n1 February 2026 2026-02-01 2026年2月1日"
    assert (document.group, document.session, document.family) == ("ep_1", "t", "text")


def test_context_is_bounded() -> None:
    long = [Neighbour(n, str(n), "x" * 200, None) for n in range(5)]

    document = observation_document(row(instant=None), ASSET, (long, long), None)

    assert len(document.context) <= 2 * CONTEXT_CHARACTERS + 4


def test_a_name_that_is_not_utf8_can_be_indexed() -> None:
    asset = ASSET._replace(path=b"/caf\xe9.txt")

    document = observation_document(row(), asset, ([], []), None)

    assert document.path == "/caf\\xe9.txt"


@pytest.mark.parametrize(
    ("local", "words"),
    [
        ("2026", "2026 2026年"),
        ("2026-05", "May 2026 2026年5月"),
        ("2026-05-08T10:00", "8 May 2026 2026-05-08 2026年5月8日"),
        (None, ""),
        ("0000-00-00", ""),
        ("soon", ""),
    ],
)
def test_a_day_is_written_the_ways_people_ask_for_it(local: str | None, words: str) -> None:
    assert date_words(local) == words
