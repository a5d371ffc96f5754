"""Rank documents by their postings: the BM25 of the other engine, added up by the server."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.adapters.indexes.postgres.conditions import conditions
from muniment.store.index.documents import Filters, Hit, Row, in_order
from muniment.store.index.match import (
    K1,
    MOST_LOOKED_UP,
    MOST_READ_FOR_PHRASE,
    MOST_WITH_PHRASE,
    PREFIX_END,
    TIES,
    B,
    counts_whole,
    idf,
    is_narrow,
    rarest,
    terms_of,
)
from muniment.store.text.query import Term

if TYPE_CHECKING:
    from muniment.adapters.indexes.postgres.connection import Connection
    from muniment.adapters.indexes.postgres.tables import Tables
    from muniment.store.text.query import Phrase, QueryAnalysis, Unit

COLUMNS = (
    "d.rowid, d.ref, d.kind, d.asset, d.seq, d.instant, d.family, d.origin, d.role,"
    " d.session, d.grp, d.author"
)
_OFTEN = "(CAST(:own AS float8) * (p.held >> 4) + CAST(:beside AS float8) * (p.held & 15))"
_NORM = f"({K1 * (1 - B)} + CAST(:scale AS float8) * p.size)"


class _Asked(NamedTuple):
    """The terms to rank by with their weights, and what scores are scaled with."""

    terms: list[tuple[Term, float]]
    own: float
    beside: float
    scale: float


class Ranker:
    """Searches one generation; ``documents``, ``places`` and ``tokens`` are its marks."""

    def __init__(
        self, connection: "Connection", tables: "Tables", marks: Mapping[str, int]
    ) -> None:
        self._db, self._tables = connection, tables
        self._documents = marks["documents"]
        self._places = marks["places"]
        self._average = max(marks["tokens"], 1) / max(self._places, 1)
        self._known: dict[Term, int] = {}

    def search(
        self, query: "QueryAnalysis", limit: int, filters: Filters | None,
        weights: Mapping[str, float],
    ) -> list[Hit]:  # fmt: skip
        """Return the best documents; those that hold a short or quoted question as it is lead."""
        asked = self._asked(query, weights)
        wanted = 2 * limit + TIES
        best = dict(self._best(asked, wanted))
        bonus, exact = self._phrases(query, asked)
        scores = self._with_scores(asked, list(best), best, bonus)
        rows = self._rows(scores, filters)
        if is_narrow(filters) or (len(rows) < limit and len(best) >= wanted):
            scores |= dict(self._best(asked, limit + TIES, filters))
            rows = self._rows(scores, filters)
        found = [
            Hit(row, scores[row.rowid] + bonus.get(row.rowid, 0.0), row.rowid in exact)
            for row in rows
        ]
        return sorted(found, key=in_order)[:limit]

    def documents_with(self, unit: "Unit") -> int:
        """Return how many documents hold a unit of a question, at most."""
        return min(self._frequencies(terms_of(unit)).values())

    def _frequencies(self, terms: Sequence[Term]) -> dict[Term, int]:
        plain = [term for term in terms if not term.prefix and term not in self._known]
        if plain:
            rows = self._db.run(
                f"SELECT token, documents FROM {self._tables.term}"
                " WHERE token = ANY(CAST(:tokens AS text[]))",
                tokens=[term.token for term in plain],
            )
            found = {token: int(count) for token, count in rows}
            self._known |= {term: found.get(term.token, 0) for term in plain}
        for term in terms:
            if term not in self._known:
                self._known[term] = int(self._db.value(
                    f"SELECT count(DISTINCT doc) FROM {self._tables.posting}"
                    " WHERE token >= :low AND token < :high",
                    low=term.token, high=term.token + PREFIX_END,
                ))  # fmt: skip
        return {term: self._known[term] for term in terms}

    def _asked(self, query: "QueryAnalysis", weights: Mapping[str, float]) -> _Asked:
        """Choose the terms that some document holds, of many the rarest, in their order."""
        terms = query.terms[:MOST_LOOKED_UP]
        counts = self._frequencies(terms)
        chosen = rarest(terms, [counts[term] for term in terms])
        return _Asked(
            [(term, idf(counts[term], self._documents)) for term in chosen],
            weights["words"], weights["context"], K1 * B / self._average,
        )  # fmt: skip

    def _best(
        self, asked: _Asked, most: int, filters: Filters | None = None,
        docs: Sequence[int] | None = None,
    ) -> list[tuple[int, float]]:  # fmt: skip
        """Return the best (document, score) pairs, of equal scores the earliest."""
        if not asked.terms:
            return []
        where, values = conditions(filters)
        narrowed = f"JOIN {self._tables.document} d ON d.rowid = p.doc" if where else ""
        if docs is not None:
            where += " AND p.doc = ANY(CAST(:docs AS integer[]))"
            values["docs"] = list(docs)
        parts = []
        plain = [(term.token, weight) for term, weight in asked.terms if not term.prefix]
        if plain:
            parts.append(self._plain(narrowed, where))
            tokens, weights = zip(*plain, strict=True)
            values |= {"tokens": list(tokens), "idfs": list(weights)}
        for at, (term, weight) in enumerate(one for one in asked.terms if one[0].prefix):
            parts.append(self._prefix(narrowed, where, at))
            values |= {f"low{at}": term.token, f"high{at}": term.token + PREFIX_END}
            values[f"idf{at}"] = weight
        rows = self._db.run(
            "SELECT doc, sum(idf * often / (often + norm)) AS score FROM ("
            f"{' UNION ALL '.join(parts)}) AS parts GROUP BY doc"
            " ORDER BY score DESC, doc LIMIT :most",
            own=asked.own, beside=asked.beside, scale=asked.scale, most=most, **values,
        )  # fmt: skip
        return [(doc, score * (K1 + 1)) for doc, score in rows]

    def _plain(self, narrowed: str, where: str) -> str:
        return (
            f"SELECT p.doc, q.idf, {_OFTEN} AS often, {_NORM} AS norm"
            " FROM unnest(CAST(:tokens AS text[]), CAST(:idfs AS float8[])) AS q(token, idf)"
            f" JOIN {self._tables.posting} p ON p.token = q.token {narrowed} WHERE true{where}"
        )

    def _prefix(self, narrowed: str, where: str, at: int) -> str:
        return (
            f"SELECT p.doc, CAST(:idf{at} AS float8) AS idf, sum({_OFTEN}) AS often,"
            f" min({_NORM}) AS norm"
            f" FROM {self._tables.posting} p {narrowed}"
            f" WHERE p.token >= :low{at} AND p.token < :high{at}{where} GROUP BY p.doc"
        )

    # --- phrases ---------------------------------------------------------------------------------

    def _phrases(self, query: "QueryAnalysis", asked: _Asked) -> tuple[dict[int, float], set[int]]:
        """Return what phrases add to the scores of documents, and which documents hold them all."""
        bonus: dict[int, float] = {}
        held: list[set[int]] = []
        tokens = {term.token for term, _ in asked.terms}
        for phrase in query.phrases:
            sizes = self._with_phrase(phrase)
            held.append(set(sizes))
            if counts_whole(phrase, tokens):
                worth = idf(len(sizes), self._documents) * (K1 + 1)
                for doc, size in sizes.items():
                    once = worth / (1 + K1 * (1 - B) + asked.scale * size)
                    bonus[doc] = bonus.get(doc, 0.0) + once
        exact = set.intersection(*held) if held and query.exact else set()
        return bonus | {doc: 0.0 for doc in exact if doc not in bonus}, exact

    def _with_phrase(self, phrase: "Phrase") -> dict[int, int]:
        """Return the documents that hold a phrase, of a common one the newest, and their sizes."""
        terms = [Term(phrase.view, token, phrase.prefix) for token in phrase.tokens]
        counts = self._frequencies(terms)
        rarest = min(terms, key=lambda term: counts[term])
        if not counts[rarest]:
            return {}
        share = min(MOST_READ_FOR_PHRASE / counts[rarest], 1.0)
        values: dict[str, Any] = {
            "said": " " + " ".join(phrase.tokens) + " " * (not phrase.prefix),
            "low": rarest.token,
            "newest": int(self._places * (1 - share)),
            "most": MOST_WITH_PHRASE,
        }
        found = "token = :low"
        if rarest.prefix:
            found = "token >= :low AND token < :high"
            values["high"] = rarest.token + PREFIX_END
        paired = " OR strpos(d.paired, :said) > 0" if phrase.view == "grams" else ""
        rows = self._db.run(
            f"SELECT d.rowid, d.size FROM {self._tables.document} d"
            f" WHERE d.rowid IN (SELECT doc FROM {self._tables.posting}"
            f" WHERE {found} AND doc > :newest)"
            f" AND (strpos(d.spaced, :said) > 0{paired}) ORDER BY d.rowid DESC LIMIT :most",
            **values,
        )
        return dict(rows)

    # --- rows ------------------------------------------------------------------------------------

    def _with_scores(
        self, asked: _Asked, top: Sequence[int], best: Mapping[int, float],
        bonus: Mapping[int, float],
    ) -> dict[int, float]:  # fmt: skip
        """Return the scores of the best documents and of those with a phrase."""
        scores = {doc: best[doc] for doc in top}
        others = [doc for doc in bonus if doc not in best]
        if others:
            scores |= dict.fromkeys(others, 0.0)
            scores |= dict(self._best(asked, len(others), docs=others))
        return scores | {doc: best[doc] for doc in bonus if doc in best}

    def _rows(self, scores: Mapping[int, float], filters: Filters | None) -> list[Row]:
        where, values = conditions(filters)
        rows = self._db.run(
            f"SELECT {COLUMNS} FROM {self._tables.document} d"
            f" WHERE d.rowid = ANY(CAST(:scored AS integer[])){where}",
            scored=list(scores), **values,
        )  # fmt: skip
        return [Row(*row) for row in rows]
