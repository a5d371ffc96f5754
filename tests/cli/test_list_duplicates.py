"""What is there more than once is listed with how often and why; nothing is merged."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.cli import invoke
from support.documents import zipped
from support.ingesting import Store
from support.media import ffmpeg, photo

TALK = (
    "13/01/2024, 10:30 - Ana: Happy new year everyone\n13/01/2024, 10:31 - Bo: thanks\n"
    "14/01/2024, 10:30 - Ana: happy new year everyone\n"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    top = tmp_path_factory.mktemp("twice")
    folder = top / "in"
    folder.mkdir()
    photo(3, (640, 480)).save(folder / "a.jpg", quality=95)
    photo(3, (640, 480)).resize((320, 240)).save(folder / "b.jpg", quality=60)
    photo(9, (640, 480)).save(folder / "other.jpg")
    for colour in ("blue", "white"):
        Image.new("RGB", (64, 64), colour).save(folder / f"{colour}.png")
    for name in ("n1.txt", "n2.txt"):
        (folder / name).write_text("the same words")
    (folder / "z.zip").write_bytes(zipped({"d/n3.txt": "the same words"}))
    (folder / "chat.txt").write_text(TALK)
    tones = "aevalsrc='0.3*sin(2*PI*(300+200*floor(mod(t*3,5)))*t)+0.05*random(0)':d=12:s=22050"
    whole = ffmpeg(folder / "a.wav", "-f", "lavfi", "-i", tones)
    ffmpeg(folder / "a.mp3", "-i", str(whole), "-b:a", "48k", "-ar", "16000")
    made = Store(top / "root")
    made.ingest(folder, "--until", "observe")
    return made


def by_reason(store: Store) -> dict[str, dict[str, Any]]:
    return {item["reason"]: item for item in store.items("duplicates")}


def test_each_group_has_its_reason_count_and_members(store: Store) -> None:
    found = by_reason(store)

    assert {reason: item["count"] for reason, item in found.items()} == {
        "exact": 3, "near_image": 2, "re_encoded": 2, "repeated_message": 2,
    }  # fmt: skip
    names = {reason: {Path(one["name"]).name for one in item["members"]}
             for reason, item in found.items()}  # fmt: skip
    assert names["exact"] == {"n1.txt", "n2.txt", "n3.txt"}
    assert names["near_image"] == {"a.jpg", "b.jpg"}
    assert names["re_encoded"] == {"a.wav", "a.mp3"}
    assert found["exact"]["members"][-1]["name"] == "z.zip » d/n3.txt"


def test_every_member_is_still_an_object_of_its_own(store: Store) -> None:
    for item in store.items("duplicates"):
        for member in item["members"]:
            assert store.show(member["ref"])["ref"].endswith(member["ref"])


def test_a_person_reads_one_line_a_group(store: Store) -> None:
    said = invoke("--root", store.root, "list", "duplicates")

    assert len(said.out.splitlines()) == 4
    assert "near_image  a.jpg, b.jpg" in said.out


def test_a_file_that_has_changed_since_is_no_duplicate(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("the same")
    made = Store(tmp_path / "root")
    made.ingest(tmp_path / "a.txt", tmp_path / "b.txt", "--until", "register")
    assert len(made.items("duplicates")) == 1

    (tmp_path / "b.txt").write_text("another")
    made.ingest(tmp_path / "b.txt", "--until", "register")

    assert made.items("duplicates") == []
