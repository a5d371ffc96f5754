"""Draw how a scope grew, on one sheet of five plots; needs matplotlib."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.store.errors import MissingToolError, UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# No date inside, so that the same store draws the same file.
_UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
_CHINESE_FONTS = ("Noto Sans CJK SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei")
FORMATS = ("png", "svg", "pdf")
_MEGABYTE = 1_000_000
_MOST_SOURCES = 12
_MOST_TICKS = 8
_FEWEST_BARS = 6


def draw(series: dict[str, Any], file: Path) -> None:
    """Write the plots of :func:`muniment.store.trends.trends`; the suffix chooses the format.

    Raises ``MissingToolError`` without matplotlib and ``UsageError`` for another suffix.
    """
    kind = file.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(f"{file.name} does not end in one of: {', '.join(FORMATS)}")
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingToolError(
            "plots need matplotlib", hint="pip install 'muniment[plot]'"
        ) from error
    with rc_context({"font.family": _fonts()}):
        _sheet(series).savefig(file, format=kind, metadata=_UNDATED.get(kind))


def _fonts() -> list[str]:
    """Return what is installed of the fonts that hold both scripts, in order of use."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in _CHINESE_FONTS if name in installed)]


def _sheet(series: dict[str, Any]) -> "Figure":
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(11, 13), layout="constrained")
    axes = sheet.subplots(5, 1)
    _months(axes[0], "Media by month of capture", series["media"])
    _months(axes[1], "Memories by month of recording", series["memories"])
    _sources(axes[2], series["sources"])
    _growth(axes[3], series["growth"])
    _recalls(axes[4], series["recalls"])
    return sheet


def _months(axes: "Axes", title: str, months: dict[str, dict[str, int]]) -> None:
    axes.set_title(title)
    names = _between(min(months), max(months)) if months else []
    floor = [0] * len(names)
    for kind in sorted({kind for counts in months.values() for kind in counts}):
        counts = [months.get(name, {}).get(kind, 0) for name in names]
        axes.bar(names, counts, bottom=floor, label=kind)
        floor = [low + count for low, count in zip(floor, counts, strict=True)]
    if names:
        axes.set_xticks(range(0, len(names), max(1, len(names) // _MOST_TICKS)))
        axes.set_xlim(-0.6, max(len(names), _FEWEST_BARS) - 0.4)
        axes.legend(fontsize="small")


def _between(first: str, last: str) -> list[str]:
    """Return every month from the first to the last, so that a gap is seen as one."""
    year, month = map(int, first.split("-"))
    names = []
    while (name := f"{year:04d}-{month:02d}") <= last:
        names.append(name)
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)  # noqa: PLR2004
    return names


def _sources(axes: "Axes", sources: dict[str, int]) -> None:
    axes.set_title("Assets by source")
    held = list(sources.items())[:_MOST_SOURCES]
    # A dollar sign would begin a formula.
    axes.barh([name.replace("$", r"\$") or "(none)" for name, _ in held], [n for _, n in held])
    axes.set_ylim(max(len(held), _FEWEST_BARS) - 0.4, -0.6)


def _growth(axes: "Axes", days: list[dict[str, Any]]) -> None:
    axes.set_title("Bytes kept (MB)")
    when = [date.fromisoformat(day["day"]) for day in days]
    axes.step(when, [day["bytes"] / _MEGABYTE for day in days], where="post", marker=".")  # type: ignore[arg-type]  # dates are drawn


def _recalls(axes: "Axes", recalls: list[dict[str, Any]]) -> None:
    axes.set_title("Time of the last recalls (ms)")
    when = [datetime.fromisoformat(one["at"]) for one in recalls]
    axes.plot(when, [one["milliseconds"] for one in recalls], ".")  # type: ignore[arg-type]  # as above
    axes.set_ylim(bottom=0)
