"""Build the pack: sections of claims and their citations, never over its budget (CONTRACT 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from muniment.pipeline.recall import render_markdown
from muniment.pipeline.recall.items import Item, Proof
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.tokens import CHARACTERS_A_TOKEN, Counter, estimate

SCHEMA = "muniment.pack/1"
SECTIONS = (
    "profile", "records", "conflicts", "episodes", "observations", "working", "unknowns",
)  # fmt: skip
_SCORE_DIGITS = 6
_LONGEST_ID = "c999"


class PackBuilder:
    """Collects items while they fit; every cost is that of the Markdown lines they become."""

    def __init__(
        self,
        request: Request,
        scope: Mapping[str, str],
        warnings: Sequence[str],
        describe: "Describe",
        count: Counter = estimate,
    ) -> None:
        self._count = count
        self._describe = describe
        self._items: dict[str, list[dict[str, Any]]] = {name: [] for name in SECTIONS}
        self._citations: dict[tuple[str, str], dict[str, Any]] = {}
        self._shell = _shell(request, scope, warnings)
        head = render_markdown.head_lines(self._shell)
        foot = render_markdown.foot_lines({**self._shell, "coverage": "supported"})
        self.left = request.token_budget - self._cost([*head, *foot])
        self.left -= self._cost(render_markdown.section_lines("citations"))
        self.omitted = 0

    def cost(self, section: str, item: Item) -> int:
        """Return what an item would take, its heading and new citations included."""
        return self._costed(section, self._as_dict(item), self._new_citations(item))

    def _costed(
        self, section: str, shown: Mapping[str, Any], new: Mapping[Any, Mapping[str, Any]]
    ) -> int:
        lines = render_markdown.item_lines(shown)
        if not self._items[section]:
            lines += render_markdown.section_lines(section)
        lines += map(render_markdown.citation_line, new.values())
        return self._cost(lines)

    def _new_citations(self, item: Item) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the citations that an item would bring in, under an id as long as any."""
        return {
            key: {"id": _LONGEST_ID, **self._describe(proof)}
            for proof in item.proofs
            if (key := _key(proof)) not in self._citations
        }

    def add(self, section: str, item: Item, limit: int | None = None) -> bool:
        """Add an item when it fits into what is left (and into ``limit``); return whether."""
        shown, new = self._as_dict(item), self._new_citations(item)
        cost = self._costed(section, shown, new)
        if cost > self.left or (limit is not None and cost > limit):
            return False
        self.left -= cost
        for key, citation in new.items():
            citation["id"] = f"c{len(self._citations) + 1}"
            self._citations[key] = citation
        shown["citations"] = [self._citations[_key(proof)]["id"] for proof in item.proofs]
        self._items[section].append(shown)
        return True

    def finish(self, coverage: str, omitted: int, failed: int) -> dict[str, Any]:
        """Return the pack; what a counter that does not add up takes too much is dropped."""
        pack = {
            **self._shell,
            "coverage": coverage,
            "sections": [{"name": name, "items": items} for name, items in self._items.items()],
            "citations": list(self._citations.values()),
            "omitted": {"budget": omitted, "evidence_gate": failed},
        }
        budget = pack["token_budget"]
        while (used := self._used(pack)) > budget and _drop_last(pack):
            pack["omitted"]["budget"] += 1
        return {**pack, "tokens_used": used}

    def _used(self, pack: Mapping[str, Any]) -> int:
        text = render_markdown.render(pack)
        return max(self._count(text), -(-len(text) // CHARACTERS_A_TOKEN))

    def _cost(self, lines: Sequence[str]) -> int:
        return sum(
            max(self._count(line + "\n"), -(-(len(line) + 1) // CHARACTERS_A_TOKEN))
            for line in lines
        )

    def _as_dict(self, item: Item) -> dict[str, Any]:
        known = (self._citations.get(_key(proof), {"id": _LONGEST_ID}) for proof in item.proofs)
        return {
            "ref": item.ref or None,
            "text": item.text,
            "kind": item.kind,
            "time": item.time,
            "score": round(item.score, _SCORE_DIGITS),
            "signals": item.signals,
            "citations": [citation["id"] for citation in known],
            "duplicates": item.duplicates,
        }


class Describe:
    """Turns a proof into a citation without its id; remembers producers and capture times."""

    def __init__(self, producer_of: Any, captured_at: Any) -> None:
        self._producer_of = producer_of
        self._captured_at = captured_at
        self._producers: dict[str, str] = {}
        self._times: dict[str, str | None] = {}

    def __call__(self, proof: Proof) -> dict[str, Any]:
        """Return the fields of CONTRACT 5's citation."""
        row, asset = proof.row, proof.asset
        if row.producer not in self._producers:
            self._producers[row.producer] = self._producer_of(row.producer).get("adapter", "")
        own = row.occurred or {}
        return {
            "ref": f"observation:{row.id}",
            "asset": row.asset,
            "name": asset.name,
            "within": [container._asdict() for container in asset.within],
            "media_type": asset.media_type,
            "locator": row.locator,
            "quote": proof.quote,
            "origin": row.origin,
            "producer": self._producers[row.producer],
            "confidence": row.confidence,
            "captured_at": own.get("utc") or own.get("local") or self._taken(proof),
        }

    def _taken(self, proof: Proof) -> str | None:
        """Return when an asset was captured, else the nearest of what it was taken out of."""
        asset = proof.row.asset
        if asset not in self._times:
            above = [container.asset for container in reversed(proof.asset.within)]
            found = filter(None, map(self._captured_at, (asset, *above)))
            self._times[asset] = next(found, None)
        return self._times[asset]


def _shell(request: Request, scope: Mapping[str, str], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "scope": dict(scope),
        "query": request.query,
        "as_of": request.filters.as_of,
        "token_budget": request.token_budget,
        "tokens_used": 0,
        "coverage": "none",
        "sections": [],
        "citations": [],
        "omitted": {},
        "warnings": list(warnings),
    }


def _key(proof: Proof) -> tuple[str, str]:
    return proof.row.id, proof.quote


def _drop_last(pack: dict[str, Any]) -> bool:
    """Drop the last item of the last section that has one, and the citations it alone used."""
    for section in reversed(pack["sections"]):
        if section["items"]:
            section["items"].pop()
            used = {
                name
                for kept in pack["sections"]
                for item in kept["items"]
                for name in item["citations"]
            }
            pack["citations"] = [one for one in pack["citations"] if one["id"] in used]
            return True
    return False
