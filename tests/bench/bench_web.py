"""Measure how soon the pages are seen: ``python tests/bench/bench_web.py [ASSETS]``.

A store of so many assets, each a dated message of its own, is served by a warm ``serve web`` and
looked at by Chromium. Times are milliseconds of wall from leaving a page, as the browser has them:
``framed`` to the first paint of the next one, ``painted`` to that of its first result, ``served``
to the last byte of the answer. The machine should be quiet, as Chromium paints without a GPU.
Whatever else the machine does, ``cpu`` is what the server computed meanwhile, and ``all_cpu`` that
together with all of Chromium's processes, in milliseconds, too.
"""

import argparse
import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.bench_speed import BATCH, Passages
from support.browser import Browser, browsing
from support.looking import Served, serving
from support.stores import TinyStore

from muniment.pipeline.stages.index import refresh
from muniment.store import manifest
from muniment.store.layout import Root

ROUNDS = 15
PAGES = 10
# Notes when what was asked for is painted first: an answer may be that there is none.
_WATCH = """
window.painted = {};
new MutationObserver(() => document.querySelectorAll('.coverage, .said, .grid .name').forEach(
  one => one.elementTiming ||= one.className.includes('coverage') ? 'told' : 'result'
)).observe(document, {childList: true, subtree: true});
new PerformanceObserver(list => list.getEntries().forEach(
  one => painted[one.identifier] ??= one.renderTime)).observe({type: 'element', buffered: true});
"""
_PAINTED = "painted[document.querySelector('.said, .grid .name') ? 'result' : 'told']"
_SEEN = f"""
(page => [performance.getEntriesByName('first-contentful-paint')[0].startTime, {_PAINTED},
  page.responseEnd])(performance.getEntriesByType('navigation')[0])
"""


def fill(root: Path, cache: Path, passages: Passages, count: int) -> None:
    """Keep so many assets, and index them."""
    manifest.initialize(Root(root))
    store = TinyStore(root)
    for at in range(0, count, BATCH):
        texts = [passages.passage() for _ in range(min(BATCH, count - at))]
        store.notes(texts, captured=_day)
    refresh(store.ledger, store.paths.index, cache)
    store.close()


def _day(number: int) -> str:
    day = f"{2010 + number % 15}-{1 + number % 12:02d}-{1 + number % 28:02d}"
    return f"{day}T10:00:00Z"


class Seen(NamedTuple):
    """When a page was painted first, its first result was, it was served, and what that took."""

    framed: float
    painted: float
    served: float
    cpu: float
    all_cpu: float


class Looking:
    """A browser on a server."""

    def __init__(self, browser: Browser, served: Served) -> None:
        self.browser = browser
        self.served = served
        browser.size(1100, 1000)  # a page without a size is never painted
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=_WATCH)
        browser.go(served.url)

    def opened(self, place: str) -> Seen:
        """Open a page; return when it was seen."""
        began = self._taken()
        self.browser.go(f"{self.served.base}{place}")
        self.browser.wait_for(f"{_PAINTED} > 0")
        taken = [after - before for before, after in zip(began, self._taken(), strict=True)]
        framed, painted, served = map(float, self.browser.evaluate(_SEEN))
        return Seen(framed, painted, served, taken[0], sum(taken))

    def _taken(self) -> tuple[float, float]:
        """Return the CPU milliseconds of the server's processes, and of the browser's."""
        return taken_by(self.served.process.pid), taken_by(self.browser.pid)


def taken_by(process: int) -> float:
    """Return the CPU milliseconds of a process and all that it started, those that run still."""
    own = Path(f"/proc/{process}/task")
    nanoseconds, started = 0, []
    with suppress(OSError):  # one may end meanwhile
        for task in own.iterdir():
            nanoseconds += int((task / "schedstat").read_text().split()[0])
            started += (task / "children").read_text().split()
    return nanoseconds / 1e6 + sum(taken_by(int(one)) for one in started)


def paged(looking: Looking, place: str) -> list[Seen]:
    """Go from page to page by its own link; return when each was seen."""
    times = [looking.opened(place)]
    while len(times) < PAGES:
        following = looking.browser.evaluate(
            "(document.querySelector('a.more') || {getAttribute: () => ''}).getAttribute('href')"
        )
        if not following:
            break
        times.append(looking.opened(following))
    return times


def measure(count: int) -> dict[str, object]:
    """Fill, serve, look; return the median and the worst of each."""
    passages = Passages()
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "root", Path(folder) / "cache"
        fill(root, cache, passages, count)
        return {"what": "web", "store": count, **look(root, cache, passages)}


def look(root: Path, cache: Path, passages: Passages) -> dict[str, object]:
    """Serve a store and look at it."""
    found: dict[str, object] = {}
    with (
        tempfile.TemporaryDirectory() as profile, serving(root, cache) as served,
        browsing(Path(profile)) as browser,
    ):  # fmt: skip
        looking = Looking(browser, served)
        for kind, queries in passages.queries().items():
            asked = [f"/search?q={quote(one)}" for one in queries[: ROUNDS + 1]]
            found[f"search, {kind}"] = told([looking.opened(one) for one in asked][1:])
        for name in ("timeline", "assets"):
            looking.opened(f"/{name}")
            found[name] = told(paged(looking, f"/{name}"))
    return found


def told(times: list[Seen]) -> dict[str, list[float]]:
    """Return the median and the worst of both."""
    return {
        field: [round(ordered[len(ordered) // 2], 1), round(ordered[-1], 1)]
        for field in Seen._fields
        for ordered in [sorted(getattr(one, field) for one in times)]
    }


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description="Measure how soon the pages are seen.")
    parser.add_argument("assets", type=int, nargs="?", default=100_000)
    sys.stdout.write(json.dumps(measure(parser.parse_args().assets)) + "\n")


if __name__ == "__main__":
    main()
