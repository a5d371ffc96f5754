"""Relations: what claims say of two entities, and the names that claims give.

A relation is no statement of its own. It points at the claim that it was read from, and holds
while that claim does: a pending one leads recall nowhere.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muniment.pipeline import keys
from muniment.pipeline.entities.identity import (
    ORGANISATION,
    PERSON,
    PLACE,
    SELF,
    THING,
    Identities,
)
from muniment.store.ids import storable
from muniment.store.ledger.entities import Use
from muniment.store.text.names import folded_name

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

STAGE, VERSION = "relations", "relations/1"
BATCH = 1_000
RELATION = "relation"
LONGEST_NAME = 60
# The key of a claim, what it says of its subject and its value, and what the value names.
_BY_KEY: Mapping[str, tuple[str, str]] = {
    keys.HOME: ("lives_in", PLACE),
    keys.EMPLOYER: ("works_at", ORGANISATION),
    keys.WORKPLACE: ("works_at", ORGANISATION),
}
_PLACED = frozenset({"lives_in", "located_in", "born_in", "based_in", "visited"})
_EMPLOYED = frozenset({"works_at", "works_for", "employed_by", "studies_at", "member_of"})
_OWNED = frozenset({"owns", "has", "uses", "bought", "made", "likes"})


class Relations:
    """Reads the claims of one ledger past its mark."""

    def __init__(self, ledger: "Ledger", identities: Identities | None = None) -> None:
        self._ledger = ledger
        self._identities = identities or Identities(ledger)
        self.new = 0

    def read(self) -> None:
        """Read every claim that is new, inside the caller's unit."""
        attempts = self._ledger.attempts
        mark = attempts.mark(STAGE, VERSION)
        before = mark
        while claims := self._ledger.relations.claims_after(mark, BATCH):
            for claim in claims:
                if claim["status"] != "rejected":
                    self._take(claim)
            mark = claims[-1]["seq"]
        if mark != before:
            attempts.set_mark(STAGE, mark, VERSION)

    def _take(self, claim: dict[str, Any]) -> None:
        if claim["key"] in {*keys.NAMING, keys.ALIAS} and claim["value"]:
            self._alias(claim)
            return
        said = self._said(claim)
        if said is None:
            return
        relation, kind = said
        other = self._named(kind, claim["value"], claim)
        subject = None if other is None else self._subject(claim)
        if subject is not None and other is not None and subject != other:
            self.new += self._ledger.relations.relate(subject, other, relation, claim["seq"])

    def _said(self, claim: dict[str, Any]) -> tuple[str, str] | None:
        """Return the relation that a claim states, and the kind of its other side."""
        key, value = claim["key"], claim["value"]
        if not key or not value or len(value) > LONGEST_NAME:
            return None
        if key in _BY_KEY:
            return _BY_KEY[key]
        if claim["kind"] != RELATION:
            return None
        for kind, relations in ((PLACE, _PLACED), (ORGANISATION, _EMPLOYED), (THING, _OWNED)):
            if key in relations:
                return key, kind
        return key, PERSON

    def _subject(self, claim: dict[str, Any]) -> int | None:
        name = claim["subject"]
        if name in (None, "", SELF):
            return self._identities.owner(self._use(SELF, claim, form="role"))
        return self._named(PERSON, name, claim)

    def _alias(self, claim: dict[str, Any]) -> None:
        """Keep a name that somebody is to be called by."""
        subject = self._subject(claim)
        use = self._use(claim["value"], claim)
        if subject is not None and use.folded:
            self._identities.take(PERSON, [use], subject)

    def _named(self, kind: str, name: str, claim: dict[str, Any]) -> int | None:
        return self._identities.named(kind, name, self._use(name, claim))

    def _use(self, name: str, claim: dict[str, Any], form: str = "name") -> Use:
        """Return the use of a name by a claim, with its place where the quote holds it."""
        name = storable(name.strip())
        at = claim["text"].find(name, claim["start"], claim["end"])
        if at < 0:
            at = claim["text"].find(name)
        start, end = (None, None) if at < 0 else (at, at + len(name))
        return Use(
            claim["observation"], name, folded_name(name), form, "claim", start, end, claim["seq"]
        )
