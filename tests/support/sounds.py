"""Sounds for tests, made on the spot: speech by espeak-ng, silence, noise, tones."""

import io
import shutil
import subprocess
import wave

import numpy as np
import pytest

RATE = 16_000


def speech(text: str, voice: str = "en-gb") -> np.ndarray:
    """Return spoken text as float32 mono samples at 16 kHz."""
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.skip("espeak-ng is not installed")
    sound = subprocess.run(
        [program, "--stdout", "-s", "140", "-v", voice, text], capture_output=True, check=True
    ).stdout
    with wave.open(io.BytesIO(sound)) as reader:
        rate = reader.getframerate()
        samples = np.frombuffer(reader.readframes(reader.getnframes()), "<i2") / 32768
    there = np.arange(0, len(samples), rate / RATE)
    even: np.ndarray = np.interp(there, np.arange(len(samples)), samples).astype(np.float32)
    return even


def silence(seconds: float) -> np.ndarray:
    """Return digital silence."""
    return np.zeros(int(seconds * RATE), np.float32)


def white_noise(seconds: float, level: float = 0.1) -> np.ndarray:
    """Return even noise of a root mean square level, the same each time."""
    noise = np.random.default_rng(7).normal(0, level, int(seconds * RATE))
    return noise.astype(np.float32)


def pink_noise(seconds: float, level: float = 0.1) -> np.ndarray:
    """Return noise that falls by 3 dB an octave, the same each time."""
    spectrum = np.fft.rfft(white_noise(seconds))
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))
    noise = np.fft.irfft(spectrum, int(seconds * RATE))
    levelled: np.ndarray = (noise * level / noise.std()).astype(np.float32)
    return levelled


def chord(seconds: float) -> np.ndarray:
    """Return a sustained chord with overtones that fades and returns."""
    time = np.arange(int(seconds * RATE)) / RATE
    notes = [
        np.sin(2 * np.pi * pitch * part * time) / part
        for pitch in (220, 277.2, 329.6)
        for part in (1, 2, 3, 4)
    ]
    swell = 0.5 + 0.5 * np.sin(2 * np.pi * 0.5 * time)
    sound: np.ndarray = (0.05 * swell * np.sum(notes, axis=0)).astype(np.float32)
    return sound
