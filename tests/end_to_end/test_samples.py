"""The main job on real media with real models: ingest, again, recall, show, verify."""

import json
import re
from pathlib import Path

import pytest
from end_to_end.conftest import NAMES, Ingested

ROW = re.compile(
    r"^\| (?P<question>[^|]+) \| (?P<answer>[^|]+) \| `(?P<file>[^`]+)` \|", re.MULTILINE
)


def expected(samples: Path) -> list[tuple[str, str, str]]:
    text = (samples / "README.md").read_text("utf-8")
    table = text.partition("## Expected answers")[2]
    return [(m["question"], m["answer"], m["file"]) for m in ROW.finditer(table)]


def test_every_sample_is_read_without_a_failure(ingested: Ingested) -> None:
    said = ingested.said.json

    assert ingested.said.code == 0, ingested.said.err
    assert (said["scanned"], said["registered"]) == (len(NAMES), len(NAMES))
    assert (said["failed"], said["standing_failures"]) == ([], 0)
    assert said["embedded"] >= said["observations"]
    assert ingested.said.err == ""


def test_a_second_run_finds_nothing_new_and_changes_nothing(
    ingested: Ingested, samples: Path
) -> None:
    said = ingested.run("--json", "ingest", *(samples / name for name in NAMES)).json

    zero = ("registered", "duplicates", "observed", "observations", "episodes", "candidates",
            "records", "indexed", "embedded")  # fmt: skip
    assert [said[name] for name in zero] == [0] * len(zero)
    assert said["unchanged"] == len(NAMES)


def test_every_expected_answer_is_found_in_its_file(ingested: Ingested, samples: Path) -> None:
    rows = expected(samples)
    missed = []
    for question, answer, file in rows:
        pack = ingested.run("recall", "--format", "json", question).json
        if file not in {citation["name"] for citation in pack["citations"]}:
            missed.append((question, answer, file, pack["coverage"]))

    assert len(rows) >= 15
    assert missed == []


def test_what_nobody_wrote_down_is_not_answered(ingested: Ingested) -> None:
    pack = ingested.run("recall", "--format", "json", "What is the captain's cabin number?").json

    assert (pack["coverage"], pack["citations"]) == ("none", [])


def test_an_explicit_statement_in_a_chat_becomes_a_cited_record(ingested: Ingested) -> None:
    records = ingested.run("--json", "list", "records").json["items"]

    allergy = next(record for record in records if record["key"] == "allergy")
    assert allergy["status"] == "active"
    assert "芒果" in allergy["text"]
    quote = allergy["evidence"][0]
    message = ingested.run("--json", "show", f"observation:{quote['observation']}").json
    assert message["text"][quote["start"] : quote["end"]] == quote["quote"]
    assert message["author"] == "林梅"


@pytest.mark.parametrize(
    ("name", "kind", "locator"),
    [("note.md", "text", "char"), ("chat-zh.txt", "message", "message"),
     ("whiteboard.png", "ocr", "bbox"), ("memo.ogg", "asr", "time"),
     ("standup.mp4", "asr", "time"), ("standup.mp4", "ocr", "frame"),
     ("letter-scan.pdf", "ocr", "page")],
)  # fmt: skip
def test_each_sample_gives_observations_with_its_locator(
    ingested: Ingested, samples: Path, name: str, kind: str, locator: str
) -> None:
    said = ingested.run(
        "list", "observations", "--asset", samples / name, "--observation-kind", kind, "--jsonl"
    )
    *rows, summary = [json.loads(line) for line in said.out.splitlines()]

    assert summary == {"type": "summary", "count": len(rows)}
    assert rows
    assert {row["locator"]["type"] for row in rows} == {locator}


def test_a_slide_is_cited_at_the_second_it_appears(ingested: Ingested, samples: Path) -> None:
    said = ingested.run(
        "--json", "list", "observations", "--asset", samples / "standup.mp4",
        "--observation-kind", "ocr",
    )  # fmt: skip
    second = [row for row in said.json["items"] if "Rosa Alvarez" in row["text"]]

    assert second
    assert abs(second[0]["locator"]["at_ms"] - 6_000) <= 50


def test_the_store_verifies_and_a_rebuilt_index_gives_the_same_answers(ingested: Ingested) -> None:
    question = ("recall", "--format", "json", "What is the invoice number of the plumber?")
    before = ingested.run(*question).json
    assert ingested.run("verify").code == 0

    assert ingested.run("reindex", "--no-embeddings").code == 0

    after = ingested.run(*question).json
    assert after["sections"] == before["sections"]
    assert after["citations"] == before["citations"]


@pytest.mark.parametrize("name", ["whiteboard.png", "letter-scan.pdf", "standup.mp4", "memo.ogg"])
def test_what_is_cited_can_be_taken_out(
    ingested: Ingested, samples: Path, tmp_path: Path, name: str
) -> None:
    said = ingested.run("--json", "list", "observations", "--asset", samples / name)
    kinds = {"ocr", "asr"}
    row = next(row for row in said.json["items"] if row["kind"] in kinds)

    done = ingested.run("--json", "show", row["ref"], "--extract", tmp_path / "part")

    assert done.code == 0, done.err
    assert (tmp_path / "part").stat().st_size == done.json["extracted"]["bytes"] > 0
