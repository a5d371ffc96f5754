"""From references and conditions to the rows that they name."""

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from muniment.pipeline import refs
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.forgetting import personas
from muniment.store.forgetting.selection import Selection, Selector, Wanted

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

SCOPE = "scope:."
_ID = re.compile(r"(?:obs|ep|cand|rec|ent)_[0-9a-f]{32}")


def choose(ledger: "Ledger", named: Sequence[str], wanted: Wanted) -> Selection:
    """Return what is named and meets the conditions; raise ``NotFoundError`` for nothing."""
    if not named and not wanted:
        raise UsageError(
            "nothing to forget",
            hint="name a REF or a condition; everything there is, is scope:.",
        )
    selector = Selector(ledger.database)
    for text in named:
        if not _add(ledger, selector, text):
            refs.require_path(text)
            raise NotFoundError(f"nothing is here under {text}", hint="see: muniment list assets")
    if wanted:
        selector.matching(wanted)
    selector.whole()
    if not selector.found:
        raise NotFoundError(
            "nothing meets these conditions", hint="see: muniment list observations"
        )
    return selector.found


def _add(ledger: "Ledger", selector: Selector, text: str) -> bool:
    if text == SCOPE:
        selector.everything()
        return True
    kind, _, rest = text.partition(":")
    if not _is_object(text):
        return _under(ledger, selector, rest if kind == "path" else text)
    if kind == "persona":
        return _persona(ledger, selector, rest)
    ref = refs.resolve(ledger, text)
    known: dict[str, Callable[[str], bool]] = {
        "asset": lambda one: selector.assets([one]),
        "observation": lambda one: selector.observations([one]),
        "candidate": lambda one: selector.candidates([one]),
        "record": lambda one: selector.records([one]),
        "episode": selector.episode,
        "event": selector.event,
        "session": selector.session,
    }
    if ref.kind not in known:
        named = "an entity" if ref.kind == "entity" else f"a {ref.kind}"
        raise UsageError(f"{named} can't be forgotten", hint="forget what it took in")
    return known[ref.kind](ref.id)


def _persona(ledger: "Ledger", selector: Selector, text: str) -> bool:
    """Add a persona version with those that repeat its text."""
    wanted = [int(text)] if text.isdecimal() else []
    found = personas.versions(ledger.root, ledger.scope, wanted)
    selector.found.personas.update(found)
    return bool(found)


def _is_object(text: str) -> bool:
    kind = text.partition(":")[0]
    if kind == "path":
        return False
    if kind == "persona":
        return True
    return kind in {*refs.KINDS, "sha256"} or _ID.fullmatch(text) is not None


def _under(ledger: "Ledger", selector: Selector, text: str) -> bool:
    """Add every asset that was ever seen at a path, or under it when it is a folder."""
    path = os.path.abspath(os.fsencode(text))  # noqa: PTH100 (a name is bytes here)
    found = ledger.assets.at_path(path)
    selector.assets(found)
    return bool(found)
