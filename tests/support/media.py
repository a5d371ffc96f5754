"""Small pictures, sounds and films, made on the spot, and how a reader sees them."""

import hashlib
import random
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from muniment.adapters import registry
from muniment.adapters.formats.sniff import HEAD_BYTES, TAIL_BYTES, sniff
from muniment.adapters.ports import Finding, Limits, OcrLine, Segment, Source, Transcript
from muniment.store.records import Producer


def ffmpeg(target: Path, *arguments: str) -> Path:
    """Make a media file of ffmpeg's arguments."""
    program = shutil.which("ffmpeg")
    if program is None:
        pytest.skip("ffmpeg is not installed")
    subprocess.run(
        [program, "-nostdin", "-loglevel", "error", "-y", *arguments, f"file:{target}"],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return target


def photo(seed: int, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """Return a picture of soft blotches, another one for each seed."""
    levels = random.Random(seed)
    small = Image.new("RGB", (9, 7))
    small.putdata([tuple(levels.randrange(256) for _ in range(3)) for _ in range(63)])
    return small.resize(size, Image.Resampling.BICUBIC)


def source(path: Path, scratch: Path) -> Source:
    """Return a file as a reader sees it: sniffed, under a hash name."""
    data = path.read_bytes()
    kind = sniff(data[:HEAD_BYTES], data[-TAIL_BYTES:], len(data), path.name)
    digest = hashlib.sha256(data).hexdigest()
    scratch.mkdir(exist_ok=True)
    return Source(
        f"sha256:{digest}", len(data), kind.media_type, kind.family, path.name, scratch, data=data
    )


@dataclass
class BlindTools:
    """Models that see no text and hear speech wherever it is loud; what the models say is not
    what is tested with them."""

    limits: Limits = field(default_factory=Limits)
    languages: tuple[str, ...] = ("en", "zh")
    lines: Sequence[OcrLine] = ()
    producer: Producer = field(
        default_factory=lambda: Producer(adapter="fake", version="1", role="fake")
    )
    seen: list[Image.Image] = field(default_factory=list)

    def ocr(self) -> Any:
        return self

    def speech_detector(self) -> Any:
        return self

    def transcriber(self) -> Any:
        return self

    def labeller(self) -> None:
        return None

    def describer(self) -> None:
        return None

    def language_identifier(self) -> Any:
        return self

    def identify(self, text: str) -> tuple[str, float]:
        return "en", 0.5

    def read(self, image: Image.Image) -> list[OcrLine]:
        self.seen.append(image)
        return list(self.lines)

    def detect(self, samples: np.ndarray) -> list[tuple[int, int]]:
        loud = np.flatnonzero(np.abs(samples) > 0.05)
        return [(int(loud[0]), int(loud[-1]) + 1)] if len(loud) else []

    def transcribe(self, samples: np.ndarray, language: str | None = None) -> Transcript:
        spoken = Segment("heard", 0, len(samples) // 16, 0.9)
        return Transcript((spoken,), language or "en", 0.99)


def findings(reader: str, path: Path, tools: BlindTools | None = None) -> list[Finding]:
    """Return what a reader of the registry finds in a file."""
    (spec,) = (spec for spec in registry.readers() if spec.name == reader)
    scratch = path.parent / f".{path.name}.scratch"
    found = registry.load(spec).read(source(path, scratch), tools or BlindTools())
    return list(found)
