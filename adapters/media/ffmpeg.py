"""ffmpeg and ffprobe at work on one asset: probe it, stream its sound, its key frames, its text.

Command lines are compiled by ffmpeg-python and run by :mod:`muniment.adapters.process`. Only the
hash-named file is opened, only by the demuxers that its magic bytes allow, only from disk.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.media.demuxers import HEAD_BYTES, demuxer_for
from muniment.adapters.media.probe import Probe, parse_probe
from muniment.adapters.ports import Limits, Source
from muniment.adapters.process import (
    Ended,
    RunLimits,
    Running,
    find_program,
    last_line,
    run,
    running,
)
from muniment.store.errors import InputError

if TYPE_CHECKING:
    import numpy as np

SAMPLE_RATE = 16_000
TOOL_MEMORY_BYTES = 4 * 1024**3
TOOL_FILE_BYTES = 4 * 1024**3
MAX_BLOCK_BYTES = 512 * 1024**2
PROBE_SECONDS = 120
# Formats whose header holds no length: ffprobe guesses it from the bit rate, often by far.
_GUESSED = ("aac", "mp3", "ac3", "eac3", "dts", "amr", "loas", "mpegvideo", "mpeg", "flv")
_DAMAGE = re.compile(r"\[(?:error|fatal)\]")
_HARMLESS = ("Application provided invalid, non monotonically increasing dts",)


def probe(source: Source, limits: Limits) -> Probe:
    """Look at a file's streams, times and tags.

    Raises ``InputError``: ``unsupported_format`` when its bytes name no self-contained media
    format, ``unreadable`` when ffprobe makes nothing of it.
    """
    demuxers = _demuxers(source)
    argv = [
        *(find_program("ffprobe"), "-hide_banner", "-loglevel", "error"),
        *("-protocol_whitelist", "file", "-format_whitelist", demuxers),
        *("-show_format", "-show_streams", "-show_chapters", "-of", "json"),
        *("-i", str(source.file())),
    ]
    try:
        output = run(argv, run_limits(limits, min(PROBE_SECONDS, limits.tool_seconds)))
        found = parse_probe(json.loads(output), demuxers)
    except InputError as error:
        if error.code != "tool_failed":
            raise
        raise InputError(_public(str(error), source), code="unreadable") from error
    except ValueError as error:
        raise InputError("ffprobe gave no answer", code="unreadable") from error
    if found.streams and (found.duration_ms is None or found.format in _GUESSED):
        streams = tuple(replace(stream, duration_ms=None) for stream in found.streams)
        walked = _walked_duration(source, found, limits)
        found = replace(found, duration_ms=walked, streams=streams)
    return found


class PcmStream:
    """Sound as float32 mono at 16 kHz, sample 0 lying at ``start_ms`` of the timeline."""

    def __init__(self, program: Running, start_ms: int) -> None:
        self._program = program
        self.start_ms = start_ms
        self.samples_read = 0

    def read(self, samples: int) -> "np.ndarray":
        """Return the next samples, fewer at the end, then none."""
        import numpy as np

        block = self._program.read(samples * 4)
        pcm = np.frombuffer(block[: len(block) // 4 * 4], dtype="<f4")
        self.samples_read += len(pcm)
        window: np.ndarray = np.clip(np.nan_to_num(pcm), -1.0, 1.0).astype(np.float32, copy=False)
        return window

    def damage(self) -> str:
        """Say what ffmpeg complained of once the sound has ended, or nothing."""
        return damage_of(self._program.end())


@contextlib.contextmanager
def pcm_stream(
    source: Source, found: Probe, limits: Limits, start_ms: int = 0, end_ms: int | None = None
) -> Iterator[PcmStream]:
    """Open the sound of a file, or of a span of it; gaps are filled with silence.

    The caller has checked that ``found.audio`` exists.
    """
    assert found.audio is not None
    span: dict[str, Any] = {"ss": f"{start_ms / 1000:.3f}"} if start_ms else {}
    if end_ms is not None:
        span["t"] = f"{max(0, end_ms - start_ms) / 1000:.3f}"
    argv = compile_command(
        source,
        found,
        {"vn": None, "sn": None, "dn": None, **span},
        {
            "map": f"0:{found.audio.index}",
            # Pads a late start and every hole, so that a sample's index is its time.
            "af": "aresample=async=1:first_pts=0",
            "ac": 1,
            "ar": SAMPLE_RATE,
            "format": "f32le",
        },
    )
    with running(argv, run_limits(limits), cwd=source.scratch) as program:
        yield PcmStream(program, start_ms)


def stream_pcm(
    source: Source,
    found: Probe,
    limits: Limits,
    *,
    start_ms: int = 0,
    end_ms: int | None = None,
    window_seconds: int = 60,
) -> Iterator["np.ndarray"]:
    """Yield a file's sound in windows of float32 mono samples at 16 kHz."""
    with pcm_stream(source, found, limits, start_ms, end_ms) as sound:
        while len(window := sound.read(window_seconds * SAMPLE_RATE)):
            yield window


