"""Archives: every member becomes an asset, read as it would be in a folder."""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from muniment.adapters.formats.archive_members import Member, Skipped, members
from muniment.adapters.formats.unpacking import BLOCK_BYTES, RATIO_FREE_BYTES, unpacking
from muniment.adapters.ports import Derived, Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError
from muniment.store.ids import asset_id

if TYPE_CHECKING:
    from muniment.store.records import MemberLocator

# Larger members go through a file of the scratch folder.
INLINE_BYTES = 64 * 1024
# What systems and file managers leave behind, and says nothing about anything.
_JUNK = frozenset((".ds_store", "thumbs.db", "desktop.ini", ".localized"))
_JUNK_FOLDERS = ("__MACOSX/", "@eaDir/")


class ArchiveReader:
    """Read zip, tar, and single files packed by gzip, bzip2 or xz; no observations of its own."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield each member once, then how it went.

        Raises ``InputError`` ``depth_limit`` (status ``skipped``), ``archive_format`` (status
        ``unsupported``), ``password`` (status ``encrypted``), ``unreadable``, ``too_many_members``,
        ``unpacked_size`` or ``ratio``. Ends ``partial`` with ``encrypted_members``,
        ``members_unread`` or ``truncated``.
        """
        if source.depth >= tools.limits.max_depth:
            raise InputError(
                f"it lies {source.depth} containers deep", code="depth_limit", status="skipped"
            )
        unpacker = _Unpacker(source, tools.limits)
        yield from unpacker.derived()
        yield unpacker.ending()


class _Unpacker:
    """One pass over the members, counting bytes as they really come."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._unpacked = 0
        self._given = 0
        self._skipped: dict[str, list[str]] = {}

    def derived(self) -> Iterator[Derived]:
        for member in members(self._source, self._limits):
            if isinstance(member, Skipped):
                self._skipped.setdefault(member.reason, []).append(member.path)
            elif not _is_junk(member.path):
                yield from self._member(member)

    def ending(self) -> Outcome:
        for reason, status in (
            ("encrypted_members", "encrypted"),
            ("truncated", "failed"),
            ("members_unread", "failed"),
        ):
            paths = self._skipped.get(reason, [])
            if paths and not self._given and status == "encrypted":
                raise InputError("all of it asks for a password", code="password", status=status)
            if paths and not self._given:
                raise InputError(f"nothing of it could be read ({paths[0]})", code="unreadable")
            if paths:
                words = f"{len(paths)} members: {', '.join(paths[:3])}"
                return Outcome("partial", reason, words)
        if not self._given:
            return Outcome("empty", "no_members", "nothing is in it")
        return Outcome("ok", "members", f"{self._given} members")

    def _member(self, member: Member) -> Iterator[Derived]:
        number = self._given
        try:
            with unpacking("member"), member.open() as stream:
                data, path = self._copied(stream, number)
        except InputError as fault:
            if fault.code != "unreadable":
                raise
            self._skipped.setdefault("members_unread", []).append(member.path)
            return
        if data is not None and asset_id(data) == self._source.asset:
            return  # it contains itself
        self._given += 1
        name = posixpath.basename(member.path.replace("\\", "/")) or member.path
        yield Derived(
            "member", _locator(member.path), name, data=data, path=path, observe=True,
            modified=member.modified(),
        )  # fmt: skip

    def _copied(self, stream: BinaryIO, number: int) -> tuple[bytes | None, Path | None]:
        """Return a small member's bytes, or the file that a large one was written to."""
        data = stream.read(INLINE_BYTES + 1)
        self._count(len(data))
        if len(data) <= INLINE_BYTES:
            return data, None
        path = self._source.scratch / f"member-{number}"
        with path.open("wb") as out:
            while data:
                out.write(data)
                data = stream.read(BLOCK_BYTES)
                self._count(len(data))
        return None, path

    def _count(self, size: int) -> None:
        self._unpacked += size
        most = self._limits.max_unpacked_bytes
        if self._unpacked > most:
            raise InputError(f"it unpacks to more than {most} bytes", code="unpacked_size")
        if self._unpacked > max(RATIO_FREE_BYTES, self._limits.max_ratio * self._source.size):
            raise InputError(f"{self._source.size} bytes unpack to too many", code="ratio")


def _locator(path: str) -> "MemberLocator":
    from muniment.store.records import MemberLocator

    return MemberLocator(path=path)


def _is_junk(path: str) -> bool:
    name = posixpath.basename(path).lower()
    return name in _JUNK or name.startswith("._") or path.startswith(_JUNK_FOLDERS)
