"""Inputs that no program would write: damaged real files, and shapes that hypothesis makes.

Input ``number`` of a seed is the same on every machine that has the same files.
"""

import io
import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

LARGEST_SEED = 200 * 1024
# Of a hundred damaged files, how many are ones that a program of the system decodes: they are slow.
MEDIA_SHARE = 1
MEDIA = (".mp4", ".mov", ".mkv", ".webm", ".avi", ".mp3", ".ogg", ".opus", ".m4a", ".wav", ".flac",
         ".aac", ".3gp", ".wma", ".ts", ".mpg", ".flv", ".aiff", ".amr", ".caf")  # fmt: skip
ODD = (b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"%n",
       b"\r\n\r\n", b'"', b"<", b"]]>", b"&#0;", b"{", b"[" * 200, b"../", b"\xe2\x80\xae",
       b"-1", b"99999999999999999999", b"1e999", b"NaN", b"\xed\xa0\x80")  # fmt: skip
MAGIC = (
    b"%PDF-1.7\n", b"PK\x03\x04", b"{\\rtf1 ", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a",
    b"II*\x00", b"RIFF\x10\x00\x00\x00WEBP", b"BEGIN:VCALENDAR\n", b"BEGIN:VCARD\n", b"WEBVTT\n\n",
    b"[Script Info]\n", b"From a@b Mon May  6 09:00:00 2024\n", b"From: a@b\nSubject: x\n\n",
    b'{"messages":[', b'[{"mapping":{', b"28/05/2022, 17:41 - Bob: ",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\x1f\x8b\x08", b"BM", b"8BPS", b"\xff\xfe", b"\xef\xbb\xbf", b"<html>", b"a,b\n", b"",
)  # fmt: skip


class Input(NamedTuple):
    """One input: the name that it is seen under, its bytes, and where it came from."""

    name: str
    data: bytes
    origin: str


def seeds(folders: Sequence[Path]) -> list[Input]:
    """Return the small files below some folders, and small documents made on the spot."""
    found = [
        Input(path.name, path.read_bytes(), str(path.relative_to(folder)))
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and 0 < path.stat().st_size <= LARGEST_SEED
    ]
    return [*found, *_made()]


def _made() -> Iterator[Input]:
    from PIL import Image
    from support import documents as d
    from support.raw_photos import CAMERAS, jpeg

    body = d.paragraph("Body. Two.") + "<w:tbl><w:tr><w:tc/></w:tr></w:tbl>"
    yield Input("made.docx", d.docx(body), "made")
    rows = f'<row r="1">{d.cell("A1", "a")}<c r="B1"><v>1</v></c></row>'
    yield Input("made.xlsx", d.xlsx({"S": rows}), "made")
    yield Input("made.zip", d.zipped({"a.txt": b"words", "b/c.txt": b"more"}), "made")
    shown = jpeg(Image.new("RGB", (40, 30), "white"))
    for camera, photo in CAMERAS.items():
        yield Input(f"made.{camera}", photo(shown), "made")


def damaged(sources: Sequence[Input], seed: int, number: int) -> Input:
    """Return a file with one to four faults."""
    chance = random.Random(f"{seed}/{number}")
    media = [one for one in sources if one.name.lower().endswith(MEDIA)]
    plain = [one for one in sources if not one.name.lower().endswith(MEDIA)]
    pool = media if media and chance.randrange(100) < MEDIA_SHARE else plain
    chosen = chance.choice(pool)
    data = chosen.data
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = _fault(data, chance, chance.choice(pool).data)
    return Input(chosen.name, data, f"{chosen.origin} #{number}")


def _fault(data: bytes, chance: random.Random, other: bytes) -> bytes:
    if data[:4] == b"PK\x03\x04" and chance.random() < 0.7:
        return _inside(data, chance)
    return chance.choice(_FAULTS)(data, chance, other)


def _inside(data: bytes, chance: random.Random) -> bytes:
    """Damage one member of a zip and pack it again, so that its check sums are right."""
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            names = old.namelist()[:200]
            victim = chance.choice(names)
            for name in names:
                content = old.read(name)
                if name == victim:
                    content = chance.choice(_FAULTS)(content, chance, content[::-1])
                new.writestr(name, content)
    except Exception:  # one that is broken already is damaged from outside
        return chance.choice(_FAULTS)(data, chance, data)
    return out.getvalue()


def _flip(data: bytes, chance: random.Random, _other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 20))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random, _: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _drop(data: bytes, chance: random.Random, _: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.choice((1, 4, 50, 1000)) :]


def _repeat(data: bytes, chance: random.Random, _: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.choice((1, 10, 100))]
    return data[:start] + piece * chance.choice((2, 10, 300)) + data[start:]


def _insert(data: bytes, chance: random.Random, _: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    odd = chance.choice(ODD)
    return data[:start] + odd + data[start + chance.choice((0, len(odd))) :]


def _splice(data: bytes, chance: random.Random, other: bytes) -> bytes:
    start, end = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
    return data[:start] + other[end : end + 4096]


_FAULTS: tuple[Callable[[bytes, random.Random, bytes], bytes], ...] = (
    _flip, _flip, _cut, _drop, _repeat, _insert, _insert, _splice,
)  # fmt: skip


def shapes(count: int) -> list[Input]:
    """Return what hypothesis makes of magic beginnings, binary and text, the same each time."""
    found: list[Input] = []
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
    pieces = st.one_of(
        st.binary(max_size=300),
        texts.map(lambda text: text.encode()),
        st.sampled_from(ODD),
        st.sampled_from(MAGIC),
    )
    names = st.sampled_from(("x", "x.txt", "x.md", "x.csv", "x.json", "x.jsonl", "x.html", "x.srt"))

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.sampled_from(MAGIC), st.lists(pieces, max_size=6), names)
    def collect(magic: bytes, rest: list[bytes], name: str) -> None:
        found.append(Input(name, magic + b"".join(rest), "hypothesis"))

    collect()
    return found[:count]
