"""A small store to look at: a picture, a film, a recording, a chat, and hostile names."""

import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from support.agents import event, lines
from support.cli import invoke
from support.media import ffmpeg
from support.stores import Line, TinyStore

from muniment.store.ledger.entities import Use
from muniment.store.records import (
    BboxLocator,
    Candidate,
    Evidence,
    FrameLocator,
    Producer,
    TimeLocator,
)

SCRIPT = "<script>alert(1)</script>"
HANDLER = '"><img src=x onerror=alert(1)>'
HOSTILE_NAME = f'{HANDLER}\u202e\x1b[31m{SCRIPT}".html'
HOSTILE_TEXT = (
    f"kumquat </mark></p>{SCRIPT}{HANDLER} \u202eevil\x00 javascript:alert(1) " + "x" * 900
)
SESSION = f"trip/2026 {SCRIPT}"
# Where the one dark bar of the picture lies, as shares of its sides.
BAR = (0.25, 0.5, 0.5, 0.1)
CREATED = "2026-01-01T00:00:00.000000Z"


def bar_picture(size: tuple[int, int] = (800, 600)) -> bytes:
    """Draw the one dark bar on white."""
    image = Image.new("RGB", size, "white")
    left, top = BAR[0] * size[0], BAR[1] * size[1]
    right, bottom = left + BAR[2] * size[0] - 1, top + BAR[3] * size[1] - 1
    ImageDraw.Draw(image).rectangle((left, top, right, bottom), fill=(20, 30, 160))
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


class Album:
    """The store, and the ids of what lies in it; close it before another process writes."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache = folder / "root", folder / "cache"
        assert invoke("--root", self.root, "init").code == 0
        said = lines(event(1, f"Book the ferry {SCRIPT}", session=SESSION),
                     event(2, "Booked.", session=SESSION, role="assistant"))  # fmt: skip
        assert invoke("--root", self.root, "session", "append", "-", stdin=said).code == 0
        self.store = TinyStore(self.root)
        eyes = Producer(adapter="eyes", version="1", role="ocr")
        ears = Producer(adapter="ears", version="1", role="transcribe")
        box = BboxLocator(x=BAR[0], y=BAR[1], w=BAR[2], h=BAR[3])
        seen: dict[str, Any] = {"kind": "ocr", "producer": eyes, "origin": "media"}
        (self.bar,) = self.store.file(
            "board.png", [Line("The blue bar is number 2047", locator=box, **seen)],
            data=bar_picture(), media_type="image/png", family="image", origin="external",
            captured="2026-03-02T10:00:00Z",
        )  # fmt: skip
        (self.hostile,) = self.store.file(
            HOSTILE_NAME, [Line(HOSTILE_TEXT, author=HANDLER, origin="external")],
            data=f"<html>{SCRIPT}</html>".encode(), media_type="text/html", family="text",
            captured="2026-03-03T10:00:00Z",
        )  # fmt: skip
        self.page = self.asset_of(self.hostile)
        self.chat = self.store.chat(
            [("Ana", "Shall we meet?", "2026-03-01T10:00:00Z"),
             ("Bo", "The gate code is 7731, keep it.", "2026-03-01T10:01:00Z"),
             ("Ana", "Thanks!", "2026-03-01T10:02:00Z")]
        )  # fmt: skip
        tone = ffmpeg(folder / "tone.wav", "-f", "lavfi", "-i", "sine=f=440:d=6", "-ar", "16000")
        (self.said,) = self.store.file(
            "memo.wav",
            [Line("The plumber comes on Tuesday.", kind="asr", producer=ears, origin="media",
                  locator=TimeLocator(start_ms=2_000, end_ms=4_000))],
            data=tone.read_bytes(), media_type="audio/wav", family="audio",
            captured="2026-02-01T10:00:00Z",
        )  # fmt: skip
        film = ffmpeg(
            folder / "film.mkv", "-f", "lavfi", "-i", "color=c=red:s=320x180:d=4:r=5",
            "-pix_fmt", "yuv420p",
        )  # fmt: skip
        (self.frame,) = self.store.file(
            "film.mkv", [Line("Red wall", locator=FrameLocator(at_ms=1_000), **seen)],
            data=film.read_bytes(), media_type="video/x-matroska", family="video",
        )  # fmt: skip
        self.record = self.store.record("The gate code is 7731", self.chat[1], "gate code is 7731")
        self.candidate = self._candidate()
        with self.store.ledger.unit():
            use = Use(self.hostile, HANDLER, HANDLER, "name", "author")
            self.store.ledger.entities.add("person", use)

    def _candidate(self) -> str:
        quote = "meet"
        observation = self.chat[0]
        row = self.store.ledger.evidence.get(observation)
        assert row is not None
        start = row.text.index(quote)
        claim = Candidate(
            id="cand_waiting", type="semantic", kind="fact", text=f"Ana wants to meet {SCRIPT}",
            basis="third_party", confidence=0.7, proposer="model", created_at=CREATED,
            evidence=(Evidence(observation=observation, quote=quote, start=start,
                               end=start + len(quote)),),
        )  # fmt: skip
        with self.store.ledger.unit():
            self.store.ledger.memory.propose(claim)
        return claim.id

    def asset_of(self, observation: str) -> str:
        """Return the asset that an observation lies in."""
        row = self.store.ledger.evidence.get(observation)
        assert row is not None
        return row.asset


class Parsed(HTMLParser):
    """What a browser would make of a page: its elements, ids, and anything that might run."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.ids: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])

    def handle_data(self, data: str) -> None:
        self.words += data

    def of(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every element of a kind."""
        return [given for name, given in self.elements if name == tag]

    def active(self) -> list[str]:
        """Name what would run, or load from elsewhere."""
        found = []
        for tag, given in self.elements:
            if tag in {"script", "iframe", "object", "embed", "base", "frame", "foreignobject"}:
                found.append(tag)
            for name, value in given.items():
                if name.startswith("on") or name in {"style", "srcdoc", "formaction"}:
                    found.append(f"{tag}.{name}")
                elsewhere = value.strip().lower().partition(":")[0]
                if name in {"href", "src", "action"} and elsewhere in {
                    "javascript", "vbscript", "http", "https",
                }:  # fmt: skip
                    found.append(f"{tag}.{name}={value[:40]}")
        return found
