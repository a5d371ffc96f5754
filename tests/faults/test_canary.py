"""A unique sentence and picture, put in by every route, erased, then searched byte by byte."""

import json
import sqlite3
import wave
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from support.cli import Answer, invoke
from support.sounds import RATE, speech

WORD = "zanzibarquokka"
SENTENCE = f"The {WORD} sings at midnight by the violet lighthouse."
# What must be in no file afterwards, in any spelling of case.
TRACES = (WORD.encode(), b"violet lighthouse", b"ZANZIBARQUOKKA")
Run = Callable[..., Answer]


def picture() -> bytes:
    """Draw the sentence large enough to be read, over noise that no other picture has."""
    image = Image.effect_noise((900, 160), 60).convert("RGB")
    draw = ImageDraw.Draw(image)
    draw.rectangle((10, 40, 890, 120), fill="white")
    draw.text((30, 55), f"{WORD.upper()} 7351", fill="black", font=ImageFont.load_default(48))
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "ann@example.org", "bob@example.org"
    message["Subject"], message["Date"] = "Birds", "Mon, 02 Mar 2026 10:00:00 +0000"
    message.set_content("See the attachment.")
    message.add_attachment(SENTENCE, filename=f"{WORD}.txt")
    return message.as_bytes()


def archive() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
        made.writestr(f"inner/{WORD}.txt", SENTENCE)
        made.writestr("inner/other.txt", "The heron stands in the reeds.")
    return out.getvalue()


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in" / WORD
    folder.mkdir(parents=True)
    (folder / "note.txt").write_text(SENTENCE)
    lines = "\n".join(f"Leaf {n} floats to the sea." for n in range(4_000))
    (folder / "long.txt").write_text(f"{lines}\n\n{SENTENCE}\n")
    (folder / "chat.txt").write_text(
        f"2026-03-01 10:00 Ann: Hello\n2026-03-01 10:05 Bob: {SENTENCE}\n"
    )
    (folder / "film.srt").write_text(f"1\n00:00:01,000 --> 00:00:04,000\n{SENTENCE}\n")
    (folder / "picture.png").write_bytes(picture())
    (folder / "letter.eml").write_bytes(mail())
    (folder / "members.zip").write_bytes(archive())
    (tmp_path / "in" / "other.txt").write_text("My name is Ada. The river carries leaves.")
    return tmp_path / "in"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name, folder in (("ROOT", "root"), ("CACHE", "cache")):
        monkeypatch.setenv(f"MUNIMENT_{name}", str(tmp_path / folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return lambda *arguments, stdin=b"": invoke("--json", *arguments, stdin=stdin)


def holding(*folders: Path) -> list[str]:
    """Return every file that holds a trace, in its bytes or in its name."""
    found = []
    for folder in folders:
        for path in folder.rglob("*"):
            held = path.is_file() and any(one in path.read_bytes() for one in TRACES)
            found += [str(path)] if held or WORD in str(path.relative_to(folder)) else []
    return found


def put_in_by_every_route(run: Run, inputs: Path) -> dict[str, str]:
    """Put the sentence in; return the references of what the routes made."""
    assert run("ingest", inputs, "--no-embeddings").code == 0
    said = run("remember", f"Remember that my job is {SENTENCE}").json
    better = f"My job is {SENTENCE[:-1]} and at noon."
    corrected = run("correct", said["records"][0], "--text", better)
    assert corrected.code == 0, corrected
    event = {"event_id": WORD, "role": "user", "text": SENTENCE, "session": f"s-{WORD}"}
    fragment = {**event, "event_id": f"{WORD}-2", "category": "voice_fragment", "final": False}
    lines = "\n".join(json.dumps(one) for one in (event, fragment))
    assert run("session", "append", "-", stdin=lines.encode()).code == 0
    claim = {"text": SENTENCE, "quote": SENTENCE, "ref": f"event:{WORD}", "kind": "fact"}
    proposal = json.dumps({"proposal": claim}).encode()
    assert run("turn", "complete", "-", "--agent", "helper", stdin=proposal).code == 0
    assert WORD in run("candidates", "list").out
    goal = json.dumps({"goal": f"Find out why {SENTENCE}"})
    assert run("session", "append", "Hello.", "--session", "plain").code == 0
    saved = run("checkpoint", "save", "-", "--session", "plain", stdin=goal.encode())
    assert saved.code == 0, saved
    assert run("persona", "set", f"Knows that {SENTENCE}").code == 0
    return {"record": said["records"][0], "session": f"session:s-{WORD}"}


def test_an_erased_sentence_is_in_no_byte_and_no_answer(
    run: Run, inputs: Path, tmp_path: Path
) -> None:
    refs = put_in_by_every_route(run, inputs)
    root, repository = tmp_path / "root", tmp_path / "backup"
    assert holding(root)
    assert WORD in run("recall", WORD).out
    assert run("backup", "create", repository).code == 0
    assert holding(repository)

    named = [refs["record"], refs["session"], "persona:1", str(inputs / WORD)]
    done = run("forget", "--hard", "--yes", *named)

    assert (done.code, done.json["clean"]) == (0, True), done.out
    assert run("backup", "forget", repository).code == 0
    assert run("export", tmp_path / "archive.jsonl", "--with-originals").code == 0
    archived = [tmp_path / "archive.jsonl"]
    left = holding(root, repository, tmp_path / "cache", tmp_path / "state")
    assert left + [str(one) for one in archived if WORD.encode() in one.read_bytes()] == []
    nothing_answers(run, refs["record"])
    assert run("verify").json["findings"] == []
    assert run("backup", "verify", repository).code == 0
    assert "Ada" in run("list", "observations").out
    everything_in_tables_is_clean(root)


def nothing_answers(run: Run, record: str) -> None:
    """Ask every reading command; the question itself is echoed and does not count."""
    for kind in ("assets", "observations", "episodes", "candidates", "records", "sessions", "runs",
                 "tombstones", "entities"):  # fmt: skip
        assert WORD not in run("list", kind).out, kind
    pack = run("recall", WORD).json
    assert WORD not in json.dumps([pack["sections"], pack["citations"]])
    assert pack["coverage"] == "none"
    explained = run("explain", "who sings at midnight by the lighthouse")
    assert WORD not in explained.out
    for command in (["search", "sings at midnight"], ["timeline", "job"], ["history", record],
                    ["candidates", "list"], ["persona", "show"], ["session", "show", "plain"],
                    ["session", "resume", "plain"], ["checkpoint", "show", "plain"],
                    ["status"]):  # fmt: skip
        assert WORD not in run(*command).out, command


def everything_in_tables_is_clean(root: Path) -> None:
    """Read every cell of every database, too: a compressed page would hide its bytes."""
    for path in root.rglob("*.sqlite3"):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        dump = [
            row
            for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if not table.startswith(("fts", "sqlite_", "vocabulary"))
            for row in database.execute(f'SELECT * FROM "{table}"')
        ]
        database.close()
        assert WORD not in repr(dump)


def test_what_was_erased_is_in_no_later_backup(run: Run, inputs: Path, tmp_path: Path) -> None:
    assert run("ingest", inputs, "--no-embeddings", "--exclude", "*.png").code == 0
    assert run("forget", "--hard", "--yes", inputs / WORD).code == 0

    assert run("backup", "create", tmp_path / "backup").code == 0

    assert holding(tmp_path / "backup") == []


def test_erased_speech_is_in_no_byte_and_no_answer(run: Run, tmp_path: Path) -> None:
    words = "The keeper painted eleven purple elephants on the harbour wall."
    sound = np.clip(speech(words) * 32767, -32768, 32767).astype("<i2").tobytes()
    folder = tmp_path / "in"
    folder.mkdir()
    with wave.open(str(folder / "talk.wav"), "wb") as made:
        made.setparams((1, 2, RATE, 0, "NONE", "not compressed"))
        made.writeframes(sound)
    assert run("ingest", folder, "--no-embeddings").code == 0
    heard = next(one for one in run("list", "observations").json["items"] if one["kind"] == "asr")
    phrase = heard["text"]
    assert "purple elephant" in phrase.lower()
    piece = sound[len(sound) // 2 :][:64]
    assert any(piece in path.read_bytes() for path in (tmp_path / "root").rglob("*")
               if path.is_file())  # fmt: skip

    done = run("forget", "--hard", "--yes", heard["ref"])

    assert (done.code, done.json["clean"]) == (0, True), done.out
    for path in (*(tmp_path / "root").rglob("*"), *(tmp_path / "cache").rglob("*")):
        content = path.read_bytes().lower() if path.is_file() else b""
        assert b"purple elephant" not in content, path
        assert piece.lower() not in content, path
    assert run("list", "observations").json["count"] == 0
    assert run("recall", "purple elephants").json["coverage"] == "none"
