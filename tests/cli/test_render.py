"""Pages for people: rebuilt from the ledger, stable, safe to delete, safe to read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli import Answer, invoke
from support.remembering import Talk

from muniment.pipeline.memory.projections import plain


@pytest.fixture
def talk(tmp_path: Path, home: Path) -> Iterator[Talk]:
    assert invoke("--root", tmp_path / "root", "init").code == 0
    made = Talk(tmp_path / "root")
    yield made
    made.store.close()


def render(talk: Talk, folder: Path, *flags: str) -> Answer:
    return invoke("--json", "--root", talk.store.root.path, "render", folder, *flags)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in sorted(folder.rglob("*.md"))
    }


def fill(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    talk.say("Always answer in metric units.", "2024-05-01")
    talk.say("Remind me on 2027-03-05 to renew the passport.", "2024-05-01")
    talk.say("I like tea.", "2024-05-01", origin="third_party", author="Bob", role=None)
    (waiting,) = talk.memory.candidates("c.status = 'pending'")
    invoke("--root", talk.store.root.path, "candidates", "approve", f"candidate:{waiting['id']}")
    talk.store.episode([talk.passage("At the sea.", "2024-07-03").observation])


def test_each_page_says_what_it_is_for(talk: Talk, tmp_path: Path) -> None:
    fill(talk)

    said = render(talk, tmp_path / "pages")

    pages = contents(tmp_path / "pages")
    assert said.json["status"] == "done"
    assert said.json["written"] == [
        "profile.md", "tasks.md", "people.md", "timeline.md", *list(pages)[:1]
    ]  # fmt: skip
    assert next(iter(pages)).startswith("episodes/")
    assert "- I live in Paris (since 2024-05-01" in pages["profile.md"]
    assert "Rome" not in pages["profile.md"]
    assert "## Instructions" in pages["profile.md"]
    assert "passport (due 2027-03-05" in pages["tasks.md"]
    assert "- “I like tea” (since 2024-05-01, third party" in pages["people.md"]
    assert "2020-05-01 to 2024-05-01: home = Rome" in pages["timeline.md"]


def test_the_same_ledger_gives_the_same_pages_and_says_so(talk: Talk, tmp_path: Path) -> None:
    fill(talk)
    render(talk, tmp_path / "pages")
    before = contents(tmp_path / "pages")

    again = render(talk, tmp_path / "pages")

    assert (again.json["status"], again.json["written"]) == ("unchanged", [])
    render(talk, tmp_path / "elsewhere")
    assert contents(tmp_path / "elsewhere") == contents(tmp_path / "pages") == before


def test_pages_may_be_deleted_and_stale_ones_go(talk: Talk, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    fill(talk)
    render(talk, folder)
    before = contents(folder)
    (folder / "profile.md").unlink()
    (folder / "episodes" / "mine.md").write_text("mine", "utf-8")
    (folder / "episodes" / "1999-01.md").write_text(before["timeline.md"], "utf-8")

    planned = render(talk, folder, "--dry-run")
    assert (planned.json["written"], planned.json["removed"]) == (
        ["profile.md"], ["episodes/1999-01.md"]
    )  # fmt: skip
    assert not (folder / "profile.md").exists()
    render(talk, folder)

    assert (folder / "episodes" / "mine.md").read_text("utf-8") == "mine"
    (folder / "episodes" / "mine.md").unlink()
    assert contents(folder) == before


def test_a_file_of_somebody_elses_is_not_overwritten(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tasks.md").write_text("my own", "utf-8")

    said = render(talk, tmp_path / "pages")

    assert (said.code, said.json["error"]["code"]) == (2, "not_ours")
    assert contents(tmp_path / "pages") == {"tasks.md": "my own"}


def test_nothing_is_written_into_the_store(talk: Talk) -> None:
    said = render(talk, talk.store.root.path / "store" / "pages")

    assert (said.code, said.json["error"]["code"]) == (2, "bad_folder")


HOSTILE = "![x](http://evil) <script>a</script> [a](b) `c` **d**\n# Heading\n---\n| t |\n~~s~~"


def test_words_from_others_can_not_shape_a_page(talk: Talk, tmp_path: Path) -> None:
    forged: dict[str, Any] = {"text": HOSTILE, "valid_at": None}
    talk.claim("note", "x", "2024-05-01", **forged)
    talk.store.episode([talk.passage(HOSTILE, "2024-07-03").observation])

    render(talk, tmp_path / "pages")

    for text in contents(tmp_path / "pages").values():
        body = text.split("-->", 1)[1]
        assert "<script>" not in body
        assert "](" not in body.replace("\\](", "").replace("\\]\\(", "")
        assert "\n# Heading" not in body
        assert "**d**" not in body


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("1. a", "1\\. a"),
        ("2026-03-01", "2026-03-01"),
        ("a\n# b", "a \\# b"),
        ("[a](b)", "\\[a\\]\\(b\\)"),
        ("<b>&amp;", "\\<b\\>\\&amp;"),
        ("\x1b[31mred", "\\\\x1b\\[31mred"),
        ("住在上海", "住在上海"),
    ],
)
def test_plain_words_show_as_they_are(words: str, shown: str) -> None:
    assert plain(words) == shown
