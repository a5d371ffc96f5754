"""What ``doctor`` looks at around the store: packages, codecs, languages, who may read the root."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from muniment.store.errors import ExitCode, MunimentError


class Check(NamedTuple):
    """One thing that was looked at; ``needed`` false marks what is optional."""

    area: str
    name: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True
    exit_code: ExitCode = ExitCode.MISSING_TOOL


_NAME = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"extra == [\"']([\w-]+)[\"']")
_FOR_DEVELOPERS = {"dev", "services"}
# What people's files are in, by the names that ffmpeg's decoders go by.
_DECODERS = {
    "H.264 film": ("h264",), "HEVC film": ("hevc",), "VP9 film": ("vp9", "libvpx-vp9"),
    "AV1 film": ("libdav1d", "av1", "libaom-av1"), "MPEG-4 film": ("mpeg4",),
    "Motion JPEG film": ("mjpeg",), "AAC sound": ("aac",), "MP3 sound": ("mp3float", "mp3"),
    "Opus sound": ("opus", "libopus"), "Vorbis sound": ("vorbis", "libvorbis"),
    "FLAC sound": ("flac",), "Apple lossless sound": ("alac",), "AMR sound": ("amrnb",),
}  # fmt: skip
_ENCODERS = {"PCM": ("pcm_s16le",), "PNG": ("png",), "AAC clips": ("aac",),
             "H.264 clips": ("libx264", "libopenh264", "h264")}  # fmt: skip
# What each language needs beyond the rules that hold for all of them.
_LANGUAGES = {
    "English": ("word forms", "PyStemmer"), "Chinese": ("words", "rjieba"),
    "traditional Chinese": ("simplified forms", "opencc-python-reimplemented"),
}  # fmt: skip
_SHARED = 0o077


def packages() -> Iterator[Check]:
    """Name every package that this one runs on, and of each extra what is missing."""
    from importlib import metadata

    for requirement in metadata.requires("muniment") or []:
        name, extra = _NAME.match(requirement), _EXTRA.search(requirement)
        if name is None or (extra and extra[1] in _FOR_DEVELOPERS):
            continue
        fix = f"pip install 'muniment[{extra[1]}]'" if extra else f"pip install {name[0]}"
        area = f"extra {extra[1]}" if extra else "package"
        try:
            yield Check(area, name[0], True, metadata.version(name[0]))
        except metadata.PackageNotFoundError:
            yield Check(area, name[0], False, "not installed", fix, extra is None)


def codecs() -> Iterator[Check]:
    """Name what ffmpeg reads and writes of what is asked of it."""
    from muniment.adapters.process import RunLimits, find_program, run

    for option, wanted, does in (("-decoders", _DECODERS, "reads"),
                                 ("-encoders", _ENCODERS, "writes")):  # fmt: skip
        try:
            asked = [find_program("ffmpeg"), "-hide_banner", option]
            said = run(asked, RunLimits(wall_seconds=20)).decode("utf-8", "replace")
        except MunimentError:  # that it is missing is told already
            return
        known = {line.split()[1] for line in said.splitlines() if len(line.split()) > 1}
        for name, any_of in wanted.items():
            found = next((one for one in any_of if one in known), None)
            detail = f"{does} it with {found}" if found else f"this ffmpeg {does} none of it"
            yield Check("codec", name, found is not None, detail,
                        f"install an ffmpeg that has {any_of[0]}", needed=False)  # fmt: skip


def languages() -> Iterator[Check]:
    """Name the languages whose words are taken apart by more than what holds for all."""
    from importlib import metadata

    yield Check("language", "any", True, "found by its words, letters and, with a model, meaning")
    for name, (what, package) in _LANGUAGES.items():
        try:
            yield Check("language", name, True, f"{what} by {package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            yield Check("language", name, False, f"no {what}", f"pip install {package}")


def permissions(places: Iterable[tuple[str, Path]]) -> Iterator[Check]:
    """Tell whether others on this machine could read what is kept."""
    for name, path in places:
        if not path.exists():
            continue
        mode = path.stat().st_mode & 0o777
        detail = f"{path}: {mode:03o}, " + ("shared" if mode & _SHARED else "yours alone")
        yield Check("permission", name, not mode & _SHARED, detail,
                    f"chmod go= {path}", needed=False)  # fmt: skip
