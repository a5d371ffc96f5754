"""The same hostile inputs in real files, through the whole flow and out by the tools of an agent.

Every channel is a file as a stranger would send it: pictures that are read, subtitles, names,
tags, mail, archives, documents, sessions and transcripts of other hosts.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from support.agents import Agent, lines
from support.documents import docx, paragraph, zipped
from support.injections import NAMES, SECRET, check, text, word
from support.media import ffmpeg
from support.pdf_builder import build
from support.pdf_builder import text as pdf_text

from muniment.pipeline.options import Session
from muniment.pipeline.serving.tools import Tools

NUMBERS = range(len(NAMES))
FEW = range(0, len(NAMES), 9)  # for what costs seconds: pictures, sound
_DESCRIPTION = 0x010E
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title>'
    "</cp:coreProperties>"
)


def _clean(said: str) -> str:
    """Return what XML can hold of a text, escaped."""
    kept = "".join(c for c in said if c in "\t\n" or ord(c) >= 0x20)
    return kept.replace("&", "&amp;").replace("<", "&lt;")


def _name(said: str) -> str:
    return said.replace("/", "_").replace("\0", "")[:60]


def _subtitles(folder: Path) -> None:
    cues = [f"{n + 1}\n00:{n:02d}:01,000 --> 00:{n:02d}:05,000\n{_lines(text(n, 'cue'))}\n"
            for n in NUMBERS]  # fmt: skip
    (folder / "film.srt").write_text("\n".join(cues), "utf-8")


def _lines(said: str) -> str:
    """Return a text without the empty lines that would end a cue."""
    return "\n".join(line for line in said.splitlines() if line.strip())


def _names(folder: Path) -> None:
    for n in NUMBERS:
        (folder / f"{_name(text(n, 'name'))}.txt").write_text(f"The pier is {word(n, 'name')}.")


def _mail(folder: Path) -> None:
    box = [
        f"From nobody Mon Mar  2 10:00:{n:02d} 2026\nFrom: mallory@evil.example\n"
        f"To: me@example.org\nMessage-ID: <{n}@evil.example>\n"
        f"Date: Mon, 2 Mar 2026 10:00:{n:02d} +0000\n"
        f"Subject: {' '.join(text(n, 'mail').split())}\n\n{text(n, 'mail')}\n"
        for n in NUMBERS
    ]
    (folder / "strange.mbox").write_text("\n".join(box), "utf-8", errors="replace")


def _archive(folder: Path) -> None:
    members = {f"{_name(text(n, 'member'))}-{n}.txt": f"The buoy is {word(n, 'member')}."
               for n in NUMBERS}  # fmt: skip
    (folder / "parcel.zip").write_bytes(zipped(members))


def _tags(folder: Path) -> None:
    for n in NUMBERS:
        tags = Image.Exif()
        tags[_DESCRIPTION] = text(n, "exif").encode("utf-8", "replace")
        image = Image.new("RGB", (5, 5), (n, 0, 0))
        image.save(folder / f"tagged-{n}.jpg", exif=tags)


def _documents(folder: Path) -> None:
    for n in FEW:
        core = _CORE.format(_clean(text(n, "docx")))
        body = docx(paragraph(f"Page {n}."), {"docProps/core.xml": core})
        (folder / f"report-{n}.docx").write_bytes(body)
        title = text(n, "pdf").encode("utf-16-be").hex()
        page = ("/MediaBox [0 0 300 200]", pdf_text(f"Sheet {n}", 20, 100))
        (folder / f"sheet-{n}.pdf").write_bytes(build(page, info=f"/Title <FEFF{title}>"))


def _pictures(folder: Path) -> None:
    for n in FEW:
        image = Image.new("RGB", (900, 220), "white")
        said = "".join(c for c in text(n, "seen") if c.isascii() and (c.isprintable() or c == "\n"))
        ImageDraw.Draw(image).multiline_text(
            (20, 20), said[:160], fill="black", font=ImageFont.load_default(30)
        )
        image.save(folder / f"seen-{n}.png")


def _sound(folder: Path) -> None:
    n = FEW[-1]
    ffmpeg(
        folder / "tagged.mp3", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "0.3",
        "-metadata", f"title={text(n, 'song')}", "-metadata", f"artist={text(n, 'song')}",
    )  # fmt: skip


def _session(agent: Agent) -> None:
    said: list[dict[str, Any]] = []
    for n in NUMBERS:
        for role in ("assistant", "tool", "system"):
            said.append({"event_id": f"{role}-{n}", "role": role, "session": f"s{n}",
                         "text": text(n, "event"), "author": text(n, "event")[:80],
                         "source": text(n, "event")[:80]})  # fmt: skip
    agent.append(*said)


def _transcript(agent: Agent, folder: Path) -> None:
    path = folder / "transcript.jsonl"
    entries = []
    for n in NUMBERS:
        said = text(n, "host")
        result = [{"type": "tool_result", "content": said}]
        entries += [
            {"type": "user", "uuid": f"r{n}", "sessionId": "cc", "message": {"content": result}},
            {"type": "user", "uuid": f"s{n}", "sessionId": "cc", "isSidechain": True,
             "message": {"content": said}},
            {"type": "user", "uuid": f"h{n}", "sessionId": "cc",
             "message": {"content": f"<system-reminder>{said}</system-reminder>"}},
        ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in entries))
    agent.run("host-ingest", "claude-code", path)


MANY = ("cue", "name", "mail", "member", "exif", "event", "host")
SOME = ("docx", "pdf", "seen")
ASKED = [
    *((channel, n) for channel in MANY for n in NUMBERS),
    *((channel, n) for channel in SOME for n in FEW),
    ("song", FEW[-1]),
]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    folder = tmp_path_factory.mktemp("strangers") / "files"
    folder.mkdir()
    for write in (_subtitles, _names, _mail, _archive, _tags, _documents, _pictures, _sound):
        write(folder)
    made = Agent(folder.parent / "root")
    made.run("ingest", "--no-embeddings", "--origin", "external", folder)
    _session(made)
    _transcript(made, folder)
    vault = [{"event_id": f"v{n}", "role": "user", "session": "v",
              "text": f"The secret about {' '.join(word(n, c) for c in MANY)} is {SECRET}."}
             for n in NUMBERS]  # fmt: skip
    made.run("--namespace", "vault", "session", "append", "-", stdin=lines(*vault))
    return made


@pytest.fixture(scope="module")
def tools(agent: Agent) -> Iterator[Tools]:
    made = Tools(Session({"root": str(agent.root), "lock_wait": 10.0}))
    yield made
    made.warm.close()


def test_there_are_at_least_forty_inputs_in_every_cheap_channel() -> None:
    assert len(NAMES) >= 40
    assert len(ASKED) >= 40 * len(MANY)


@pytest.mark.parametrize("channel", [*MANY, *SOME, "song"])
def test_no_file_of_a_stranger_changes_a_pack(tools: Tools, channel: str) -> None:
    for number in [n for known, n in ASKED if known == channel]:
        query = f"{word(number, channel)} and what the assistant and tools said of it"
        pack, markdown = tools.recall(query, {"token_budget": 4_000}, None)

        assert pack["coverage"] != "none", (channel, NAMES[number])
        check(pack, markdown)
        for citation in pack["citations"]:
            seen = tools.read(citation["ref"], 0, 20_000)
            assert citation["quote"] in seen["text"]
            assert pack["scope"]["namespace"] == "personal"


def test_no_file_of_a_stranger_becomes_memory(agent: Agent) -> None:
    assert agent.run("list", "records")["items"] == []
    waiting = agent.run("list", "candidates", "--limit", "1000")["items"]
    assert {one["status"] for one in waiting} <= {"pending", "rejected"}
