"""Build the pack: sections of claims and their citations, never over its budget (CONTRACT 5)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from muniment.pipeline.recall import render_markdown
from muniment.pipeline.recall.items import Item, Proof
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.tokens import CHARACTERS_A_TOKEN, Counter, cost_of, estimate

SCHEMA = "muniment.pack/1"
SECTIONS = (
    "profile", "records", "conflicts", "episodes", "observations", "working", "unknowns",
)  # fmt: skip
_SCORE_DIGITS = 6
_LONGEST_ID = "c999"
# The words of a citation alone, from its name to its ref, take more tokens than this.
_LEAST_COST = 28


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
        # The lines of all that was taken, as they will stand in the Markdown.
        self._lines: dict[str, list[str]] = {name: [] for name in SECTIONS}
        self._citation_lines: list[str] = []
        self._shell = _shell(request, scope, warnings)
        head = render_markdown.head_lines(self._shell)
        foot = render_markdown.foot_lines({**self._shell, "coverage": "supported"})
        self.left = request.token_budget - self._cost([*head, *foot])
        self.left -= self._cost(render_markdown.section_lines("citations"))
        self.omitted = 0

    def cost(self, section: str, item: Item) -> int:
        """Return what an item would take, its heading and new citations included."""
        return self.drafted(section, item).cost

    def has_room(self, item: Item) -> bool:
        """Tell whether an item can fit at all, by its lines and a citation of the shortest kind."""
        if self.left >= len(item.text) + _LEAST_COST:
            return True  # while there is much, no need to look at the lines
        cites = any(_key(proof) not in self._citations for proof in item.proofs)
        # Spaces that only lay a text out are not in the lines.
        least = sum(len(line) // CHARACTERS_A_TOKEN for line in render_markdown.quoted(item.text))
        return self.left >= least + cites * _LEAST_COST

    def add(self, section: str, item: Item, limit: int | None = None) -> bool:
        """Add an item when it fits into what is left (and into ``limit``); return whether."""
        return self.has_room(item) and self.take(self.drafted(section, item), limit)

    def drafted(self, section: str, item: Item) -> "Draft":
        """Return an item as it would stand, new citations under an id as long as any."""
        keys = [_key(proof) for proof in item.proofs]
        new = {
            key: self._describe(proof)
            for key, proof in zip(keys, item.proofs, strict=True)
            if key not in self._citations
        }
        facts = [render_markdown.citation_facts(citation) for citation in new.values()]
        head = render_markdown.item_head(item.kind, item.time, item.duplicates)
        quoted = render_markdown.quoted(item.text)
        ids = [self._citations[key]["id"] if key not in new else _LONGEST_ID for key in keys]
        lines = [render_markdown.citing(head, ids), *quoted]
        lines += [render_markdown.cited(_LONGEST_ID, fact) for fact in facts]
        if not self._items[section]:
            lines += render_markdown.section_lines(section)
        return Draft(section, item, self._cost(lines), keys, new, facts, head, quoted)

    def take(self, draft: "Draft", limit: int | None = None) -> bool:
        """Add what was drafted since the last addition, when it fits; return whether."""
        if draft.cost > self.left or (limit is not None and draft.cost > limit):
            return False
        self.left -= draft.cost
        for (key, citation), facts in zip(draft.new.items(), draft.facts, strict=True):
            name = f"c{len(self._citations) + 1}"
            self._citations[key] = {"id": name, **citation}
            self._citation_lines.append(render_markdown.cited(name, facts))
        ids = [self._citations[key]["id"] for key in draft.keys]
        self._items[draft.section].append(_as_dict(draft.item, ids))
        self._lines[draft.section] += [render_markdown.citing(draft.head, ids), *draft.quoted]
        return True

    def finish(self, coverage: str, omitted: int, failed: int) -> tuple[dict[str, Any], str]:
        """Return the pack, and the same as Markdown.

        What a counter that does not add up takes too much is dropped.
        """
        pack = {
            **self._shell,
            "coverage": coverage,
            "sections": [{"name": name, "items": items} for name, items in self._items.items()],
            "citations": list(self._citations.values()),
            "omitted": {"budget": omitted, "evidence_gate": failed},
        }
        markdown = render_markdown.joined(pack, self._lines, self._citation_lines)
        while (used := self._used(markdown)) > pack["token_budget"] and _drop_last(pack):
            pack["omitted"]["budget"] += 1
            markdown = render_markdown.render(pack)
        return {**pack, "tokens_used": used}, markdown

    def _used(self, text: str) -> int:
        return max(self._count(text), -(-len(text) // CHARACTERS_A_TOKEN))

    def _cost(self, lines: Sequence[str]) -> int:
        return cost_of(lines, self._count)


class Draft(NamedTuple):
    """An item before it is added: what it costs, cites, newly cites, and its lines."""

    section: str
    item: Item
    cost: int
    keys: list[tuple[str, str]]
    new: dict[tuple[str, str], dict[str, Any]]
    facts: list[str]
    head: str
    quoted: tuple[str, ...]


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


def _as_dict(item: Item, citations: list[str]) -> dict[str, Any]:
    return {
        "ref": item.ref or None,
        "text": item.text,
        "kind": item.kind,
        "time": item.time,
        "score": round(item.score, _SCORE_DIGITS),
        "signals": item.signals,
        "citations": citations,
        "duplicates": item.duplicates,
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
