"""A whole Slack export: a zip of one JSON file a channel and day, and who is who."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muniment.adapters.formats.archive_members import ZIP
from muniment.adapters.formats.archives import ArchiveReader
from muniment.adapters.formats.chats.message import Flaw, Message
from muniment.adapters.formats.chats.workspace import messages_of, people_of
from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.unpacking import is_encrypted, member_name, open_zip, unpacking
from muniment.adapters.ports import Derived, Draft, Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from muniment.store.records import MemberLocator

MAX_DAY_BYTES = 128 * 1024 * 1024
_DAY = re.compile(r"([^/]+)/\d{4}-\d\d-\d\d\.json")
_LISTS = frozenset(("users.json", "channels.json", "groups.json", "dms.json", "mpims.json"))


class SlackReader:
    """Read Slack exports (kind ``message``); a channel is a thread."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield the messages of each channel by day, then whatever else is in the zip.

        Raises ``InputError`` as archives do; ends ``partial`` with ``broken_messages``.
        """
        export = _Export(source, tools.limits)
        yield from export.drafts()
        ending: Outcome | None = None
        for finding in ArchiveReader().read(replace(source, media_type=ZIP), tools):
            if isinstance(finding, Outcome):
                ending = finding
            elif isinstance(finding, Derived) and not export.has_read(finding):
                yield finding
        if export.flaws:
            words = f"{export.flaws} messages could not be read"
            yield Outcome("partial", "broken_messages", words)
        elif ending is not None and ending.status != "ok":
            yield ending


class _Export:
    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._read: set[str] = set(_LISTS)
        self.flaws = 0

    def has_read(self, derived: Derived) -> bool:
        return getattr(derived.locator, "path", None) in self._read

    def drafts(self) -> Iterator[Draft]:
        with self._source.open() as stream, open_zip(stream, self._limits) as opened:
            days = {
                member_name(info): info
                for info in opened.infolist()
                if _DAY.fullmatch(member_name(info)) and not is_encrypted(info)
            }
            people = people_of(self._document(opened, "users.json"))
            for path in sorted(days):
                yield from self._day(opened, path, days[path], people)

    def _day(
        self, opened: zipfile.ZipFile, path: str, info: zipfile.ZipInfo, people: Mapping[str, str]
    ) -> Iterator[Draft]:
        document = self._document(opened, info.filename)
        if document is None:
            return  # whatever it is, it is read as a member
        self._read.add(path)
        index = 0
        for item in messages_of(document, people, path.partition("/")[0]):
            if isinstance(item, Flaw):
                self.flaws += 1
            else:
                yield _draft(item, path, index)
                index += 1

    def _document(self, opened: zipfile.ZipFile, name: str) -> Any:
        try:
            with unpacking("zip file"):
                info = opened.getinfo(name)
                if info.file_size > MAX_DAY_BYTES:
                    return None
                return json.loads(decode(opened.read(info)).text)
        except (InputError, KeyError, ValueError, RecursionError, RuntimeError):
            return None


def _draft(message: Message, path: str, index: int) -> Draft:
    return Draft(
        kind="message",
        text=message.text,
        locator=_locator(message, path, index),
        confidence=1.0,
        origin="third_party",
        role=message.role,
        language=script_language(message.text),
        author=message.author,
        thread=f"#{message.thread}",
        occurred=message.sent,
        attributes=message.attributes,
    )


def _locator(message: Message, path: str, index: int) -> "MemberLocator":
    from muniment.store.records import MemberLocator, MessageLocator

    sent_at = (message.sent.utc or message.sent.local) if message.sent else None
    inner = MessageLocator(index=index, author=message.author, sent_at=sent_at)
    return MemberLocator(path=path, inner=inner)
