"""The lines that calendars and contacts are made of: ``NAME;PARAM=value:value``, unfolded."""

import quopri
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from muniment.adapters.formats.chats.message import clean
from muniment.adapters.formats.encodings import decode

MAX_LINE = 4 * 1024 * 1024
_PARAMETER = re.compile(r';\s*([A-Za-z0-9-]+)(?:=("[^"]*"|[^";:]*)(?:,(?:"[^"]*"|[^";:,]*))*)?')
_NAME = re.compile(r"(?:[A-Za-z0-9_-]+\.)?([A-Za-z0-9-]+)")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "N": "\n"}


class ContentLine(NamedTuple):
    """One property: its name in capitals, its parameters by name in capitals, its raw value."""

    name: str
    parameters: dict[str, str]
    value: str

    @property
    def text(self) -> str:
        """The value without escapes and transfer encoding."""
        return unescaped(self.decoded)

    @property
    def decoded(self) -> str:
        """The value without transfer encoding."""
        if self.parameters.get("ENCODING", "").upper() != "QUOTED-PRINTABLE":
            return self.value
        return decode(quopri.decodestring(self.value.encode("utf-8", "surrogatepass"))).text


def content_lines(blocks: Iterable[str]) -> Iterator[ContentLine]:
    """Yield the properties of a text; what is none is passed over."""
    for line in _unfolded(blocks):
        if parsed := _parsed(line):
            yield parsed


def unescaped(value: str) -> str:
    r"""Resolve ``\n``, ``\,``, ``\;`` and ``\\``."""
    if "\\" not in value:
        return value
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value)


def fields(value: str, separator: str = ";") -> list[str]:
    """Cut a value at separators that are not escaped, and resolve the rest."""
    return [unescaped(piece) for piece in re.split(rf"(?<!\\){separator}", value)]


def _unfolded(blocks: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    size, quoted = 0, False
    for line in _lines(blocks):
        soft = quoted and held[-1:] != [] and held[-1].endswith("=")
        if held and size < MAX_LINE and (soft or line[:1] in (" ", "\t")):
            if soft:
                held[-1] = held[-1][:-1]
            held.append(line if soft else line[1:])
        else:
            if held:
                yield "".join(held)
            held, size = [line], 0
            quoted = "QUOTED-PRINTABLE" in line[:200].upper()
        size += len(line)
    if held:
        yield "".join(held)


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for block in blocks:
        *whole, rest = re.split(r"\r\n|\n|\r(?!\Z)", rest + block)
        yield from whole
        rest = rest[:MAX_LINE]
    yield rest.rstrip("\r")


def _parsed(line: str) -> ContentLine | None:
    name = _NAME.match(line)
    if name is None:
        return None
    at = name.end()
    parameters: dict[str, str] = {}
    while match := _PARAMETER.match(line, _past_empty(line, at)):
        word, value = match[1].upper(), (match[2] or "").strip('"')
        if match[2] is None and word in {"QUOTED-PRINTABLE", "BASE64"}:
            word, value = "ENCODING", word
        elif match[2] is None:
            word, value = "TYPE", word
        known = parameters.get(word)
        parameters[word] = f"{known},{value}" if known else value
        at = match.end()
    at = _past_empty(line, at) + (line[at : at + 1] == ";")
    if line[at : at + 1] != ":":
        return None
    return ContentLine(name[1].upper(), parameters, clean(line[at + 1 :]).replace("\x00", ""))


def _past_empty(line: str, at: int) -> int:
    """Skip semicolons that nothing follows but another one."""
    while line[at : at + 2] == ";;":
        at += 1
    return at
