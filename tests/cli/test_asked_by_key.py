"""A fact is found by what its key is asked for by, whatever words it was said in."""

from pathlib import Path
from typing import Any

import pytest
from support.cli import invoke

SAID = (
    "I live in Oslo.", "I moved to Bergen.", "I work at Acme.", "My birthday is May 3.",
    "我对花生过敏。",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    root = tmp_path / "root"
    assert invoke("--root", root, "init").code == 0
    for text in SAID:
        said = invoke("--root", root, "--session", "s", "session", "append", text)
        assert said.code == 0, said
    return root


def answered(root: Path, question: str) -> tuple[str, list[str]]:
    """Return the coverage of a question and the texts of the records that answer it."""
    said = invoke("--json", "--root", root, "recall", "-q", question)
    assert said.code == 0, said
    pack: dict[str, Any] = said.json
    (records,) = (one for one in pack["sections"] if one["name"] == "records")
    return pack["coverage"], [item["text"] for item in records["items"]]


@pytest.mark.parametrize(
    ("question", "record"),
    [
        ("Where do I live?", "I moved to Bergen"),
        ("我住在哪里？", "I moved to Bergen"),
        ("What is my job?", "I work at Acme"),
        ("When was I born?", "My birthday is May 3"),
        ("What am I allergic to?", "我对花生过敏"),
    ],
)
def test_a_question_about_oneself_finds_the_fact_that_holds(
    root: Path, question: str, record: str
) -> None:
    assert answered(root, question) == ("supported", [record])


@pytest.mark.parametrize("question", ["Which company builds rockets?", "When was Ann born?"])
def test_a_question_about_another_is_not_answered_by_it(root: Path, question: str) -> None:
    coverage, records = answered(root, question)

    assert coverage == "none"
    assert records == []


def test_to_remember_is_not_to_live_somewhere(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "root"
    invoke("--root", root, "init")
    invoke("--root", root, "--session", "s", "session", "append", "请记住：我的猫叫小黑。")

    assert answered(root, "我住在哪里？") == ("none", [])
    assert answered(root, "我的猫叫什么？")[1] == ["请记住：我的猫叫小黑"]
