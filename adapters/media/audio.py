"""Speech: sound streams through the voice-activity gate; what it lets by is transcribed."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from muniment.adapters.media.ffmpeg import SAMPLE_RATE, PcmStream, pcm_stream, probe
from muniment.adapters.media.occurrences import Occurrences
from muniment.adapters.ports import (
    Draft,
    Finding,
    Outcome,
    Segment,
    Source,
    SpeechDetector,
    Tools,
    Transcript,
)
from muniment.store.errors import InputError

if TYPE_CHECKING:
    import numpy as np

WINDOW_SECONDS = 60
PIECE_SECONDS = 28.0
JOIN_GAP_SECONDS = 2.0
MARGIN_SECONDS = 0.25
OPEN_END_SECONDS = 1.0
SUSPICIOUS_CONFIDENCE = 0.3
FOREIGN_CONFIDENCE = 0.7
MISSING_SECONDS = 2.0
MISSING_SHARE = 0.05
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_QUIET_FRAME = SAMPLE_RATE // 50


class SpeechReader:
    """Reads what is said in audio and video (kind ``asr``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield a draft for each run of speech, on the container's timeline.

        Sound without speech ends ``empty``/``no_speech``, a film without sound
        ``skipped``/``no_audio``, sound that breaks off ``partial``/``damaged``.
        """
        found = probe(source, tools.limits)
        if found.audio is None:
            yield Outcome("skipped", "no_audio", "there is no sound in it")
            return
        listener = _Listener(tools)
        spoken = False
        with pcm_stream(source, found, tools.limits) as sound:
            for draft in listener.listen(sound):
                spoken = True
                yield draft
            damage = sound.damage()
            if not sound.samples_read and damage:
                raise InputError(damage, code="unreadable")
        damage = damage or _shortfall(sound, found.audio.duration_ms)
        if damage:
            yield Outcome("partial", "damaged", damage)
        elif not spoken:
            yield Outcome("empty", "no_speech", "nobody speaks in it")


class _Listener:
    """Transcribes pieces of one recording, remembering which language it is in."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._heard: Counter[str] = Counter()
        self._occurrences = Occurrences()

    def listen(self, sound: PcmStream) -> Iterator[Draft]:
        for start, samples in speech_pieces(sound, self._tools.speech_detector()):
            transcript = self._transcribe(samples)
            offset = sound.start_ms + _milliseconds(start)
            last = offset + _milliseconds(len(samples))
            for segment in transcript.segments:
                if segment.text.strip():
                    draft = self._draft(segment, transcript.language, offset, last)
                    yield self._occurrences.number(draft)

    def _transcribe(self, samples: "np.ndarray") -> Transcript:
        recogniser = self._tools.transcriber()
        transcript = recogniser.transcribe(samples)
        languages = self._tools.languages
        foreign = languages and transcript.language not in languages
        if foreign and transcript.language_confidence < FOREIGN_CONFIDENCE:
            # A short or noisy piece is often taken for a rare language; a sure answer stands.
            usual = self._heard.most_common(1)
            transcript = recogniser.transcribe(samples, usual[0][0] if usual else languages[0])
        else:
            self._heard[transcript.language] += len(samples)
        return transcript

    def _draft(self, segment: Segment, language: str, offset: int, last: int) -> Draft:
        from muniment.store.records import TimeLocator

        start = min(last, offset + max(0, segment.start_ms))
        end = max(start, min(last, offset + segment.end_ms))
        attributes: dict[str, object] = {}
        if segment.words:
            attributes["words"] = [
                [word.text, offset + word.start_ms, offset + word.end_ms, word.confidence]
                for word in segment.words
            ]
        if segment.suspicious:
            attributes["suspicious"] = segment.suspicious
        sure = min(1.0, max(0.0, segment.confidence))
        return Draft(
            kind="asr",
            text=segment.text.strip(),
            locator=TimeLocator(start_ms=start, end_ms=end),
            confidence=min(sure, SUSPICIOUS_CONFIDENCE) if segment.suspicious else sure,
            producer=self._tools.transcriber().producer,
            language=spoken_language(segment.text, language, self._tools.languages),
            attributes=attributes,
        )


def spoken_language(text: str, language: str, languages: Sequence[str]) -> str | None:
    """Return the language of one segment, correcting the piece's by script where they clash.

    A recording that changes between Chinese and English is heard as one of the two.
    """
    written = "zh" if _HAN.search(text) else "en" if _LATIN.search(text) else language
    known = {language, written} <= {"zh", "en"} and written in languages
    return written if known else language or None


def speech_pieces(sound: PcmStream, detector: SpeechDetector) -> Iterator[tuple[int, "np.ndarray"]]:
    """Yield (first sample, samples) of pieces with speech, none longer than half a minute.

    Holds one window and a carried-over rest, whatever the length of the recording.
    """
    import numpy as np

    rest = np.zeros(0, dtype=np.float32)
    base = 0
    ended = False
    while not ended:
        block = sound.read(WINDOW_SECONDS * SAMPLE_RATE)
        ended = len(block) < WINDOW_SECONDS * SAMPLE_RATE
        window = np.concatenate([rest, block])
        if not len(window):
            return
        regions = detector.detect(window)
        cut = len(window) if ended else _settled(regions, len(window))
        done = [(start, min(end, cut)) for start, end in regions if start < cut]
        for start, end in pack(done, window, cut):
            yield base + start, window[start:end]
        rest, base = window[cut:].copy(), base + cut


def pack(regions: list[tuple[int, int]], window: "np.ndarray", limit: int) -> list[tuple[int, int]]:
    """Join neighbouring regions and split long ones at their quietest moment; add margins."""
    longest = int(PIECE_SECONDS * SAMPLE_RATE)
    pieces: list[tuple[int, int]] = []
    for region in regions:
        for start, end in _split(region, window, longest):
            near = pieces and start - pieces[-1][1] <= JOIN_GAP_SECONDS * SAMPLE_RATE
            if near and end - pieces[-1][0] <= longest:
                pieces[-1] = (pieces[-1][0], end)
            else:
                pieces.append((start, end))
    return _with_margins(pieces, limit)


def _split(
    region: tuple[int, int], window: "np.ndarray", longest: int
) -> Iterator[tuple[int, int]]:
    start, end = region
    while end - start > longest:
        cut = _quietest(window, start + longest * 2 // 3, start + longest)
        yield start, cut
        start = cut
    if end > start:
        yield start, end


def _quietest(window: "np.ndarray", start: int, end: int) -> int:
    import numpy as np

    frames = window[start : start + (end - start) // _QUIET_FRAME * _QUIET_FRAME]
    energy = np.square(frames.reshape(-1, _QUIET_FRAME)).mean(axis=1)
    return start + int(energy.argmin()) * _QUIET_FRAME + _QUIET_FRAME // 2


def _with_margins(pieces: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    margin = int(MARGIN_SECONDS * SAMPLE_RATE)
    widened = []
    for number, (start, end) in enumerate(pieces):
        before = pieces[number - 1][1] if number else 0
        after = pieces[number + 1][0] if number + 1 < len(pieces) else limit
        # Half of the gap at most, so that no sample is heard twice.
        widened.append(
            (
                max(start - margin, start - (start - before) // 2 if number else 0),
                min(end + margin, end + (after - end) // 2 if after < limit else limit),
            )
        )
    return widened


def _settled(regions: list[tuple[int, int]], length: int) -> int:
    """Return how much of the window can be dealt with before more is read."""
    if not regions:
        return length
    start, end = regions[-1]
    if length - end >= OPEN_END_SECONDS * SAMPLE_RATE:
        return length
    margin = int(MARGIN_SECONDS * SAMPLE_RATE)
    longest = int(PIECE_SECONDS * SAMPLE_RATE)
    # The last region may go on; one that fills a piece is let go all the same.
    return max(start - margin, 0) if length - start < longest and start > margin else length


def _shortfall(sound: PcmStream, promised_ms: int | None) -> str:
    if promised_ms is None:
        return ""
    missing = promised_ms / 1000 - sound.samples_read / SAMPLE_RATE
    if missing > max(MISSING_SECONDS, MISSING_SHARE * promised_ms / 1000):
        return f"the sound ends {missing:.0f} s early"
    return ""


def _milliseconds(samples: int) -> int:
    return round(samples * 1000 / SAMPLE_RATE)
