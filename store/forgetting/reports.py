"""Checkpoints that carry what goes: a host reports in words of its own, so words are compared.

A word that something else says, which stays, is not of what goes.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from muniment.store.database import rows
from muniment.store.forgetting.going import going
from muniment.store.text.fold import fold
from muniment.store.text.stopwords import CHINESE, ENGLISH
from muniment.store.text.words import grams_of, raw_words, stem, unspaced_runs

UNFINISHED = "json_extract(fragment, '$.text')"  # of an event that is a voice fragment
# What has words, and where they stand.
SAID = {
    "observation": "text", "record_version": "text", "candidate": "text", "entity_name": "name",
    "event": UNFINISHED,
}  # fmt: skip
_STAYING = f"""
SELECT text FROM observation WHERE instr(lower(text), ?)
AND seq NOT IN {going("observation")}
"""


def carrying(database: apsw.Connection) -> list[int]:
    """Return the checkpoints that hold a word of what goes, and of nothing that stays."""
    reports = {
        int(number): frozenset().union(*map(_words, _texts(json.loads(state))))
        for number, state in rows(
            database,
            f"SELECT seq, state FROM checkpoint WHERE seq NOT IN {going('checkpoint')}",
        )
    }
    asked = frozenset().union(*reports.values())
    shared: dict[str, set[str]] = {}
    for text in _going(database) if asked else ():
        said = _words(text)
        for word in asked & said.keys():
            shared.setdefault(word, {word}).add(said[word])
    own = {word for word, forms in shared.items() if not _stays(database, word, forms)}
    return [number for number, words in reports.items() if words & own]


def _going(database: apsw.Connection) -> Iterator[str]:
    """Yield what is said in what goes, and the names of its files without their endings."""
    for table, column in SAID.items():
        for (text,) in database.execute(
            f"SELECT {column} FROM {table} WHERE seq IN {going(table)}"
        ):
            yield text or ""
    for (path,) in database.execute(f"SELECT path FROM sighting WHERE seq IN {going('sighting')}"):
        name = bytes(path).rpartition(b"/")[2] if bytes(path).startswith(b"/") else b""
        yield name.decode("utf-8", "replace").rpartition(".")[0]


def _stays(database: apsw.Connection, word: str, forms: Iterable[str]) -> bool:
    return any(
        word in _words(text) for form in forms for (text,) in database.execute(_STAYING, (form,))
    )


def _texts(state: Any) -> Iterator[str]:
    if isinstance(state, str):
        yield state
    elif isinstance(state, dict | list):
        for part in state.values() if isinstance(state, dict) else state:
            yield from _texts(part)


def _words(text: str) -> dict[str, str]:
    """Return the telling words of a text by their stems; pairs, of what has no spaces."""
    folded = fold(text)
    found = {stem(one): one for one in raw_words(folded) if len(one) > 1 and one not in ENGLISH}
    for run in unspaced_runs(folded):
        for pair in grams_of(run):
            if len(pair) == min(len(run), 2) and not (pair in CHINESE or CHINESE.issuperset(pair)):
                found[pair] = pair
    return found
