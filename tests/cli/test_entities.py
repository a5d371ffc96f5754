"""``list entities`` and ``topics``, ``entities …``, and what a name leads recall to."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Answer, invoke

Run = Callable[..., Answer]


CHATS = {
    "one.txt": "2026-03-01 10:00 Ann Lee: The boat leaves on Friday\n"
    "2026-03-01 10:01 Bob: The train leaves on Friday\n"
    "2026-03-01 10:02 Carla: The plane leaves on Friday\n",
    "two.txt": "2026-04-01 10:00 Ann Lee: The tea is in the tin\n"
    "2026-04-01 10:05 Bob: The tea is gone\n",
    "card.vcf": "BEGIN:VCARD\nVERSION:3.0\nFN:Ann Lee\nNICKNAME:Auntie\nEMAIL:ann@example.org\n"
    "END:VCARD\n",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Take in the files once; each test works on a copy of the store."""
    folder = tmp_path_factory.mktemp("entities")
    (folder / "in").mkdir()
    for name, text in CHATS.items():
        (folder / "in" / name).write_text(text)
    said = invoke("--root", folder / "root", "ingest", folder / "in", "--no-embeddings")
    assert said.code == 0, said
    return folder


@pytest.fixture
def run(filled: Path, tmp_path: Path, home: Path) -> Run:
    shutil.copytree(filled / "root", tmp_path / "root")
    return lambda *arguments: invoke("--json", "--root", tmp_path / "root", *arguments)


def listed(run: Run, name: str) -> list[str]:
    items = run("list", "entities").json["items"]
    return [item["ref"] for item in items if item["name"] == name]


def test_entities_are_listed_by_kind_with_their_names(run: Run) -> None:
    people = run("list", "entities", "--entity-kind", "person").json

    assert sorted({item["name"] for item in people["items"]}) == ["Ann Lee", "Bob", "Carla"]
    assert run("list", "entities", "--entity-kind", "place").json["count"] == 0
    assert run("list", "entities", "--limit", 1).json["count"] == 1
    lines = run("list", "entities", "--jsonl").out.splitlines()
    assert json.loads(lines[-1]) == {"type": "summary", "count": people["count"]}


def test_an_entity_is_shown_with_its_evidence(run: Run) -> None:
    (ref,) = listed(run, "Carla")

    shown = run("show", ref).json

    assert (shown["object"], shown["kind"], shown["own"]) == ("entity", "person", False)
    (use,) = shown["evidence"]
    assert (use["name"], use["via"], use["file"]) == ("Carla", "author", "one.txt")
    assert run("show", use["observation"]).json["text"] == "The plane leaves on Friday"
    assert len(shown["episodes"]) == 1
    assert run("show", "entity:ent_nobody").code == 4


def test_proposals_wait_until_they_are_merged_or_kept_apart(run: Run) -> None:
    waiting = run("entities", "proposals").json
    assert {item["reason"] for item in waiting["items"]} == {"same_name"}
    bobs = next(item for item in waiting["items"] if item["sides"][0]["name"] == "Bob")
    pair = [side["ref"] for side in bobs["sides"]]

    assert run("entities", "apart", *pair).json["status"] == "kept apart"
    assert run("entities", "apart", *pair).json["status"] == "unchanged"
    planned = run("entities", "merge", "--all-proposed", "same_name", "--dry-run").json
    assert (planned["status"], planned["changed"]) == ("planned", 0)
    assert len(listed(run, "Ann Lee")) == 3

    done = run("entities", "merge", "--all-proposed", "same_name").json
    assert done["status"] == "merged"
    assert len(listed(run, "Ann Lee")) == 1
    assert len(listed(run, "Bob")) == 2
    assert run("entities", "proposals").json["count"] == 0
    assert run("entities", "merge", "--all-proposed", "same_name").json["status"] == "unchanged"


