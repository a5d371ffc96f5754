"""Key frames of a film with their exact presentation times, one in memory at a time."""

import contextlib
import queue
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from muniment.adapters.media.ffmpeg import compile_command, damage_of, run_limits
from muniment.adapters.media.probe import Probe, seconds
from muniment.adapters.ports import Limits, Source
from muniment.adapters.process import Running, find_program, run, running
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

LONG_SIDE = 1600
# A slide that follows another on the same background scores 0.02, compression noise 0.003.
SCENE_SCORE = 0.015
MIN_GAP_SECONDS = 1.0
SHORTEST_INTERVAL_SECONDS = 2.0
LONGEST_INTERVAL_SECONDS = 10.0
INTERVALS_PER_FILM = 30
LONG_FILM_MS = 600_000
DENSE_KEY_SECONDS = 15.0
KEY_SURVEY_SECONDS = 120
_TIME_WAIT_SECONDS = 60
_SHOWINFO = re.compile(r"\[Parsed_showinfo_\d+ @ [^\]]*\] \[info\] (.*)")
_TIME_BASE = re.compile(r"config in time_base: (\d+)/(\d+)")
_PTS = re.compile(r"n:\s*\d+ pts:\s*(-?\d+|NOPTS)")


@dataclass(frozen=True, slots=True)
class KeyFrame:
    """An upright frame with square pixels and its time on the container's timeline."""

    at_ms: int
    index: int
    image: "Image.Image"


class _Clock:
    """Reads presentation times from ffmpeg's frame log.

    The log also prints seconds, but with six digits: half a minute off after a day, and a tenth
    of a second after three hours. So the integer stamp is taken, times its base.
    """

    def __init__(self) -> None:
        self.times: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._base = Fraction(1, 1000)
        self._last = 0

    def hear(self, line: str) -> bool:
        """Take what was said at information level; leave complaints."""
        match = _SHOWINFO.match(line)
        if match is None:
            return "[info]" in line
        if base := _TIME_BASE.search(match[1]):
            self._base = Fraction(int(base[1]), max(1, int(base[2])))
        elif stamp := _PTS.match(match[1]):
            if stamp[1] != "NOPTS":
                self._last = max(0, round(int(stamp[1]) * self._base * 1000))
            self.times.put(self._last)
        return True


class KeyFrameStream:
    """The chosen frames of one film, in order of time."""

    def __init__(
        self, program: Running, clock: _Clock, size: tuple[int, int], max_frames: int
    ) -> None:
        self._program = program
        self._clock = clock
        self._size = size
        self._max_frames = max_frames
        self.capped = False

    def __iter__(self) -> Iterator[KeyFrame]:
        from PIL import Image

        width, height = self._size
        index = 0
        while len(pixels := self._program.read(width * height * 3)) == width * height * 3:
            if index >= self._max_frames:
                self.capped = True
                return
            image = Image.frombytes("RGB", self._size, pixels)
            yield KeyFrame(self._time(), index, image)
            index += 1

    def damage(self) -> str:
        """Say what ffmpeg complained of, or nothing."""
        return "" if self.capped else damage_of(self._program.end())

    def _time(self) -> int:
        try:
            return self._clock.times.get(timeout=_TIME_WAIT_SECONDS)
        except queue.Empty:
            raise InputError("a frame came without its time", code="tool_failed") from None


@contextlib.contextmanager
def key_frames(source: Source, found: Probe, limits: Limits) -> Iterator[KeyFrameStream]:
    """Open the key frames of a film: the first, each change of scene, and one an interval.

    The caller has checked that ``found.video`` exists.
    """
    assert found.video is not None
    size = fit(found.video.display_size, LONG_SIDE)
    clock = _Clock()
    argv = compile_command(
        source,
        found,
        {"an": None, "sn": None, "dn": None, **_decoding(source, found, limits)},
        {
            "map": f"0:{found.video.index}",
            "vf": _filters(size, found.duration_ms, limits.max_key_frames),
            "fps_mode": "passthrough",
            "pix_fmt": "rgb24",
            "format": "rawvideo",
        },
        loglevel="level+info",
    )
    with running(argv, run_limits(limits), cwd=source.scratch, on_line=clock.hear) as program:
        yield KeyFrameStream(program, clock, size, limits.max_key_frames)


def fit(size: tuple[int, int], longest: int) -> tuple[int, int]:
    """Shrink a size so that its longer side is at most ``longest``."""
    share = min(1.0, longest / max(size))
    return max(1, round(size[0] * share)), max(1, round(size[1] * share))


def intervals(duration_ms: int | None, max_frames: int) -> tuple[float, float]:
    """Return the least and the most seconds between two key frames.

    They grow with the film so that the cap is never what cuts it short.
    """
    length = (duration_ms or 0) / 1000
    least = max(MIN_GAP_SECONDS, length / max(1, max_frames - 1))
    wished = min(
        LONGEST_INTERVAL_SECONDS, max(SHORTEST_INTERVAL_SECONDS, length / INTERVALS_PER_FILM)
    )
    return least, max(wished, 2 * least)


def _filters(size: tuple[int, int], duration_ms: int | None, max_frames: int) -> str:
    least, most = intervals(duration_ms, max_frames)
    chosen = (
        "isnan(prev_selected_t)"
        f"+gt(scene,{SCENE_SCORE})*gte(t-prev_selected_t,{least:.3f})"
        f"+gte(t-prev_selected_t,{most:.3f})"
    )
    return f"scale={size[0]}:{size[1]},setsar=1,select='{chosen}',showinfo=checksum=0,format=rgb24"


def _decoding(source: Source, found: Probe, limits: Limits) -> dict[str, Any]:
    """Decode only self-contained frames of a long film, if it has enough of them."""
    if (found.duration_ms or 0) <= LONG_FILM_MS or not _keys_are_dense(source, found, limits):
        return {}
    return {"skip_frame": "nokey"}


def _keys_are_dense(source: Source, found: Probe, limits: Limits) -> bool:
    assert found.video is not None
    argv = [
        *(find_program("ffprobe"), "-hide_banner", "-loglevel", "error"),
        *("-protocol_whitelist", "file", "-format_whitelist", found.demuxers),
        *("-select_streams", str(found.video.index), "-show_entries", "packet=pts_time,flags"),
        *("-read_intervals", f"%+{KEY_SURVEY_SECONDS}", "-of", "csv=p=0"),
        *("-i", str(source.file())),
    ]
    try:
        report = run(argv, run_limits(limits)).decode("ascii", "replace")
    except InputError:
        return False
    rows = [line.split(",") for line in report.splitlines() if "," in line]
    keys = [seconds(row[0]) for row in rows if "K" in row[1]]
    times = [key for key in keys if key is not None]
    gaps = [after - before for before, after in pairwise(times)]
    return len(times) >= KEY_SURVEY_SECONDS / DENSE_KEY_SECONDS and max(gaps) <= DENSE_KEY_SECONDS
