"""Inputs made on the spot, sources around them, and models that answer at once."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from muniment.adapters.ports import (
    Description,
    Label,
    Limits,
    OcrLine,
    Segment,
    Source,
    Transcript,
)
from muniment.store.records import Producer

LOUD = 0.05


def producer(role: str) -> Producer:
    return Producer(adapter="fake", version="1", role=role)


class LoudnessDetector:
    """Takes whatever is loud for speech, in tenths of a second."""

    producer = producer("detect_speech")

    def detect(self, samples: np.ndarray) -> list[tuple[int, int]]:
        step = 1600
        loud = [abs(samples[i : i + step]).max() > LOUD for i in range(0, len(samples), step)]
        edges = [0, *np.flatnonzero(np.diff(np.array(loud, dtype=int))) + 1, len(loud)]
        return [
            (int(start) * step, min(int(end) * step, len(samples)))
            for start, end in pairwise(edges)
            if end > start and loud[int(start)]
        ]


class EchoTranscriber:
    """Says how long each piece was; records what it was asked."""

    producer = producer("transcribe")

    def __init__(self, answers: list[Transcript] | None = None) -> None:
        self.answers = answers
        self.asked: list[tuple[float, str | None]] = []

    def transcribe(self, samples: np.ndarray, language: str | None = None) -> Transcript:
        self.asked.append((len(samples) / 16000, language))
        if self.answers:
            return self.answers.pop(0)
        length = len(samples) // 16
        return Transcript((Segment(f"{length} ms", 0, length, 0.9),), language or "en", 0.99)


class FakeOcr:
    """Answers what a function says of each picture."""

    producer = producer("ocr")

    def __init__(self, read: Callable[[Image.Image], list[OcrLine]] | None = None) -> None:
        self._read = read or (lambda image: [])
        self.seen: list[Image.Image] = []

    def read(self, image: Image.Image) -> list[OcrLine]:
        self.seen.append(image)
        return self._read(image)


class FakeDescriber:
    producer = producer("describe")

    def describe(self, jpeg: bytes) -> Description:
        return Description("a picture", ("thing",), 0.5)


class FakeLabeller:
    """Answers what it is given, and remembers what it was shown."""

    producer = producer("label")

    def __init__(self, *labels: Label) -> None:
        self._labels = labels
        self.seen: list[tuple[tuple[int, int], list[str]]] = []

    def label(self, image: Image.Image, written: Sequence[OcrLine]) -> list[Label]:
        self.seen.append((image.size, [line.text for line in written]))
        return list(self._labels)


class FakeTools:
    """Stands in for the models of a worker."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        ocr: FakeOcr | None = None,
        transcriber: EchoTranscriber | None = None,
        describer: FakeDescriber | None = None,
        labeller: FakeLabeller | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.languages: tuple[str, ...] = ("en", "zh")
        self._ocr = ocr or FakeOcr()
        self._transcriber = transcriber or EchoTranscriber()
        self._describer = describer
        self._labeller = labeller

    def ocr(self) -> FakeOcr:
        return self._ocr

    def speech_detector(self) -> LoudnessDetector:
        return LoudnessDetector()

    def transcriber(self) -> EchoTranscriber:
        return self._transcriber

    def describer(self) -> FakeDescriber | None:
        return self._describer

    def labeller(self) -> FakeLabeller | None:
        return self._labeller

    def language_identifier(self) -> Any:
        raise AssertionError("media readers don't ask for it")


@pytest.fixture
def fakes() -> Any:
    """Return the module of fakes, for tests that give them answers."""
    import types

    return types.SimpleNamespace(
        Tools=FakeTools,
        Ocr=FakeOcr,
        Transcriber=EchoTranscriber,
        Describer=FakeDescriber,
        Labeller=FakeLabeller,
    )


@pytest.fixture
def tools() -> FakeTools:
    return FakeTools()


@pytest.fixture
def source_of(tmp_path: Path) -> Callable[..., Source]:
    """Return a maker of sources from a file or bytes, under a hash name without a suffix."""

    def make(content: Path | bytes, family: str = "video", name: str = "x") -> Source:
        data = content.read_bytes() if isinstance(content, Path) else content
        digest = hashlib.sha256(data).hexdigest()
        scratch = tmp_path / f"scratch-{digest[:8]}"
        scratch.mkdir(exist_ok=True)
        return Source(f"sha256:{digest}", len(data), "", family, name, scratch, data=data)

    return make


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a maker of media files: ffmpeg's arguments in, a file out, each made once."""
    folder = tmp_path_factory.mktemp("media")
    known: dict[tuple[str, ...], Path] = {}

    def make(suffix: str, *arguments: str) -> Path:
        key = (suffix, *arguments)
        if key not in known:
            target = folder / f"{len(known)}.{suffix}"
            program = shutil.which("ffmpeg") or "/usr/bin/ffmpeg"
            subprocess.run(
                [program, "-nostdin", "-loglevel", "error", "-y", *arguments, str(target)],
                check=True,
                stdin=subprocess.DEVNULL,
            )
            known[key] = target
        return known[key]

    return make


@pytest.fixture(scope="session")
def beeps(made: Callable[..., Path]) -> Path:
    """Return 6 s of sound: silence but for a tone from 1 to 2 s and one from 4.5 to 5 s."""
    tone = "0.5*sin(2*PI*440*t)*(between(t,1,2)+between(t,4.5,5))"
    return made("wav", "-f", "lavfi", "-i", f"aevalsrc='{tone}':d=6:s=16000")
