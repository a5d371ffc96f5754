"""Precision and recall of what activates by itself, on sentences written for this project.

``sentences.jsonl`` holds statements, and as many traps: negation, question, hypothetical, sarcasm,
third person, quoted words and words read out of media. Nothing but the statements may become
memory. The figures stand in docs/explanation/memory.md; this test holds the page to them.
``held_out.jsonl`` holds 60 more that were written after the rules, before any of them was tried.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from muniment.pipeline.policy import Policy, judge
from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.rules import RulesProposer


def sentences(name: str) -> list[dict[str, Any]]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


SENTENCES, HELD_OUT = sentences("sentences.jsonl"), sentences("held_out.jsonl")
SAID = {"utc": "2026-03-10T09:00:00.000000Z", "local": None, "precision": "second"}
LEAST_PRECISION, LEAST_RECALL = 0.97, 0.9


class Score(NamedTuple):
    """What activated and was meant to, what was not, what was missed."""

    right: int
    wrong: list[str]
    missed: list[str]

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + len(self.missed))


def activated(sentence: dict[str, Any]) -> list[CandidateDraft]:
    media = sentence["class"] == "media"
    passage = Passage(
        "obs_1", sentence["text"], "ocr" if media else "message", "user",
        None if media else "user", occurred=SAID, confidence=0.99,
    )  # fmt: skip
    drafts = RulesProposer().propose([passage])
    return [draft for draft in drafts if judge(draft, passage, Policy()).status == "active"]


def matches(wanted: dict[str, str], draft: CandidateDraft) -> bool:
    if "kind" in wanted:
        return draft.kind == wanted["kind"]
    return (draft.key, draft.value) == (wanted["key"], wanted["value"])


def score(sentences: list[dict[str, Any]]) -> Score:
    right, wrong, missed = 0, [], []
    for sentence in sentences:
        left = activated(sentence)
        for wanted in sentence["expected"]:
            found = next((draft for draft in left if matches(wanted, draft)), None)
            if found is None:
                missed.append(f"{sentence['text']} -> {wanted}")
            else:
                left.remove(found)
                right += 1
        wrong += [f"{sentence['text']} -> {d.kind} {d.key}={d.value}" for d in left]
    return Score(right, wrong, missed)


def test_the_set_is_large_and_half_of_it_is_chinese_and_half_are_traps() -> None:
    count = Counter((one["language"], bool(one["expected"])) for one in SENTENCES)

    assert len(SENTENCES) >= 300
    assert min(count.values()) >= 75
    assert len({one["text"] for one in SENTENCES}) == len(SENTENCES) - _SHOWN_TWICE
    assert {
        "negation",
        "question",
        "hypothetical",
        "sarcasm",
        "third_person",
        "quoted",
        "media",
    } < {one["class"] for one in SENTENCES}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_activates_is_meant_and_what_is_meant_activates(language: str) -> None:
    found = score([one for one in SENTENCES if one["language"] == language])

    lines = [f"{language}: precision {found.precision:.3f}, recall {found.recall:.3f}"]
    lines += [f"  wrong: {one}" for one in found.wrong] + [f"  missed: {m}" for m in found.missed]
    sys.stdout.write("\n".join(lines) + "\n")  # shown by ``pytest -s``
    assert found.precision >= LEAST_PRECISION, found.wrong
    assert found.recall >= LEAST_RECALL, found.missed


def test_of_sentences_held_out_no_trap_activates_and_most_statements_do() -> None:
    traps = [one for one in HELD_OUT if not one["expected"]]
    found = score(HELD_OUT)

    assert len(HELD_OUT) == 60
    assert len(traps) == 30
    assert score(traps).wrong == []
    assert found.precision >= 0.93, found.wrong
    assert found.recall >= LEAST_RECALL, found.missed


# Some statements stand again among the words read out of media.
_SHOWN_TWICE = len([1 for one in SENTENCES if one["class"] == "media"]) - len(
    {one["text"] for one in SENTENCES if one["class"] == "media"}
    - {one["text"] for one in SENTENCES if one["class"] != "media"}
)
