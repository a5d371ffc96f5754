"""Read subtitle files: one ``subtitle`` observation a cue, on the timeline of what they caption."""

from collections import Counter
from collections.abc import Iterator

from muniment.adapters.formats.cues import BrokenCue, Cue, Parsed, script_cues, timed_cues
from muniment.adapters.formats.decoded import DecodedSource
from muniment.adapters.formats.languages import script_language
from muniment.adapters.ports import Draft, Finding, Outcome, Source, Tools

_SCRIPT_CHARACTERS = 64 * 1024 * 1024


class SubtitleReader:
    """Read SRT, WebVTT, ASS and SSA."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield cues in the file's order; a broken one makes the outcome partial."""
        text = DecodedSource(source, tools.limits.max_text_bytes)
        seen: Counter[tuple[int, int]] = Counter()
        broken = 0
        for cue in _cues(source.media_type, text):
            if isinstance(cue, BrokenCue):
                broken += 1
                continue
            yield _draft(cue, seen[cue.start_ms, cue.end_ms], text)
            seen[cue.start_ms, cue.end_ms] += 1
        outcome = text.outcome(found=bool(seen))
        if broken and (outcome is None or outcome.status == "empty"):
            message = f"{broken} cues have no usable times"
            outcome = Outcome("partial" if seen else "failed", "broken_cues", message)
        if outcome:
            yield outcome


def _cues(media_type: str, text: DecodedSource) -> Parsed:
    if media_type != "text/x-ssa":
        return timed_cues(text.blocks())
    held, size = [], 0
    for block in text.blocks():
        held.append(block)
        size += len(block)
        if size > _SCRIPT_CHARACTERS:
            break
    return script_cues("".join(held))


def _draft(cue: Cue, occurrence: int, text: DecodedSource) -> Draft:
    from muniment.store.records import TimeLocator

    return Draft(
        kind="subtitle",
        text=cue.text,
        locator=TimeLocator(start_ms=cue.start_ms, end_ms=cue.end_ms),
        confidence=text.confidence,
        language=script_language(cue.text),
        author=cue.speaker,
        attributes=text.attributes(),
        occurrence=occurrence,
    )