def test_a_merge_is_undone_by_a_split(run: Run) -> None:
    one, other, _ = listed(run, "Ann Lee")
    assert run("entities", "merge", one, other).json["status"] == "merged"
    assert run("entities", "merge", other, one).json["status"] == "unchanged"
    (merged,) = [item for item in run("list", "entities").json["items"] if item["merged"]]
    assert {merged["ref"], *merged["merged"]} == {one, other}
    assert run("show", other).json["id"] == run("show", one).json["id"]

    assert run("entities", "split", other).json["status"] == "split"
    assert run("entities", "split", other).json["status"] == "unchanged"
    assert len(listed(run, "Ann Lee")) == 3


def test_a_name_is_added_removed_and_made_an_entity_of_its_own(run: Run) -> None:
    (ref,) = listed(run, "Carla")
    assert run("entities", "alias", ref, "Charly").json["status"] == "name added"
    assert run("entities", "alias", ref, "Charly").json["status"] == "unchanged"
    assert run("entities", "alias", ref, "Charly", "--remove").json["status"] == "name removed"
    assert run("entities", "alias", ref, "Charly").json["status"] == "name added"

    parted = run("entities", "split", ref, "--name", "Charly").json

    assert parted["status"] == "split"
    assert parted["entities"][0] == [ref, *listed(run, "Charly")]
    assert run("entities", "split", ref, "--name", "Nobody").code == 4
    assert run("entities", "alias", ref, "Carla", "--remove").code == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("merge", "entity:ent_1"), 2),
        (("merge",), 2),
        (("split", "entity:ent_1"), 4),
        (("split", "candidate:cand_1"), 2),
        (("alias", "entity:ent_1", "Ann"), 4),
    ],
)
def test_what_names_no_entity_is_refused(run: Run, arguments: tuple[str, ...], code: int) -> None:
    assert run("entities", *arguments).code == code


def test_another_name_raises_what_was_said_under_the_first(run: Run) -> None:
    assert run("entities", "merge", "--all-proposed", "same_name").code == 0
    question = "What did Auntie say leaves on Friday?"

    explained = run("explain", question).json

    named = [step for step in explained["entity_path"] if step["named"]]
    assert [step["named"] for step in named] == ["auntie"]
    assert {"ann lee"} <= {name for step in explained["entity_path"] for name in step["names"]}
    leaving = [hit for hit in explained["hits"] if "leaves" in (hit["text"] or "")]
    leaving = [hit for hit in leaving if hit["plane"] == "observation"]
    assert leaving[0]["text"] == "The boat leaves on Friday"
    assert [hit["added"].get("entity", 0) > 0 for hit in leaving] == [True, False, False]


def test_a_question_that_names_nobody_is_left_as_it_was(run: Run) -> None:
    explained = run("explain", "What maybe leaves on Friday?").json

    assert explained["entity_path"] == []
    assert all("entity" not in hit["added"] for hit in explained["hits"])


def test_topics_are_who_is_named_together_again_and_again(run: Run) -> None:
    assert run("list", "topics").json["items"] == []
    assert run("entities", "merge", "--all-proposed", "same_name").code == 0

    (topic,) = run("list", "topics").json["items"]

    assert topic["label"].startswith(("Ann Lee, Bob", "Bob, Ann Lee"))
    assert topic["label_basis"] == "extractive"
    assert topic["count"] == len(topic["episodes"]) == 2
    assert run("show", topic["ref"]).json["id"] == topic["id"]
    assert run("list", "topics").json["items"] == [topic]


def test_people_stand_on_the_page_of_people(run: Run, tmp_path: Path) -> None:
    assert run("entities", "merge", "--all-proposed", "same_name").code == 0
    assert run("render", tmp_path / "pages").code == 0

    page = (tmp_path / "pages" / "people.md").read_text()

    assert "- Ann Lee, also ann@example.org, Auntie (`entity:ent_" in page


def test_a_second_run_finds_no_new_entity(run: Run, filled: Path) -> None:
    again = run("ingest", filled / "in", "--no-embeddings").json

    assert again["entities"] == 0
