"""Answer a question: rank by postings, find what holds it as it stands, fetch the rows."""

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from muniment.store.index import match, statements
from muniment.store.index.documents import Filters, Hit, Row, in_order
from muniment.store.index.planes import Planes
from muniment.store.index.ranking import Ranking
from muniment.store.index.schema import VIEWS
from muniment.store.index.scores import Scores
from muniment.store.text.query import Term

if TYPE_CHECKING:
    import apsw

    from muniment.store.text.query import Phrase, QueryAnalysis, Unit

# So many times what is wanted is looked at before all documents that meet the filters are.
_DEEPEST = 16
# Half the time of the named tuples' own constructors.
_row, _hit = partial(tuple.__new__, Row), partial(tuple.__new__, Hit)


class Searcher:
    """Searches one index through a connection to it."""

    def __init__(self, database: "apsw.Connection") -> None:
        self._db = database
        self._ranking = Ranking(database)
        self._planes = Planes(database)

    def search(
        self,
        query: "QueryAnalysis",
        limit: int,
        filters: Filters | None,
        weights: Mapping[str, float],
    ) -> list[Hit]:
        """Return the best documents; those that hold a short or quoted question as it is lead."""
        self._ranking.refresh()
        terms = self._terms(query)
        # Records and episodes hold the words of many observations, and would come before them all.
        barred = self._planes.places(match.PLANES) if match.leaves_out_planes(filters) else None
        scores = self._ranking.score(terms, _times(weights), barred)
        bonus, exact = self._phrases(query, terms)
        rows = self._rows(scores, bonus, limit, filters)
        own = scores.of([place for place, _ in rows])
        found = [
            _hit((row, score + bonus.get(place, 0.0), place in exact))
            for (place, row), score in zip(rows, own, strict=True)
        ]
        return sorted(found, key=in_order)[:limit]

    def documents(self) -> int:
        """Return how many documents there are, as of now."""
        self._ranking.refresh()
        return self._ranking.documents

    def documents_with(self, unit: "Unit") -> int:
        """Return how many documents hold a unit of a question, at most."""
        return min(map(self._ranking.documents_with, match.terms_of(unit)))

    def _terms(self, query: "QueryAnalysis") -> list[Term]:
        """Return the terms that some document holds, of many the rarest, in their order."""
        terms = query.terms[: match.MOST_LOOKED_UP]
        return match.rarest(terms, list(map(self._ranking.documents_with, terms)))

    # --- phrases ---------------------------------------------------------------------------------

    def _phrases(
        self, query: "QueryAnalysis", terms: list[Term]
    ) -> tuple[dict[int, float], set[int]]:
        """Return what phrases add to the scores of documents, and which documents hold them all."""
        bonus: dict[int, float] = {}
        held: list[set[int]] = []
        tokens = {term.token for term in terms}
        for phrase in query.phrases:
            places = self._with_phrase(phrase)
            held.append(places)
            if match.counts_whole(phrase, tokens):
                worth = match.idf(len(places), self._ranking.documents)
                for place in places:
                    bonus[place] = bonus.get(place, 0.0) + worth * self._ranking.once(place)
        exact = set.intersection(*held) if held and query.exact else set()
        return bonus | {place: 0.0 for place in exact if place not in bonus}, exact

    def _with_phrase(self, phrase: "Phrase") -> set[int]:
        """Return the places that hold a phrase, of a common one among the newest documents."""
        terms = [Term(phrase.view, token, phrase.prefix) for token in phrase.tokens]
        least = min(map(self._ranking.documents_with, terms))
        if not least or not self._ranking.may_stand_together(terms):
            return set()
        newest = self._ranking.newest(match.MOST_READ_FOR_PHRASE / least)
        # Asked for the newest first, the engine takes ten times as long.
        statement = "SELECT rowid FROM fts WHERE fts MATCH ? AND rowid >= ? ORDER BY rowid"
        rows = list(self._db.execute(statement, (match.of_phrase(phrase), newest)))
        return {row[0] for row in rows[-match.MOST_WITH_PHRASE :]}

    # --- rows ------------------------------------------------------------------------------------

    def _rows(
        self, scores: Scores, bonus: Mapping[int, float], limit: int, filters: Filters | None
    ) -> list[tuple[int, Row]]:
        """Return the best documents that meet the filters, with their places."""
        wanted = limit + match.TIES
        best = self._best_first(scores, filters)
        if best is not None:
            # Most documents meet most filters: looking at the best ones costs less.
            for count in (limit, limit + wanted, limit * _DEEPEST):
                top = {place for place, _ in _with_ties(best(count + match.TIES), count)}
                found = self._at(top, bonus, filters)
                if len(top) < count or sum(place in top for place, _ in found) >= limit:
                    return found
        where, values = match.conditions(filters)
        if filters is not None and match.are_planes(filters.kinds):
            where += f" AND {match.OF_PLANES}"  # there is an index of these alone
        allowed = self._db.execute(f"SELECT place FROM doc WHERE 1{where}", values)
        places = array("i", (row[0] for row in allowed))
        return self._at((place for place, _ in scores.among(places, wanted)), bonus, filters)

    def _best_first(
        self, scores: Scores, filters: Filters | None
    ) -> Callable[[int], list[tuple[int, float]]] | None:
        """Return what gives the best (place, score) pairs of documents that may meet the filters,
        null where these name few.
        """
        if filters is not None and (filters.assets or filters.refs):
            return None
        if filters is not None and match.are_planes(filters.kinds):
            return partial(scores.among, self._planes.places(filters.kinds))
        return scores.top

    def _at(
        self, places: Iterable[int], bonus: Mapping[int, float], filters: Filters | None
    ) -> list[tuple[int, Row]]:
        where, values = match.conditions(filters)
        rows = self._db.execute(
            f"SELECT place, {statements.COLUMNS} FROM (SELECT value FROM json_each(?)) wanted"
            f" CROSS JOIN doc ON doc.place = wanted.value{where}",
            (json.dumps(sorted({*places, *bonus})), *values),
        )
        return [(row[0], _row(row[1:])) for row in rows]


def _with_ties(top: Sequence[tuple[int, float]], count: int) -> Sequence[tuple[int, float]]:
    """Return the first so many and those that score as much as the last of them."""
    if len(top) <= count:
        return top
    least = top[count - 1][1]
    return top[: next((at for at in range(count, len(top)) if top[at][1] < least), len(top))]


def _times(weights: Mapping[str, float]) -> tuple[float, ...]:
    """Return what each stored byte counts for; all views but the context weigh the same."""
    own = {weights[view] for view in VIEWS if view != "context"}
    if len(own) > 1:
        raise ValueError("only the context may weigh something else")
    return _counts(own.pop(), weights["context"])


@lru_cache(maxsize=16)
def _counts(own: float, context: float) -> tuple[float, ...]:
    return tuple(own * (byte >> 4) + context * (byte & 15) for byte in range(256))
