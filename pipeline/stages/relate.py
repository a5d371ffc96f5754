"""Relate: link assets that belong together, and let a sidecar say when and where.

Nothing is merged or hidden. The cost follows what was newly seen: of a folder, only the names that
begin like a new one are looked at.
"""

import os
from datetime import timedelta
from posixpath import dirname, normpath
from typing import Any

from muniment.adapters.formats.sidecars import MAX_BYTES, read_sidecar
from muniment.pipeline.stages.capture import RANKS
from muniment.pipeline.stages.run import Run
from muniment.pipeline.stages.sidecar_names import Pair, key_of, pairs
from muniment.store.ids import digest
from muniment.store.ledger.beside import Attached, Placed
from muniment.store.times import parse_local, parse_utc

STAGE = "relate"
VERSION = "1"
BATCH = 1_000
MEDIA = frozenset({"image", "audio", "video"})
# A live photo's clip is this long at most, and as far from the still.
LIVE_MILLISECONDS = 6_000
LIVE_APART = timedelta(seconds=5)
_OWN_CLOCK = frozenset({"exif_offset", "exif_gps", "exif", "container"})
# Where apps put the files that a log beside these folders names.
_FOLDERS = (
    "", "Media/", "media/", "WhatsApp Images/", "WhatsApp Video/", "WhatsApp Audio/",
    "WhatsApp Voice Notes/", "WhatsApp Documents/", "photos/", "files/",
)  # fmt: skip
_HEADER_CONFIDENCE = 0.7


