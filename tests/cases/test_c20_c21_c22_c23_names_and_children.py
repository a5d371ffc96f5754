"""Names are bytes, programs are kept from the terminal and from other files (C20 to C23)."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from PIL import Image
from support.cli import SCRIPT, invoke
from support.ingesting import Store
from support.media import ffmpeg, photo

SOUND = ("-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*440*t):d=1:s=16000")


def test_media_of_any_name_is_read_as_itself(store: Store, folder: Path) -> None:
    sound = ffmpeg(folder.parent / "sound.wav", *SOUND).read_bytes()
    names = [b"-x.wav", b"a:b.wav", b"x%03d.wav", b"new\nline.wav", b"caf\xe9.wav", b"#?.wav",
             "😀.wav".encode(), b"$(id).wav", b"'quote\".wav"]  # fmt: skip
    for number, name in enumerate(names):
        path = os.fsencode(folder) + b"/" + name
        Path(os.fsdecode(path)).write_bytes(sound + bytes(number))

    said = store.ingest(folder, "--until", "observe", "--type", "audio")

    assert (said["exit"], said["failed"], said["registered"]) == (0, [], len(names))
    assert {of["media_metadata"] for of in store.statuses().values()} == {"ok"}


def test_a_loop_over_media_keeps_its_own_standard_input(store: Store, folder: Path) -> None:
    for number, name in enumerate(("one.wav", "two.wav")):
        ffmpeg(folder / name, *SOUND, "-metadata", f"title={number}")
    script = (
        f"printf '%s\\n' one.wav two.wav | while read -r f; do '{SCRIPT}' -q --root "
        f"'{store.root}' ingest --until observe '{folder}'/\"$f\" >/dev/null; echo \"$f\"; done"
    )

    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["one.wav", "two.wav"]
    assert len(store.items()) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("playlist", "#EXTM3U\n#EXTINF:1,\n{secret}\n#EXT-X-ENDLIST\n"),
        ("film.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{secret}\n"),
        ("list.mkv", "ffconcat version 1.0\nfile '{secret}'\n"),
        ("stream.avi", "[playlist]\nFile1={secret}\nNumberOfEntries=1\n"),
        ("picture.png", '<svg xmlns="http://www.w3.org/2000/svg"><image href="{secret}"/></svg>'),
    ],
)
def test_a_list_that_names_other_files_is_text_and_opens_none(
    store: Store, folder: Path, name: str, text: str
) -> None:
    secret = ffmpeg(folder.parent / "secret.wav", *SOUND, "-metadata", "title=walrus")
    (folder / name).write_text(text.format(secret=secret))

    said = store.ingest(folder, "--until", "observe")

    assert (said["exit"], said["registered"]) == (0, 1)
    assert [item["family"] for item in store.items()] == ["text"]
    assert not any("walrus" in text for text in store.texts())


def test_names_that_are_not_utf8_pass_through_every_answer(store: Store, folder: Path) -> None:
    path = os.fsencode(folder) + b"/caf\xe9.txt"
    Path(os.fsdecode(path)).write_text("The spare key hangs in the shed.")

    assert store.ingest(folder)["exit"] == 0
    for command in (["list", "assets"], ["recall", "--format", "json", "spare key"], ["status"]):
        said = invoke("--root", store.root, "--json", *command)
        assert said.code == 0
        json.loads(said.out.encode("utf-8"))
    out = folder.parent / "archive.jsonl"
    assert invoke("--root", store.root, "--json", "export", out).code == 0
    assert out.read_bytes().decode("utf-8")


def test_half_a_character_in_a_chat_export_becomes_a_mark(store: Store, folder: Path) -> None:
    message = {"id": 1, "type": "message", "date": "2022-05-28T17:41:00", "from": "Bob",
               "text": "broken \\ud83d smile"}  # fmt: skip
    text = json.dumps({"name": "Bob", "type": "personal_chat", "id": 1, "messages": [message]})
    (folder / "result.json").write_text(text.replace("\\\\ud83d", "\\ud83d"))

    said = store.ingest(folder)

    assert said["exit"] == 0
    assert store.texts() == ["broken \ufffd smile"]
    assert invoke("--root", store.root, "recall", "broken smile").code == 0


def test_a_pattern_of_names_is_one_picture(store: Store, folder: Path) -> None:
    photo(1).save(folder / "x%03d.png")
    Image.new("RGB", (8, 8)).save(folder.parent / "x001.png")

    store.ingest(folder, "--until", "register")

    assert [(item["name"], item["media_type"]) for item in store.items()] == [
        ("x%03d.png", "image/png")
    ]
