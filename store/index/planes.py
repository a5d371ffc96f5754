"""The places of records and episodes, which few documents are: a search of them looks there."""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable

import apsw

from muniment.store.index.match import OF_PLANES

# In one value, which costs less than as many rows.
_NEWER = (
    "SELECT json_group_array(place) FROM (SELECT place FROM doc"
    f" WHERE kind = ? AND {OF_PLANES} AND place > ? ORDER BY place)"
)


class Planes:
    """Reads them through a connection, what is new each time.

    Places that no document stands at any more stay among them: no term leads there.
    """

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self._places: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))

    def places(self, kinds: Iterable[str]) -> "array[int]":
        """Return the places of the documents of some kinds, each once."""
        found = array("i")
        for kind in dict.fromkeys(kinds):
            known = self._places[kind]
            last = known[-1] if known else -1
            ((newer,),) = self._database.execute(_NEWER, (kind, last))
            known.extend(json.loads(newer))
            found += known
        return found
