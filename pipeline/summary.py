"""A run's counts as a few lines for a person."""

from collections import Counter
from typing import TYPE_CHECKING

from muniment.pipeline.output import printable

if TYPE_CHECKING:
    from muniment.pipeline.flow import Orders
    from muniment.pipeline.stages.run import Tally

_WORDS = (
    ("scanned", "files looked at"),
    ("registered", "new"),
    ("duplicates", "seen elsewhere before"),
    ("unchanged", "unchanged"),
    ("observed", "readings"),
    ("observations", "new observations"),
    ("episodes", "episodes new or changed"),
    ("candidates", "new candidates"),
    ("records", "new records"),
    ("entities", "new entities"),
    ("indexed", "indexed"),
    ("embedded", "embedded"),
)


def summary(tally: "Tally", orders: "Orders") -> str:
    """Lay the counts out; what is zero is left out."""
    said = [f"{tally.counts[name]} {words}" for name, words in _WORDS if tally.counts[name]]
    lines = [("would do: " if orders.dry_run else "") + (", ".join(said) or "nothing new")]
    if tally.failed:
        lines.append(f"{len(tally.failed)} failed")
    for reason, count in sorted(Counter(item["reason"] for item in tally.skipped).items()):
        lines.append(f"{count} left out: {reason}")
    if tally.standing_failures:
        lines.append(f"{tally.standing_failures} failed in earlier runs (see --retry-failed)")
    lines += [f"note: {warning}" for warning in tally.warnings]
    return printable("\n".join(lines))
