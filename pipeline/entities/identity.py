"""Tell who a name means, carefully: what is not surely the same stays apart and is proposed.

One person is one name at one address, or one name in one talk. The same name elsewhere, or another
name at the same address, makes an entity of its own and a proposal to merge.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from muniment.pipeline.entities.merging import propose
from muniment.store.ledger.entities import Use
from muniment.store.text.names import folded_name, is_name

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

PERSON, PLACE, ORGANISATION, THING = "person", "place", "organisation", "thing"
KINDS = (PERSON, PLACE, ORGANISATION, THING)
SELF = "user"
_EMAIL = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")
_WRITTEN = re.compile(r"^(?P<name>.*?)\s*<(?P<address>[^<>]+)>$", re.DOTALL)
_NOT_DIGITS = re.compile(r"[^\d+]")
_LEAST_DIGITS = 7
# What stands for a program or for nobody; no one is called so.
_NOBODY = frozenset(
    {"user", "you", "me", "assistant", "system", "tool", "bot", "unknown", "admin", "human", "ai",
     "deleted account", "用户", "我", "你", "助手", "系统", "未知"}
)  # fmt: skip
_WORKSPACE = "#"


class Called(NamedTuple):
    """What somebody is called in one place: a name, addresses, or both, each as written."""

    name: str | None
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()


def written(text: str) -> Called:
    """Read ``Name <address>``, an address, or a name."""
    found = _WRITTEN.match(text.strip())
    name, address = (found["name"], found["address"]) if found else (text, text)
    if not _EMAIL.fullmatch(address.strip()):
        return Called(name.strip() or None)
    same = not found or folded_name(name) == folded_name(address)
    return Called(None if same else name.strip() or None, (address.strip(),))


def folded_address(form: str, value: str) -> str:
    """Return the form that equal addresses share, empty for what is none."""
    if form == "email":
        return value.strip().casefold() if _EMAIL.fullmatch(value.strip()) else ""
    digits = _NOT_DIGITS.sub("", value)
    return digits if len(digits.strip("+")) >= _LEAST_DIGITS else ""


class Identities:
    """Finds or makes the entity that is meant, inside the caller's unit."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._entities = ledger.entities
        self._known: dict[tuple[object, ...], int] = {}
        self.new = 0
        self.proposed = 0

    def person(
        self, called: Called, observation: str, via: str, *, thread: str | None = None,
        own: bool = False, starts: Sequence[tuple[str, int]] = (),
    ) -> int | None:  # fmt: skip
        """Return who is called so by an observation; null when nothing names anybody.

        ``thread`` is the talk that a name without an address holds in. ``starts`` are (words,
        offset) of what stands in the text itself.
        """
        uses = self._uses_of(called, observation, via, dict(starts))
        if not uses:
            return None
        circle = None if called.emails else _circle(thread)
        key = ("own",) if own else (circle, *sorted((use.form, use.folded) for use in uses))
        found = self._known.get(key)
        if found is None:
            found = self._entities.own() if own else self._same(uses, called, circle, via)
        found = self.take(PERSON, uses, found, own=own)
        self._known[key] = found
        return found

    def named(self, kind: str, name: str, use: Use) -> int | None:
        """Return the entity that a statement names: in the same words, or in another statement."""
        if not use.folded or not is_name(use.folded) or use.folded in _NOBODY:
            return None
        called = [one for _, one, _ in self._entities.called([use.folded], ["name"])]
        kinds = self._entities.kinds(called)
        alike = [one for one in called if kinds[one][1] == kind]
        if kind == PERSON:
            alike = self._stated(alike, use)
        return self.take(kind, [use], alike[0] if alike else None)

    def owner(self, use: Use) -> int:
        """Return the owner of the scope as an entity."""
        return self.take(PERSON, [use], self._entities.own(), own=True)

    def take(self, kind: str, uses: Sequence[Use], found: int | None, *, own: bool = False) -> int:
        """Keep the uses with an entity, a new one unless it is given; propose what is alike."""
        new = found is None
        if found is None:
            found = self._entities.add(kind, uses[0], own=own)
            self.new += 1
        for use in uses:
            kept = self._entities.name(found, use)
            if (kept or new) and use.form != "role" and self._entities.first_use(found, use):
                self.proposed += propose(self._ledger, found, use.folded, use.form)
        return found

    def _uses_of(
        self, called: Called, observation: str, via: str, starts: dict[str, int]
    ) -> list[Use]:
        uses = []
        folded = folded_name(called.name or "")
        if called.name and is_name(folded) and folded not in _NOBODY:
            uses.append(_use(observation, called.name, folded, ("name", via), starts))
        for form, values in (("email", called.emails), ("phone", called.phones)):
            for value in values:
                if address := folded_address(form, value):
                    uses.append(_use(observation, value, address, (form, via), starts))
        return uses

    def _same(
        self, uses: Iterable[Use], called: Called, circle: str | None, via: str
    ) -> int | None:
        """Return who has the same name and an address of it, or the name in the same talk."""
        folded = folded_name(called.name or "")
        addressed = [use for use in uses if use.form != "name"]
        for use in addressed:
            holders = [one for _, one, _ in self._entities.called([use.folded], [use.form])]
            names = {one: self._names_of(one) for one in holders}
            named = [one for one in holders if folded in names[one]]
            nameless = [one for one in holders if not names[one]]
            sole = holders if not folded and len(holders) == 1 else []
            if found := [*named, *nameless, *sole]:
                return found[0]
        if addressed:
            return None
        if via == "contact":
            return self._bare_contact(folded)
        return self._entities.in_thread(folded, circle)

    def _names_of(self, entity: int) -> set[str]:
        rows = self._entities.names([entity])
        return {row["folded"] for row in rows if row["form"] == "name"}

    def _bare_contact(self, folded: str) -> int | None:
        """Return the contact of a name that has no address either: it was exported twice."""
        for _, one, _ in self._entities.called([folded], ["name"]):
            rows = self._entities.names([one])
            if all(row["form"] == "name" and "contact" in row["via"] for row in rows):
                return one
        return None

    def _stated(self, entities: Sequence[int], use: Use) -> list[int]:
        """Keep who is named by the same observation, else who was named by statements before."""
        rows = self._entities.named_by(entities, use.folded)
        here = [one for one, observation, _ in rows if observation == use.observation]
        said = [one for one, _, via in rows if via in {"claim", "model", "user"}]
        return here or said


def _use(
    observation: str, name: str, folded: str, told: tuple[str, str], starts: dict[str, int]
) -> Use:
    form, via = told
    start = starts.get(name)
    end = None if start is None else start + len(name)
    return Use(observation, name, folded, form, via, start, end)


def _circle(thread: str | None) -> str | None:
    """Return the talk that names hold in: the channels of a workspace are one."""
    return _WORKSPACE if thread and thread.startswith(_WORKSPACE) else thread
