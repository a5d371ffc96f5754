"""The time of the shot, in the zone that is known and in no other (C14, C15, C16)."""

import os
from pathlib import Path

import pytest
from PIL import Image
from support.cli import execute
from support.ingesting import Store
from support.media import ffmpeg, findings, photo

from muniment.adapters.ports import TimeClaim

ORIGINAL, MODIFIED, OFFSET, OFFSET_ORIGINAL = 0x9003, 0x0132, 0x9010, 0x9011
EXIF_FOLDER = 0x8769


def shot(path: Path, **tags: str) -> Path:
    exif = Image.Exif()
    numbers = {"original": ORIGINAL, "offset": OFFSET, "offset_original": OFFSET_ORIGINAL}
    exif.get_ifd(EXIF_FOLDER).update({numbers[name]: value for name, value in tags.items()})
    photo(1).save(path, exif=exif.tobytes())
    return path


def claims(reader: str, path: Path) -> list[TimeClaim]:
    return [found for found in findings(reader, path) if isinstance(found, TimeClaim)]


def test_the_offset_of_the_shot_wins_over_that_of_the_edit(tmp_path: Path) -> None:
    path = shot(
        tmp_path / "a.jpg", original="2024:05:01 10:00:00", offset="+01:00",
        offset_original="+02:00",
    )  # fmt: skip

    (claim,) = claims("picture", path)

    assert (claim.source, claim.moment.offset) == ("exif_offset", "+02:00")
    assert claim.moment.utc == "2024-05-01T08:00:00.000000Z"


def test_the_offset_of_the_edit_alone_gives_no_zone(tmp_path: Path) -> None:
    path = shot(tmp_path / "a.jpg", original="2024:05:01 10:00:00", offset="+01:00")

    (claim,) = claims("picture", path)

    assert (claim.source, claim.moment.utc, claim.moment.offset) == ("exif", None, None)
    assert (claim.moment.local or "").startswith("2024-05-01T10:00:00")


@pytest.mark.parametrize("unset", ["0000:00:00 00:00:00", "1970:01:01 00:00:00", "  :  :  "])
def test_a_clock_that_was_never_set_tells_no_time(tmp_path: Path, unset: str) -> None:
    assert claims("picture", shot(tmp_path / "a.jpg", original=unset)) == []


@pytest.mark.parametrize(
    ("tags", "utc", "offset"),
    [
        (("creation_time=2024-05-01T10:00:00Z",), "2024-05-01T10:00:00.000000Z", "+00:00"),
        (("creation_time=1970-01-01T00:00:00Z",), None, None),
        (("creation_time=1904-01-01T00:00:00Z",), None, None),
    ],
)
def test_the_time_of_a_container_is_utc(
    tmp_path: Path, tags: tuple[str, ...], utc: str | None, offset: str | None
) -> None:
    path = ffmpeg(
        tmp_path / "a.mp4", "-f", "lavfi", "-i", "testsrc=s=64x48:r=5:d=1",
        *(part for tag in tags for part in ("-metadata", tag)),
    )  # fmt: skip

    told = [(one.moment.utc, one.moment.offset) for one in claims("media_metadata", path)]

    assert told == ([] if utc is None else [(utc, offset)])


def test_the_same_bytes_give_the_same_answer_in_every_zone(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "chat.txt").write_text(
        "28/05/2022, 17:41 - Bob: Look at this\n28/05/2022, 17:42 - Ann: Lovely harbour\n"
    )
    (folder / "2022-05-28 17.40.00 note.txt").write_text("The lease ends in June.")
    for path in folder.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    said = {}
    for zone in ("UTC", "Asia/Shanghai"):
        environment = {
            "TZ": zone,
            "MUNIMENT_ROOT": str(tmp_path / zone.replace("/", "-")),
            "MUNIMENT_CACHE": str(tmp_path / "cache"),
        }
        run = execute("ingest", "--no-embeddings", folder, environment=environment)
        assert run.code == 0
        listed = execute("--json", "list", "episodes", environment=environment).json["items"]
        why = [
            execute("--json", "show", "--why-time", path, environment=environment).json
            for path in sorted(folder.iterdir())
        ]
        said[zone] = [[{**item, "created_at": ""} for item in listed], why]

    assert said["UTC"] == said["Asia/Shanghai"]


def test_why_a_time_was_chosen_is_told_claim_by_claim(store: Store, folder: Path) -> None:
    path = folder / "2022-05-28 17.40.00 note.txt"
    path.write_text("The lease ends in June.")
    store.ingest(folder)

    told = store.show(path, "--why-time")

    assert [claim["source"] for claim in told["claims"]] == ["file_name", "mtime"]
    assert told["chosen"] == told["claims"][0]
    assert (told["chosen"]["utc"], told["chosen"]["zone"][:7]) == (None, "unknown")
    assert told["chosen"]["chosen"] is True
    assert told["claims"][1]["why"] == "mtime ranks behind file_name"
    observation = store.items("observations")[0]["ref"]
    assert store.show(observation, "--why-time")["chosen"] == told["chosen"]


def test_a_messages_own_time_comes_before_that_of_its_file(store: Store, folder: Path) -> None:
    (folder / "chat.txt").write_text(
        "28/05/2022, 17:41 - Bob: Look at this\n28/05/2022, 17:42 - Ann: Lovely harbour\n"
    )
    store.ingest(folder)
    observation = store.items("observations")[0]["ref"]

    told = store.show(observation, "--why-time")

    assert told["chosen"]["source"] == "own"
    assert told["chosen"]["local"] == "2022-05-28T17:41"