def extract(
    source: Source,
    found: Probe,
    limits: Limits,
    output: dict[str, Any],
    target: Path,
    *,
    before_input: dict[str, Any] | None = None,
) -> Path:
    """Write one file from a source and return it; it exists and holds something.

    Raises ``InputError`` ``tool_failed`` otherwise: ffmpeg ends well without writing anything.
    """
    argv = compile_command(source, found, before_input or {}, output, target)
    run(argv, run_limits(limits), cwd=source.scratch)
    if not target.exists() or target.stat().st_size == 0:
        raise InputError("ffmpeg wrote nothing", code="tool_failed")
    return target


def compile_command(
    source: Source,
    found: Probe,
    before_input: dict[str, Any],
    output: dict[str, Any],
    target: Path | None = None,
    *,
    loglevel: str = "level+error",
) -> list[str]:
    """Compile an ffmpeg command over one source; without a target it writes to stdout."""
    import ffmpeg

    guard = {
        "protocol_whitelist": "file",
        "format_whitelist": found.demuxers,
        "threads": 1,
    }
    program = [find_program("ffmpeg"), "-nostdin", "-hide_banner", "-nostats", "-y"]
    program += ["-loglevel", loglevel, "-max_alloc", str(MAX_BLOCK_BYTES)]
    flow = ffmpeg.input(str(source.file()), **guard, **before_input)
    # One stream is named by ``map``; several are, in ffmpeg-python's way, by ``streams``.
    chosen = [flow[str(index)] for index in output.get("streams", ())] or [flow]
    options = {name: value for name, value in output.items() if name != "streams"}
    written = ffmpeg.output(*chosen, "pipe:1" if target is None else str(target), **options)
    command: list[str] = written.compile(cmd=program)
    return command


def damage_of(ended: Ended) -> str:
    """Return the first complaint kept of an ended ffmpeg, or nothing when it was content."""
    lines = [
        line
        for line in ended.stderr.splitlines()
        if _DAMAGE.search(line) and not any(word in line for word in _HARMLESS)
    ]
    if lines:
        return re.sub(r"^(?:\[[^\]]*\]\s*)+", "", lines[0])[:200]
    return (last_line(ended.stderr) or "ffmpeg failed") if ended.returncode != 0 else ""


def run_limits(limits: Limits, tool_seconds: int | None = None) -> RunLimits:
    """Return the limits that every ffmpeg and ffprobe of ours runs under."""
    allowed = tool_seconds or limits.tool_seconds
    return RunLimits(
        wall_seconds=allowed,
        cpu_seconds=allowed,
        memory_bytes=TOOL_MEMORY_BYTES,
        file_bytes=TOOL_FILE_BYTES,
    )


def _demuxers(source: Source) -> str:
    if source.size == 0:
        raise InputError("the file is empty", code="empty_file", status="empty")
    with source.open() as stream:
        names = demuxer_for(stream.read(HEAD_BYTES))
    if names is None:
        raise InputError(
            "its bytes name no audio or video format", code="unsupported_format", status="failed"
        )
    return names


def _walked_duration(source: Source, found: Probe, limits: Limits) -> int | None:
    """Measure the length by walking through the packets, decoding none."""
    argv = compile_command(
        source, found, {}, {"map": "0", "c": "copy", "ignore_unknown": None, "format": "null"}
    )
    argv[1:1] = ["-progress", "pipe:1"]
    argv[-1] = "-"
    with contextlib.suppress(InputError):
        report = run(argv, run_limits(limits)).decode("ascii", "replace")
        times = re.findall(r"^out_time_us=(\d+)", report, re.MULTILINE)
        if times and int(times[-1]) > 0:
            return round(int(times[-1]) / 1000)
    return found.duration_ms


def _public(message: str, source: Source) -> str:
    """Take our own file name out of a message of ffprobe's."""
    return message.replace(str(source.file()) + ": ", "").replace(str(source.file()), "the file")
