"""Which files beside a picture, a recording or a film are about it, by their names alone.

A photo takeout describes ``photo.jpg`` in ``photo.jpg.json`` or
``photo.jpg.supplemental-metadata.json``, cuts what comes before ``.json`` at 46 characters, and
moves the number of ``photo(1).jpg`` behind: ``photo.jpg(1).json``. Edited copies have no file of
their own.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

TAKEOUT_CHARACTERS = 46
_KEY_CHARACTERS = 40
_SUPPLEMENT = ".supplemental-metadata"
_NUMBERED = re.compile(r"(.*)(\(\d+\))")
# As the export is written in the account's language.
_EDITED = re.compile(
    r"-(?:edited|bearbeitet|modifié|editado|editada|edytowane|modificato|bewerkt|ha editado"
    r"|effects|smile|mix|已修改|已編輯|編集済み|edit)$"
)
_TEXTS = {".srt": "subtitles", ".vtt": "subtitles", ".ass": "subtitles", ".ssa": "subtitles",
          ".lrc": "subtitles", ".txt": "text"}  # fmt: skip
_LANGUAGE = re.compile(r"\.[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?(?:\.(?:forced|sdh|cc))?$")
_STILLS = (".heic", ".heif", ".jpg", ".jpeg")
_CLIPS = (".mov", ".mp4")


class Pair(NamedTuple):
    """A file of a folder, another that is about it, and by which rule."""

    name: str
    other: str
    relation: str
    rule: str


def pairs(media: Iterable[str], others: Iterable[str]) -> Iterator[Pair]:
    """Yield what belongs together among the media files and the other files of one folder."""
    media, others = sorted(media), sorted(others)
    known = {name.lower(): name for name in others}
    texts = _texts_by_stem(others)
    exports = [name for name in others if name.lower().endswith(".json")]
    for name in media:
        yield from _metadata(name, known)
        beside = {*texts[split_name(name)[0].lower()], *texts[name.lower()]}
        yield from (Pair(name, other, _relation(other), "same_stem") for other in sorted(beside))
        yield from _takeout(name, exports)
    yield from _live_photos(media)


def key_of(name: str) -> str:
    """Return the beginning that a name shares with the names of whatever is about it."""
    stem = _EDITED.sub("", split_name(name)[0])
    return re.split(r"[.(]", stem, maxsplit=1)[0][:_KEY_CHARACTERS] or name[:1]


def split_name(name: str) -> tuple[str, str]:
    """Return a name's stem and its suffix with the dot."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, dot + suffix) if stem else (name, "")


def _metadata(name: str, known: dict[str, str]) -> Iterator[Pair]:
    """Prefer the XMP file with the whole name: the stem's may be that of the raw picture."""
    for spelling in (f"{name}.xmp", f"{split_name(name)[0]}.xmp"):
        found = known.get(spelling.lower())
        if found is not None:
            yield Pair(name, found, "sidecar", "xmp")
            return


def _texts_by_stem(others: list[str]) -> defaultdict[str, list[str]]:
    """Return texts and subtitles by each stem that they may be about; a language is left out."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for other in others:
        rest, suffix = split_name(other.lower())
        if suffix in _TEXTS:
            found[rest].append(other)
            if _relation(other) == "subtitles":
                found[_LANGUAGE.sub("", rest)].append(other)
    return found


def _relation(other: str) -> str:
    return _TEXTS[split_name(other.lower())[1]]


def _takeout(name: str, exports: list[str]) -> Iterator[Pair]:
    for title in (name, _unedited(name)):
        found = [
            (other, rule) for other in _near(title, exports) if (rule := takeout_rule(title, other))
        ]
        # One that is not cut is sure; of several that are cut alike, none is.
        sure = [pair for pair in found if pair[1] == "takeout"] or found
        if len(sure) == 1:
            rule = sure[0][1] if title == name else f"{sure[0][1]}_edited"
            yield Pair(name, sure[0][0], "sidecar", rule)
            return


def _near(title: str, exports: list[str]) -> Iterator[str]:
    """Yield, of sorted names, those that begin like a title."""
    key = key_of(title)
    for other in exports[bisect_left(exports, key) :]:
        if not other.startswith(key):
            return
        yield other


def takeout_rule(name: str, other: str) -> str:
    """Name the rule by which a takeout's JSON file is about a file, or return nothing."""
    base = other[: -len(".json")]
    for title, number in _readings(name):
        if number and not base.endswith(number):
            continue
        rest = base[: len(base) - len(number)]
        whole = title + _SUPPLEMENT
        if rest in {title, whole}:
            return "takeout"
        cut = len(rest) >= TAKEOUT_CHARACTERS and len(rest) < len(title)
        if whole.startswith(rest) and (cut or len(rest) > len(title)):
            return "takeout_cut"
    return ""


def _readings(name: str) -> Iterator[tuple[str, str]]:
    stem, suffix = split_name(name)
    yield name, ""
    numbered = _NUMBERED.fullmatch(stem)
    if numbered is not None:
        yield numbered[1] + suffix, numbered[2]


def _unedited(name: str) -> str:
    stem, suffix = split_name(name)
    numbered = _NUMBERED.fullmatch(stem)
    plain, number = (numbered[1], numbered[2]) if numbered else (stem, "")
    return _EDITED.sub("", plain) + number + suffix


def _live_photos(media: list[str]) -> Iterator[Pair]:
    stills = {split_name(name)[0]: name for name in media if name.lower().endswith(_STILLS)}
    for name in media:
        stem, suffix = split_name(name)
        still = stills.get(stem) or stills.get(split_name(stem)[0])
        if suffix.lower() in _CLIPS and still is not None:
            yield Pair(still, name, "live_photo", "same_stem")