class Relations:
    """One relate step, run behind the readers."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._ledger = run.ledger
        self._fingerprint = digest(STAGE, VERSION)
        self._folders: set[bytes] = set()
        self._archives: set[int] = set()
        self._retimed: set[int] = set()

    def relate(self) -> None:
        """Link what was newly seen with what lies beside it, then media with their messages."""
        self._files()
        self._members()
        self._chats()
        self._regroup()

    def _files(self) -> None:
        attempts, beside = self._ledger.attempts, self._ledger.beside
        mark = attempts.mark(STAGE, "sightings")
        while new := beside.new_paths(mark, BATCH):
            mark = new[-1][0]
            prefixes = dict.fromkeys(
                _prefix(path) for _, path in new if path.startswith(b"/") and _prefix(path)
            )
            with self._ledger.unit():
                for prefix in prefixes:
                    self._folders.add(dirname(prefix))
                    self._link_all(beside.starting_with(prefix))
                attempts.set_mark(STAGE, mark, "sightings")

    def _members(self) -> None:
        attempts, beside = self._ledger.attempts, self._ledger.beside
        archives = beside.new_members(attempts.mark(STAGE, "members"))
        with self._ledger.unit():
            for archive in archives:
                self._archives.add(archive)
                folders: dict[bytes, list[Placed]] = {}
                for member in beside.members(archive):
                    folders.setdefault(dirname(member.path), []).append(member)
                for members in folders.values():
                    self._link_all(members)
            attempts.set_mark(STAGE, beside.last_member(), "members")

    def _link_all(self, placed: list[Placed]) -> None:
        """Link what belongs together in one folder, or in one part of it."""
        names = {os.fsdecode(one.path.rpartition(b"/")[2]): one for one in placed}
        media = [name for name, one in names.items() if one.family in MEDIA]
        others = [name for name, one in names.items() if one.family not in MEDIA]
        for pair in pairs(media, others):
            one, other = names[pair.name], names[pair.other]
            if pair.relation == "sidecar":
                self._sidecar(pair, one, other)
            elif pair.relation != "live_photo" or self._is_live(one, other):
                self._ledger.links.add(one.asset, other.asset, pair.relation, _basis(pair))

    def _sidecar(self, pair: Pair, one: Placed, other: Placed) -> None:
        data = self._bytes(other.asset)
        found = None if data is None else read_sidecar(data, pair.other)
        if found is None:
            return
        basis = _basis(pair) | dict(found.facts)
        if not self._ledger.links.add(one.asset, other.asset, pair.relation, basis):
            return
        attempt = self._attempt(other.asset)
        for claim in found.times:
            self._time(one.asset, claim.moment.model_dump(), "sidecar", claim.confidence, attempt)
        for place in found.places:
            position = (place.latitude, place.longitude, place.altitude)
            self._ledger.evidence.add_place(one.asset, position, place.source, attempt)

    def _attempt(self, asset: int) -> int:
        """Say on whose word a claim rests: when that asset is erased, the claim goes, too."""
        return self._ledger.attempts.add(
            asset, STAGE, "sidecar", self._fingerprint, status="ok", run=self._run.id
        )

    def _time(
        self, asset: int, moment: dict[str, Any], source: str, confidence: float, attempt: int
    ) -> None:
        before = self._ledger.beside.taken(asset)
        self._ledger.evidence.add_time(
            asset, moment, source, RANKS[source], confidence, attempt=attempt
        )
        if self._ledger.beside.taken(asset) != before:
            self._retimed.add(asset)

    def _bytes(self, number: int) -> bytes | None:
        row = next(self._ledger.assets.rows("a.seq = ?", (number,)), None)
        if row is None or row.size > MAX_BYTES:
            return None
        if row.storage == "inline":
            return self._ledger.assets.inline_bytes(number)
        return self._ledger.assets.file(row.id).read_bytes()

    def _is_live(self, still: Placed, clip: Placed) -> bool:
        if (still.family, clip.family) != ("image", "video"):
            return False
        duration = self._ledger.beside.duration_ms(clip.asset)
        if duration is None or duration > LIVE_MILLISECONDS:
            return False
        one, other = self._ledger.beside.taken(still.asset), self._ledger.beside.taken(clip.asset)
        if one is None or other is None or not {one[1], other[1]} <= _OWN_CLOCK:
            return True
        return _apart(one[0], other[0]) <= LIVE_APART

    def _chats(self) -> None:
        attempts = self._ledger.attempts
        mark, last = attempts.mark(STAGE, "messages"), self._ledger.evidence.last()
        with self._ledger.unit():
            for chat in self._ledger.beside.chats():
                if self._is_touched(chat) or self._has_news(chat, mark):
                    self._link_messages(chat)
            attempts.set_mark(STAGE, last, "messages")

    def _is_touched(self, chat: Placed) -> bool:
        if chat.parent is not None:
            return chat.parent in self._archives
        folder = dirname(chat.path)
        inside = (folder + b"/" + name.rstrip("/").encode() for name in _FOLDERS if name)
        return not self._folders.isdisjoint({folder, *inside})

    def _has_news(self, chat: Placed, mark: int) -> bool:
        row = next(self._ledger.evidence.live("o.asset = ? AND o.seq > ? LIMIT 1",
                                              (chat.asset, mark)), None)  # fmt: skip
        return row is not None

    def _link_messages(self, chat: Placed) -> None:
        inside = (
            None
            if chat.parent is None
            else {one.path: one for one in self._ledger.beside.members(chat.parent)}
        )
        attempt = None
        for message in self._ledger.beside.attached(chat.asset):
            named = self._named(chat, message, inside)
            if named is None or named.asset == chat.asset:
                continue
            basis = {"rule": "named", "observation": message.observation, "name": message.name}
            if self._ledger.links.add(named.asset, chat.asset, "message", basis):
                attempt = attempt or self._attempt(chat.asset)
                if message.occurred is not None and named.family in MEDIA:
                    self._time(named.asset, message.occurred, "header", _HEADER_CONFIDENCE, attempt)

    def _named(
        self, chat: Placed, message: Attached, inside: dict[bytes, Placed] | None
    ) -> Placed | None:
        """Return the file that a message names, beside its log."""
        name = normpath(message.name.replace("\\", "/").replace("\0", ""))
        if name.startswith(("/", "..")):
            return None
        for folder in _FOLDERS:
            path = dirname(chat.path) + b"/" if dirname(chat.path) != b"/" else b"/"
            path = b"" if inside is not None and not dirname(chat.path) else path
            path += (folder + name).encode("utf-8", "surrogateescape")
            found = inside.get(path) if inside is not None else self._ledger.beside.at(path)
            if found is not None:
                return found
        return None

    def _regroup(self) -> None:
        """Draft the episodes anew of what is known to be of another time by now."""
        from muniment.pipeline.stages.group import STAGE as GROUP
        from muniment.pipeline.stages.group import Groups

        grouped = self._ledger.attempts.mark(GROUP)
        touched = self._ledger.beside.observations(self._retimed, grouped)
        if touched:
            with self._ledger.unit():
                Groups(self._ledger, self._run.tally).regroup(touched)


def _prefix(path: bytes) -> bytes:
    folder, _, name = path.rpartition(b"/")
    return folder + b"/" + os.fsencode(key_of(os.fsdecode(name)))


def _basis(pair: Pair) -> dict[str, Any]:
    return {"rule": pair.rule, "name": pair.other}


def _apart(one: dict[str, Any], other: dict[str, Any]) -> timedelta:
    """Return how far two moments are apart, by their instants or else their wall times."""
    if one["utc"] and other["utc"]:
        return abs(parse_utc(one["utc"]) - parse_utc(other["utc"]))
    if one["local"] and other["local"]:
        return abs(parse_local(one["local"]) - parse_local(other["local"]))
    return timedelta(0)
