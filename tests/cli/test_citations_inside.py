"""What lies inside of other files is cited by the whole way to it, with its file's origin."""

import json
import time
import zipfile
from email.message import EmailMessage
from typing import Any

import pytest
from support.cli import invoke
from support.documents import zipped
from support.ingesting import Store

WHEN = (2024, 5, 6, 7, 8, 10)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    top = tmp_path_factory.mktemp("inside")
    (top / "in").mkdir()
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@example.com", "Files"
    mail["Date"] = "Mon, 06 May 2024 09:00:00 +0200"
    mail.set_content("About the giraffe.")
    mail.add_attachment(zipped({"deep/secret.txt": "The zebra is in Osaka."}),
                        maintype="application", subtype="zip", filename="inner.zip")  # fmt: skip
    with zipfile.ZipFile(top / "in" / "outer.zip", "w") as outer:
        outer.writestr("box/mail.eml", mail.as_bytes())
        outer.writestr(zipfile.ZipInfo("plain/inner.txt", WHEN), "The elephant is in Kobe.")
        outer.writestr("plain/IMG_20230405_060708.txt", "The ostrich is in Nara.")
    made = Store(top / "root")
    made.ingest(top / "in", "--source", "drawer", "--origin", "third_party")
    return made


def citation(store: Store, word: str) -> dict[str, Any]:
    said = invoke("--root", store.root, "--json", "recall", "--no-semantic", word)
    found: dict[str, Any] = json.loads(said.out)["citations"][0]
    return found


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("elephant", "outer.zip » plain/inner.txt"),
        ("giraffe", "outer.zip » box/mail.eml"),
        ("zebra", "outer.zip » box/mail.eml » inner.zip » deep/secret.txt"),
    ],
)
def test_a_citation_names_every_container(store: Store, word: str, name: str) -> None:
    found = citation(store, word)

    assert found["name"] == name
    assert [one["member"] for one in found["within"]] == name.split(" » ")[1:]
    assert found["within"][0]["name"] == "outer.zip"
    assert found["origin"] == "third_party"
    assert name in invoke("--root", store.root, "recall", "--no-semantic", word).out


def test_hits_name_the_file_and_the_way_inside(store: Store) -> None:
    said = invoke("--root", store.root, "--json", "search", "--no-semantic", "zebra")
    (hit,) = json.loads(said.out)["hits"]

    assert hit["path"].endswith("/in/outer.zip")
    assert [one["member"] for one in hit["within"]][-1] == "deep/secret.txt"


def test_a_path_filter_reaches_what_is_inside(store: Store) -> None:
    path = store.root.parent / "in" / "outer.zip"
    said = invoke("--root", store.root, "recall", "--no-semantic", "--path", path, "zebra")

    assert "The zebra is in Osaka." in said.out


def test_deep_assets_keep_the_origin_and_source_of_their_file(store: Store) -> None:
    assert {item["origin"] for item in store.items()} == {"third_party"}
    assert {item["source"] for item in store.items()} == {"drawer"}
    assert {item["origin"] for item in store.items("observations")} == {"third_party"}


def test_members_are_episodes_of_their_own_as_in_a_folder(store: Store) -> None:
    titles = {item["title"] for item in store.items("episodes")}

    assert len(store.items("episodes")) == 4
    assert {"inner.txt", "secret.txt"} <= titles
    assert all(item["episode"] for item in store.items("observations"))


def test_the_times_of_a_member_are_those_of_its_name_and_of_the_archive(store: Store) -> None:
    times = {item["name"]: store.show(item["ref"])["captured"] for item in store.items()}

    assert times["inner.txt"]["local"] == "2024-05-06T07:08:10"
    assert times["inner.txt"]["utc"] is None
    assert (times["IMG_20230405_060708.txt"]["source"], times["inner.txt"]["source"]) == (
        "file_name",
        "mtime",
    )
    assert citation(store, "zebra")["captured_at"] < time.strftime("%Y-%m-%dT%H:%M:%S")
