"""Silence, noise and music give no words, and doubtful words give no memory (C17)."""

import wave
from pathlib import Path

import numpy as np
import pytest
from support import sounds
from support.ingesting import Store

from muniment.pipeline.proposers.base import CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.guards import reject_reason

TEXT = "I like tea a lot"
DRAFT = CandidateDraft(
    type="semantic", kind="preference", text=TEXT, evidence=Quote("obs_1", TEXT, 0, len(TEXT)),
    basis="media", proposer="model", subject="user", key="preference:tea", value="like",
    confidence=0.3,
)  # fmt: skip


def save(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sounds.RATE)
        out.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def test_nothing_is_heard_where_nobody_speaks(store: Store, folder: Path) -> None:
    save(folder / "silence.wav", sounds.silence(10))
    save(folder / "pink.wav", sounds.pink_noise(10))
    save(folder / "white.wav", sounds.white_noise(10))
    save(folder / "chord.wav", sounds.chord(10))

    said = store.ingest(folder, "--until", "observe")

    assert said["exit"] == 0
    kinds = {item["kind"] for item in store.items("observations")}
    assert kinds == {"metadata"}
    assert {name: of["speech"] for name, of in store.statuses().items()} == dict.fromkeys(
        ("silence.wav", "pink.wav", "white.wav", "chord.wav"), "empty"
    )


@pytest.mark.parametrize("doubt", ["repetition", "compression", "low_probability"])
def test_words_that_may_be_invented_never_become_memory(doubt: str) -> None:
    heard = Passage("obs_1", TEXT, "asr", "media", None, attributes={"suspicious": doubt})

    assert reject_reason(DRAFT, heard) == "suspicious"
