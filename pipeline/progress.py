"""Progress on stderr: one line redrawn on a terminal, plain lines now and then elsewhere."""

import shutil
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TextIO

REDRAW_SECONDS = 0.2
LINE_SECONDS = 10.0
RATE_AFTER_SECONDS = 1.0
BAR_CELLS = 20

Mode = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: ``total`` null when unknown, ``note`` names the item in hand."""

    stage: str
    done: int = 0
    total: int | None = None
    failed: int = 0
    seconds: float = 0.0
    note: str = ""


def render(state: Progress, width: int) -> str:
    """Draw a state in one line of at most ``width`` terminal cells, safe to print."""
    parts = [_counts(state)]
    if state.failed:
        parts.append(f"{state.failed} failed")
    parts += _pace(state)
    if state.note:
        parts.append(state.note)
    head = clean(state.stage)
    if state.total:
        head = f"{head} {_bar(state.done / state.total)}"
    return fit(f"{head} {clean(' · '.join(parts))}", width)


def clean(text: str) -> str:
    """Replace what could move the cursor or hide: controls, formats, lone surrogates."""
    return "".join("�" if unicodedata.category(c) in _UNSAFE else c for c in text)


def fit(text: str, width: int) -> str:
    """Cut a text to ``width`` cells; wide characters take two, combining marks none."""
    if cells(text) <= width:
        return text
    used, kept = 0, []
    for character in text:
        used += cells(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…" if width > 0 else ""


def cells(text: str) -> int:
    """Count the terminal cells of a text."""
    return sum(_cell(character) for character in text)


_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _bar(share: float) -> str:
    full = min(BAR_CELLS, int(share * BAR_CELLS))
    return f"[{'#' * full}{'.' * (BAR_CELLS - full)}]"


def _counts(state: Progress) -> str:
    return f"{state.done:,}" if state.total is None else f"{state.done:,}/{state.total:,}"


def _pace(state: Progress) -> list[str]:
    """Say the rate and the time left, once there is something to tell them from."""
    if not state.done or state.seconds < RATE_AFTER_SECONDS:
        return []
    rate = state.done / state.seconds
    pace = [f"{rate:,.1f}/s" if rate >= 1 else f"{duration(1 / rate)} each"]
    if state.total is not None and state.done < state.total:
        pace.append(f"{duration((state.total - state.done) / rate)} left")
    return pace


def duration(seconds: float) -> str:
    """Write a span of time in its two largest units."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004 (seconds in a minute)
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:  # noqa: PLR2004 (minutes in an hour)
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


class ProgressLine:
    """Writes progress to a stream, or nothing at all, as ``--progress`` and the stream say."""

    def __init__(
        self, stream: TextIO, mode: Mode = "auto", *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._silent = mode == "never" or (mode == "auto" and not self._terminal)
        self._clock = clock
        self._state = Progress("")
        self._began = self._drawn = 0.0
        self._open = False

    def start(self, stage: str, total: int | None = None) -> None:
        """Begin a stage; the one before it is finished."""
        self.finish()
        self._state = Progress(stage, total=total)
        self._began = self._clock()
        self._drawn = self._began - LINE_SECONDS if self._terminal else self._began
        self._draw_if_due()

    def advance(self, count: int = 1, *, failed: int = 0, note: str = "") -> None:
        """Count items as done, ``failed`` of them without success."""
        state = self._state
        self._state = replace(
            state, done=state.done + count, failed=state.failed + failed, note=note
        )
        self._draw_if_due()

    def tick(self) -> None:
        """Redraw when it is time to, so that the time left moves while one item takes long."""
        self._draw_if_due()

    def say(self, line: str) -> None:
        """Write a line above the progress line; it appears in silent mode, too."""
        self._erase()
        self._stream.write(clean(line) + "\n")
        self._stream.flush()

    def finish(self) -> None:
        """End the stage's line, leaving its last state to be seen."""
        if self._state.stage and not self._silent:
            self._draw()
            if self._open:
                self._stream.write("\n")
                self._stream.flush()
        self._open = False
        self._state = Progress("")

    def _draw_if_due(self) -> None:
        pause = REDRAW_SECONDS if self._terminal else LINE_SECONDS
        if not self._silent and self._state.stage and self._clock() - self._drawn >= pause:
            self._draw()

    def _draw(self) -> None:
        self._drawn = self._clock()
        state = replace(self._state, seconds=self._drawn - self._began)
        if self._terminal:
            width = shutil.get_terminal_size().columns
            self._stream.write("\r" + render(state, width - 1) + "\x1b[K")
            self._open = True
        else:
            self._stream.write(render(replace(state, note=""), 200) + "\n")
        self._stream.flush()

    def _erase(self) -> None:
        if self._open:
            self._stream.write("\r\x1b[K")
            self._open = False
