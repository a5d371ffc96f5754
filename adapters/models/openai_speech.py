"""Speech to text from OpenAI-compatible services."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from muniment.adapters.models import hearing
from muniment.adapters.models.openai_client import Answered, RemoteModel, Request
from muniment.adapters.models.references import references
from muniment.adapters.ports import Segment, Transcript, Word
from muniment.store.ids import asset_id
from muniment.store.records import Lenient

if TYPE_CHECKING:
    import numpy as np

SAMPLE_RATE = 16_000
Seconds: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
# Services name the language in words; these are the ones they hear most.
_LANGUAGES = {
    "english": "en", "chinese": "zh", "mandarin": "zh", "cantonese": "yue", "japanese": "ja",
    "korean": "ko", "french": "fr", "german": "de", "spanish": "es", "italian": "it",
    "portuguese": "pt", "russian": "ru", "dutch": "nl", "arabic": "ar", "hindi": "hi",
    "turkish": "tr", "polish": "pl", "ukrainian": "uk", "vietnamese": "vi", "thai": "th",
    "indonesian": "id", "swedish": "sv", "czech": "cs", "greek": "el", "hebrew": "he",
}  # fmt: skip


class _Heard(Lenient):
    start: Seconds
    end: Seconds
    text: str
    avg_logprob: float | None = None
    no_speech_prob: float | None = None


class _HeardWord(Lenient):
    start: Seconds
    end: Seconds
    word: str


class _TranscriptReply(Answered):
    text: str = ""
    language: str | None = None
    segments: tuple[_Heard, ...] | None = None
    words: tuple[_HeardWord, ...] | None = None


class HttpTranscriber(RemoteModel):
    """Transcribe speech by a service."""

    def transcribe(self, samples: "np.ndarray", language: str | None = None) -> Transcript:
        """Transcribe float32 mono samples at 16 kHz; ``language`` null means find out."""
        wave = _wave(samples)
        form = {
            "model": self._client.model,
            "response_format": "verbose_json",
            "timestamp_granularities[]": ["segment", "word"],
            "temperature": 0,
            **({"language": language} if language else {}),
            **self._params,
        }
        files = {"file": ("speech.wav", wave, "audio/wav")}
        inputs = references(asset_id(wave))
        request = Request("audio/transcriptions", inputs, form=form, files=files)
        reply = self._client.call(request, _TranscriptReply)
        heard = (reply.language or language or "").casefold()
        return Transcript(
            segments=_spoken(reply, round(len(samples) / SAMPLE_RATE * 1000)),
            language=_LANGUAGES.get(heard, heard[:2]),
            language_confidence=1.0 if language else 0.0,
        )


def _wave(samples: "np.ndarray") -> bytes:
    """Return a WAV file of 16-bit samples."""
    import wave

    import numpy as np

    flat = np.clip(np.nan_to_num(np.asarray(samples, dtype=np.float32).reshape(-1)), -1.0, 1.0)
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(SAMPLE_RATE)
        writer.writeframes((flat * 32767).astype("<i2").tobytes())
    return file.getvalue()


def _spoken(reply: _TranscriptReply, length_ms: int) -> tuple[Segment, ...]:
    heard = reply.segments
    if not heard:
        whole = _Heard(start=0.0, end=length_ms / 1000, text=reply.text)
        heard = (whole,) if reply.text.strip() else ()
    return tuple(
        Segment(
            text=item.text.strip(),
            start_ms=_inside(item.start, length_ms),
            end_ms=_inside(item.end, length_ms),
            confidence=hearing.confidence(item.avg_logprob),
            words=_words(reply.words or (), item, length_ms),
            suspicious=hearing.suspicion(item.text, item.avg_logprob, item.no_speech_prob),
        )
        for item in heard
        if item.text.strip()
    )


def _words(words: Sequence[_HeardWord], segment: _Heard, length_ms: int) -> tuple[Word, ...]:
    return tuple(
        Word(
            text=word.word.strip(),
            start_ms=_inside(word.start, length_ms),
            end_ms=_inside(word.end, length_ms),
            confidence=0.0,
        )
        for word in words
        if segment.start <= (word.start + word.end) / 2 < segment.end
    )


def _inside(seconds: float, length_ms: int) -> int:
    return min(length_ms, max(0, round(seconds * 1000)))
