from pathlib import Path

from support.asking import Asker, items
from support.stores import Line, TinyStore

from muniment.pipeline.recall.diversity import collapse, spread
from muniment.pipeline.recall.items import Item


def item(text: str, score: float = 1.0, group: str = "g") -> Item:
    return Item(
        ref=text, plane="observation", kind="text", text=text, time=None, proofs=[], score=score,
        group=group,
    )  # fmt: skip


def test_equal_texts_collapse_onto_the_best_and_are_counted() -> None:
    kept = collapse([item("Buy milk!"), item("buy  milk"), item("sell milk")])

    assert [(one.text, one.duplicates) for one in kept] == [("Buy milk!", 1), ("sell milk", 0)]


def test_nearly_equal_long_texts_collapse() -> None:
    line = "Quarterly revenue rose in every region of the company, most of all in the north"

    assert len(collapse([item(line), item(line + "."), item(line.replace("every", "evory"))])) == 1


def test_a_number_that_differs_makes_two_texts() -> None:
    line = "Person {} prefers project updates about topic {} in the morning meeting"

    assert len(collapse([item(line.format(n, n)) for n in range(10, 20)])) == 10


def test_short_texts_that_differ_stay_apart() -> None:
    assert len(collapse([item("Ann likes tea"), item("Ann likes teal")])) == 2


def test_other_sources_come_before_the_fourth_of_one() -> None:
    same = [item(f"a{n}", 1.0 - n / 1000, "a") for n in range(4)]
    other = item("b", 0.9, "b")

    assert [one.text for one in spread([*same, other])] == ["a0", "a1", "a2", "b", "a3"]


def test_a_larger_budget_brings_more(store: TinyStore, asker: Asker) -> None:
    words = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heath")
    store.notes([f"The orchard of {a} and {b} gave pears this year" for a in words for b in words])

    counts = [
        len(items(asker.recall("Which orchard gave pears?", token_budget=budget), "observations"))
        for budget in (256, 1000, 2000, 8000)
    ]

    assert counts == sorted(counts)
    assert len(set(counts)) == 4
    pack = asker.recall("Which orchard gave pears?", token_budget=2000)
    assert pack["tokens_used"] > 0.9 * 2000
    assert pack["omitted"]["budget"] > 0


def test_what_is_laid_out_with_spaces_takes_no_more_than_its_words(
    store: TinyStore, asker: Asker, tmp_path: Path
) -> None:
    rows = [("pears", kind, "orchard") for kind in ("amber", "basil", "cedar", "delta", "ember")]
    tight = TinyStore(tmp_path / "tight")
    tight.notes([" ".join(row) for row in rows])
    store.notes([(" " * 60).join(row) for row in rows])

    for budget in range(256, 400, 8):
        packs = [one.recall("orchard pears", token_budget=budget) for one in (asker, Asker(tight))]
        counts = [len(items(pack, "observations")) for pack in packs]
        assert counts[0] == counts[1] > 0
    tight.close()


def test_a_long_text_is_cut_to_the_sentences_that_answer(store: TinyStore, asker: Asker) -> None:
    filler = "The committee discussed the usual matters at length. " * 40
    store.note(f"{filler}The spare key hangs behind the piano. {filler}")

    pack = asker.recall("Where does the spare key hang?", token_budget=512)

    (shown,) = items(pack, "observations")
    assert "The spare key hangs behind the piano." in shown["text"]
    assert len(shown["text"]) < 1000
    assert pack["citations"][0]["quote"] == shown["text"]


def test_neighbours_of_a_hit_are_added_as_context(store: TinyStore, asker: Asker) -> None:
    store.chat(
        [
            ("Ann", "Hello there", "2026-02-01T10:00:00Z"),
            ("Bob", "The parrot escaped again", "2026-02-01T10:01:00Z"),
            ("Ann", "Oh no!", "2026-02-01T10:02:00Z"),
            ("Bob", "Unrelated thing", "2026-02-01T10:03:00Z"),
        ]
    )

    found = items(asker.recall("parrot escaped"), "observations")

    assert [one["text"] for one in found] == ["The parrot escaped again", "Hello there", "Oh no!"]
    assert found[1]["signals"] == {"neighbour": 1}


def test_a_text_that_a_record_quotes_whole_is_not_repeated(store: TinyStore, asker: Asker) -> None:
    note = store.note("My shoe size is 43")
    store.record("Shoe size 43", note, kind="fact")

    pack = asker.recall("What is my shoe size?")

    assert len(items(pack, "records")) == 1
    assert items(pack, "observations") == []


def test_the_profile_takes_a_quarter_of_the_budget_at_most(store: TinyStore, asker: Asker) -> None:
    note = store.note("The heater is broken")
    for number in range(40):
        store.record(f"Prefers thing {number} to thing {number + 1}", note, kind="preference")

    pack = asker.recall("Is the heater broken?", token_budget=1000)

    shown = items(pack, "profile")
    assert 2 <= len(shown) < 40
    assert sum(len(one["text"]) for one in shown) <= 1000


def test_lines_of_a_recording_are_context_of_each_other(store: TinyStore, asker: Asker) -> None:
    store.file(
        "talk.wav",
        [Line("who repaired the organ", kind="asr"), Line("it was Mr Finch", kind="asr")],
        media_type="audio/wav", family="audio", origin="media",
    )  # fmt: skip

    assert "it was Mr Finch" in asker.texts("Who repaired the organ?")
