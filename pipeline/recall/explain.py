"""Explain a recall: what each signal found, what that came to, why something was left out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from muniment.pipeline.recall.entities import documents
from muniment.pipeline.recall.packing import LEXICAL_ONLY, packed
from muniment.pipeline.recall.run import Recall
from muniment.pipeline.recall.search import PLANES

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.fuse import Fused
    from muniment.pipeline.recall.items import Item
    from muniment.pipeline.recall.packing import Trail
    from muniment.pipeline.recall.request import Request
    from muniment.store.index.ports import SearchIndex
    from muniment.store.ledger import Ledger

_DIGITS = 6
REASONS = {
    "chosen": "in the pack",
    "context": "in the pack as context of another",
    "budget": "no room was left in the budget",
    "weak": "says far less of the question than the best",
    "no_word": "holds no word of the question and is not near enough in meaning",
    "duplicate_or_deep": "nearly the same as a better one, or below the candidates taken",
    "not_proven": "not live, filtered out, or its evidence failed the gate",
    "no_answer": "nothing found says enough of the question, so the pack is empty",
}


def explain(  # noqa: PLR0913 (as recall)
    ledger: "Ledger",
    index: "SearchIndex",
    request: "Request",
    *,
    clock: Callable[[], str],
    limit: int = 10,
    embedder: "Embedder | None" = None,
    cache: "Path | None" = None,
) -> dict[str, Any]:
    """Return how a request is understood, and the best hits of each plane with their fate."""
    with ledger.snapshot():
        run = Recall.open(ledger, index, request, clock(), embedder=embedder, cache=cache)
        try:
            done = packed(run)
            pack, trail = done.pack, done.trail
            judged = run.judge(trail.candidates.answers())
            hits = [
                _hit(run, pack, trail, plane, rank, hit)
                for plane in PLANES
                for rank, hit in enumerate(run.found.hits[plane][:limit], 1)
            ]
        finally:
            run.resolver.gate.close()
    return {
        "query": request.query,
        "understood": _understood(run),
        "signals": ["fts"] if run.embedder is None else ["fts", "vector"],
        "fusion": request.fusion,
        "coverage": pack["coverage"],
        "share": round(judged.share, 3),
        "signs": _signs(run, trail),
        "missing": list(run.gauge.missing_from(trail.candidates.answers())),
        "entities": _entities(run, hits),
        "entity_path": documents(ledger, run.path),
        "hits": hits,
        "omitted": pack["omitted"],
        "warnings": [LEXICAL_ONLY] if run.embedder is None else [],
    }


def _understood(run: Recall) -> dict[str, Any]:
    query, scale = run.query, run.scale
    return {
        "language": query.language,
        "words": [
            {
                "word": unit.text,
                "weight": round(scale.weights[unit.text], 3),
                "frame": unit.text in query.frame,
                "name": unit.text in query.names,
                "unknown": unit.text in scale.strangers,
            }
            for unit in query.analysis.units
        ],
        "terms": [f"{term.view}:{term.token}" + "*" * term.prefix for term in query.analysis.terms],
        "clauses": [[unit.text for unit in clause.units] for clause in query.clauses],
        "media": list(query.families),
        "times": [{"start": span.start, "end": span.end} for span in query.spans],
        "asks_assistant": query.asks_assistant,
        "exact": query.analysis.exact,
    }


def _signs(run: Recall, trail: "Trail") -> dict[str, float | None]:
    """Return what speaks for an answer, taken together in a store of many texts."""
    signs = asdict(run.signs(trail.candidates))
    return {name: None if value is None else round(value, 3) for name, value in signs.items()}


def _hit(
    run: Recall, pack: Mapping[str, Any], trail: "Trail", plane: str, rank: int, hit: "Fused"
) -> dict[str, Any]:
    fate = _fate(pack, trail, plane, hit.key)
    item = _item(trail.candidates.answers(), hit.key)
    signals = {
        name: {
            "rank": hit.signals[name],
            "score": round(hit.scores[name], _DIGITS),
            "contribution": round(hit.parts[name], _DIGITS),
        }
        for name in hit.signals
    }
    added = {name: round(part, _DIGITS) for name, part in hit.parts.items() if name not in signals}
    return {
        "plane": plane,
        "rank": rank,
        "ref": hit.key,
        "score": round(hit.score, _DIGITS),
        "signals": signals,
        "added": added,
        "text": None if item is None else item.text,
        "coverage": None if item is None else round(item.coverage, 3),
        "together": None if item is None else round(item.together, 3),
        "similarity": None if item is None or item.similarity is None else round(
            item.similarity, 3
        ),
        "fate": fate,
        "reason": REASONS[fate],
    }  # fmt: skip


def _fate(pack: Mapping[str, Any], trail: "Trail", plane: str, ref: str) -> str:
    """Return what became of a hit; the first stage that it did not pass names it."""
    if _item(trail.chosen, ref) is not None and pack["coverage"] != "none":
        return "chosen"
    if any(item["ref"] == ref for section in pack["sections"] for item in section["items"]):
        return "context"
    if trail.relevant is None and _item(trail.candidates.answers(), ref) is not None:
        return "no_answer"
    if trail.relevant is not None and _item(trail.relevant.answers(), ref) is not None:
        return "budget"
    if _item(trail.candidates.answers(), ref) is not None:
        return "weak"
    return trail.candidates.lost.get(ref, "duplicate_or_deep")


def _item(items: "Iterable[Item]", ref: str) -> "Item | None":
    return next((item for item in items if item.ref == ref), None)


def _entities(run: Recall, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the names of the question and the shown hits that hold each."""
    from muniment.store.text.holding import covered

    found = []
    for name in sorted(run.query.names):
        unit = [one for one in run.query.analysis.units if one.text == name]
        analysis = run.query.analysis._replace(units=tuple(unit))
        holding = [
            hit["ref"] for hit in hits if hit["text"] and covered(analysis, hit["text"], {}).units
        ]
        found.append({
            "name": name, "known": name not in run.scale.strangers, "in": holding,
        })  # fmt: skip
    return found


