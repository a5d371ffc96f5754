"""``muniment stats``."""

from pathlib import Path
from statistics import median
from typing import Any

import click

from muniment.pipeline.options import Session, command


@command("stats")
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Draw the same as .png, .svg or .pdf.",
)  # fmt: skip
def stats(session: Session, plot: Path | None) -> None:
    """Show media and memories over time, sources, growth and the time of recalls."""
    from muniment.store.trends import trends

    workspace = session.workspace()
    series = trends(workspace.root, workspace.scope)
    if plot is not None:
        from muniment.pipeline.view.plots import draw

        draw(series, plot)
    drawn = {} if plot is None else {"plot": str(plot)}
    session.output.answer(series | drawn, "\n".join(_lines(series)))


def _lines(series: dict[str, Any]) -> list[str]:
    lines = []
    for title, months in (("media", series["media"]), ("memories", series["memories"])):
        lines += [f"{title}:", *(f"  {month}  {_counts(kinds)}" for month, kinds in months.items())]
    lines += ["sources:", *(f"  {n:>7}  {name}" for name, n in series["sources"].items())]
    if series["growth"]:
        last = series["growth"][-1]
        lines.append(f"kept: {last['assets']} assets, {last['bytes']} bytes by {last['day']}")
    taken = [one["milliseconds"] for one in series["recalls"]]
    if taken:
        lines.append(
            f"recalls: the last {len(taken)}, median {median(taken):.0f} ms, "
            f"slowest {max(taken):.0f} ms"
        )
    return lines


def _counts(kinds: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in kinds.items())
