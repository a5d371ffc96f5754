"""``search``, ``explain`` and many queries in one process, from outside."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli import Answer, invoke
from support.stores import TinyStore

from muniment.store import manifest
from muniment.store.layout import Root

HIT = {
    "query_id", "rank", "ref", "kind", "text", "score", "signals", "time", "path", "source_id",
    "locator", "within",
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Iterator[Path]:
    folder = tmp_path / "root"
    manifest.initialize(Root(folder))
    store = TinyStore(folder)
    store.notes(["The heron stands in the lake.", "A heron flew over the mill.", "两只白鹭在湖边"])
    store.chat(
        [("Ann", "Where is the ladder?", "2026-03-02T10:00:00Z"),
         ("Bob", "Behind the shed.", "2026-03-02T23:30:00Z")]
    )  # fmt: skip
    yield folder
    store.close()


def ask(root: Path, *arguments: str, stdin: bytes = b"") -> Answer:
    said = invoke("--root", root, *arguments, stdin=stdin)
    assert said.code == 0, said
    return said


def hits(root: Path, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(root, "--json", "search", *arguments).json["hits"]
    return found


def test_hits_are_ranked_and_have_every_field(root: Path) -> None:
    document = ask(root, "--json", "search", "heron lake").json

    assert (document["queries"], document["count"], document["warnings"]) == (1, 2, [])
    first, second = document["hits"]
    assert set(first) == HIT
    assert (first["rank"], first["query_id"], first["text"]) == (
        1, None, "The heron stands in the lake.",
    )  # fmt: skip
    assert first["path"] == first["source_id"] == "/notes/note-1.txt"
    assert first["score"] > second["score"]


def test_a_limit_cuts_the_list_and_lines_end_with_a_summary(root: Path) -> None:
    lines = ask(root, "search", "heron", "--limit", "1", "--jsonl").out.splitlines()

    assert len(lines) == 2
    assert json.loads(lines[-1]) == {
        "type": "summary", "queries": 1, "count": 1, "warnings": [],
    }  # fmt: skip


def test_many_queries_are_answered_in_one_process_under_their_ids(root: Path) -> None:
    queries = (
        '{"id": "a", "query": "heron mill"}\n\n{"id": 7, "query": "白鹭"}\n{"query": "zebra"}\n'
    )
    said = ask(root, "--json", "search", "--queries-from", "-", stdin=queries.encode())

    assert said.json["queries"] == 3
    found = {hit["query_id"]: hit["text"] for hit in reversed(said.json["hits"])}
    assert found == {"a": "A heron flew over the mill.", "7": "两只白鹭在湖边"}


def test_recall_answers_many_queries_one_pack_a_line(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": "a", "query": "heron mill"}\n{"id": "b", "query": "zebra"}\n', "utf-8")
    said = ask(root, "recall", "--format", "json", "--queries-from", str(file))

    packs = [json.loads(line) for line in said.out.splitlines()]
    assert [(pack["query_id"], pack["coverage"]) for pack in packs] == [
        ("a", "supported"), ("b", "none"),
    ]  # fmt: skip
    together = ask(root, "--json", "recall", "--queries-from", str(file)).json
    assert [pack["query_id"] for pack in together["packs"]] == ["a", "b"]
    unmet = invoke(
        "--root", root, "recall", "--queries-from", file, "--require", "partial", "--format", "json"
    )
    assert (unmet.code, len(unmet.out.splitlines())) == (4, 2)


@pytest.mark.parametrize(
    "text",
    ["not json\n", '{"id": 1}\n', '["query"]\n', '{"query": 5}\n', '{"id": {}, "query": "a"}'],
)
def test_a_line_that_is_no_query_is_named(root: Path, text: str) -> None:
    said = invoke("--json", "--root", root, "search", "--queries-from", "-", stdin=text.encode())

    assert said.code == 2
    assert "line 1" in said.json["error"]["message"]


def test_a_query_or_a_file_of_queries_is_needed(root: Path) -> None:
    assert invoke("--root", root, "search").code == 2
    assert invoke("--root", root, "search", "heron", "--queries-from", "-").code == 2
    assert invoke("--root", root, "recall").code == 2


def test_a_named_last_day_is_included(root: Path) -> None:
    day = ("--since", "2026-03-02", "--until", "2026-03-02")

    assert hits(root, "behind the shed", *day)[0]["text"] == "Behind the shed."
    assert hits(root, "behind the shed", "--until", "2026-03-01") == []


def test_an_explanation_tells_each_signal_and_what_became_of_a_hit(root: Path) -> None:
    document = ask(root, "--json", "explain", "heron lake").json

    assert document["coverage"] == "supported"
    assert document["signals"] == ["fts"]
    assert [word["word"] for word in document["understood"]["words"]] == ["heron", "lake"]
    first = document["hits"][0]
    assert first["fate"] == "chosen"
    assert first["signals"]["fts"]["rank"] == 1
    parts = [found["contribution"] for found in first["signals"].values()]
    assert sum(parts) + sum(first["added"].values()) == pytest.approx(first["score"], abs=1e-5)


def test_an_explanation_of_an_empty_pack_says_what_is_missing(root: Path) -> None:
    document = ask(root, "--json", "explain", "the heron's zebra stripes in Kenya").json

    assert document["coverage"] == "none"
    assert "zebra" in document["missing"]
    assert {"name": "kenya", "known": False, "in": []} in document["entities"]
    assert {hit["fate"] for hit in document["hits"]} <= {"no_answer", "duplicate_or_deep"}
    assert "no_answer" in ask(root, "explain", "the heron's zebra stripes in Kenya").out


def test_a_person_reads_rank_score_text_and_source(root: Path) -> None:
    out = ask(root, "search", "heron lake", "--limit", "1").out

    assert "The heron stands in the lake." in out
    assert "/notes/note-1.txt" in out
