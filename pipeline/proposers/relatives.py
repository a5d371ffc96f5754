"""Who somebody is to the speaker, and what else people are called: what both languages share.

Such a claim relates entities. It is no fact of the user's, so it waits for an approval unless the
policy names the rule.
"""

import re
from collections.abc import Iterator, Mapping

from muniment.pipeline import keys
from muniment.pipeline.proposers.forms import Build, Clause, Made


def alias(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make another name of whom the clause names."""
    who, value = clause.part(match, "who"), clause.part(match, "value")
    if who and value and who != value:
        yield Made("semantic", "relation", keys.ALIAS, value, subject=who)


def kin(relations: Mapping[str, str], told: re.Pattern[str]) -> Build:
    """Return a builder of how somebody stands to the speaker.

    ``relations`` maps a word to the key of the relation. ``told`` is looked for in what comes
    before it: words that deny it, or that are somebody else's, make none.
    """

    def build(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
        groups = ("value", "familiar")
        group = next(name for name in groups if match.groupdict().get(name))
        if not told.search(clause.folded[: match.start("kin")]):
            relation = relations[match["kin"].casefold()]
            yield Made("semantic", "relation", relation, clause.part(match, group), salience=0.5)

    return build


def by_word(table: Mapping[str, str]) -> dict[str, str]:
    """Turn a table of relations and their words around."""
    return {word: relation for relation, words in table.items() for word in words.split()}
