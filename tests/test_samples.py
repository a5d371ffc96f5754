"""The committed samples are what the script says, and what their page promises."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script(samples: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_samples", samples / "make_samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def probe(path: Path) -> dict[str, str]:
    program = shutil.which("ffprobe")
    assert program is not None
    options = ("-v", "error", "-show_entries", "format=duration", "-of", "json")
    found = subprocess.run(
        [program, *options, path], check=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    answer: dict[str, dict[str, str]] = json.loads(found.stdout)
    return answer["format"]


def test_the_texts_are_the_ones_in_the_script(samples: Path, script: ModuleType) -> None:
    assert (samples / "note.md").read_text(encoding="utf-8") == script.NOTE
    assert (samples / "chat-zh.txt").read_text(encoding="utf-8") == script.CHAT


def test_the_scan_is_a_picture_without_a_text_layer(samples: Path) -> None:
    import pypdfium2

    with pypdfium2.PdfDocument(samples / "letter-scan.pdf") as document:
        (page,) = document
        assert page.get_textpage().get_text_range() == ""
        assert [kind.type for kind in page.get_objects()] == [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]


def test_the_whiteboard_can_be_opened(samples: Path) -> None:
    from PIL import Image

    with Image.open(samples / "whiteboard.png") as picture:
        picture.load()
        assert picture.size == (1000, 660)


def test_the_recordings_last_as_long_as_their_page_says(samples: Path, script: ModuleType) -> None:
    assert float(probe(samples / "standup.mp4")["duration"]) == 2 * script.SLIDE_SECONDS
    assert 12 < float(probe(samples / "memo.ogg")["duration"]) < 13


def test_every_sample_is_described_with_an_expected_answer(samples: Path) -> None:
    page = (samples / "README.md").read_text(encoding="utf-8")
    names = {path.name for path in samples.iterdir() if path.is_file()}

    for name in names - {"README.md", "make_samples.py"}:
        assert page.count(f"`{name}`") >= 2, name