def _path_lines(path: list[dict[str, Any]]) -> list[str]:
    """Return a line for each entity of the path: how it was come to, and its names."""
    lines = []
    for one in path:
        way = f"named as {one['named']}" if one["named"] else f"{one['relation']} {one['from']}"
        lines.append(f"{one['entity']} ({way}): {', '.join(one['names'])}")
    return lines


def as_text(document: Mapping[str, Any]) -> str:
    """Return an explanation for a terminal."""
    from muniment.pipeline.recall import neutral

    words = ", ".join(
        f"{word['word']} {word['weight']:.2f}"
        + " (name)" * word["name"] + " (frame)" * word["frame"] + " (unknown)" * word["unknown"]
        for word in document["understood"]["words"]
    )  # fmt: skip
    lines = [
        f"coverage {document['coverage']}, best share {document['share']:.2f}"
        + (f", missing: {', '.join(document['missing'])}" if document["missing"] else ""),
        f"words: {words or 'none'}",
        f"signals: {', '.join(document['signals'])} ({document['fusion']})",
        *_path_lines(document["entity_path"]),
        "",
    ]
    for hit in document["hits"]:
        parts = [
            f"{name} #{found['rank']} {found['score']:.3f} (+{found['contribution']:.4f})"
            for name, found in hit["signals"].items()
        ]
        parts += [f"{name} +{part:.4f}" for name, part in hit["added"].items()]
        lines.append(f"{hit['plane']} {hit['rank']}. {hit['score']:.4f}  {hit['ref']}")
        lines.append(f"    {'; '.join(parts)}")
        if hit["text"] is not None:
            lines.append(f"    {neutral.inline(hit['text'])[:100]}")
            lines.append(f"    coverage {hit['coverage']:.2f}, together {hit['together']:.2f}")
        lines.append(f"    {hit['fate']}: {hit['reason']}")
    return "\n".join(lines) + "\n"
