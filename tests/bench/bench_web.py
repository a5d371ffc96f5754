"""Measure how soon the pages are seen: ``python tests/bench/bench_web.py [ASSETS]``.

A store of so many assets, each a dated message of its own, is served by a warm ``serve web`` and
looked at by Chromium. Times are milliseconds of wall from leaving a page to the first paint of the
next one with its content, as the browser measures them, and of these what the server took; the
machine should be quiet, as Chromium paints without a GPU.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.bench_speed import BATCH, Passages
from support.browser import Browser, browsing
from support.looking import serving
from support.stores import TinyStore

from muniment.pipeline.stages.index import refresh
from muniment.store import manifest
from muniment.store.layout import Root

ROUNDS = 15
PAGES = 10
_PAINTED = "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime"
_SERVED = "(n => n.responseEnd - n.requestStart)(performance.getEntriesByType('navigation')[0])"


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
    """When a page was painted first, and how long the server took for it."""

    painted: float
    served: float


def opened(browser: Browser, address: str) -> Seen:
    """Open a page; return when it was seen."""
    browser.go(address)
    browser.wait_for(f"{_PAINTED} > 0")
    return Seen(float(browser.evaluate(_PAINTED)), float(browser.evaluate(_SERVED)))


def paged(browser: Browser, address: str) -> list[Seen]:
    """Go from page to page by its own link; return when each was seen."""
    times = [opened(browser, address)]
    while len(times) < PAGES:
        following = browser.evaluate("(document.querySelector('a.more') || {}).href || ''")
        if not following:
            break
        times.append(opened(browser, following))
    return times


def measure(count: int) -> dict[str, object]:
    """Fill, serve, look; return the median and the worst of each."""
    passages = Passages()
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "root", Path(folder) / "cache"
        fill(root, cache, passages, count)
        with serving(root, cache) as served, browsing(Path(folder) / "profile") as browser:
            browser.size(1100, 1000)  # a page without a size is never painted
            browser.go(served.url)
            found: dict[str, object] = {"what": "web", "store": count}
            for kind, queries in passages.queries().items():
                asked = [f"{served.base}/search?q={quote(one)}" for one in queries[: ROUNDS + 1]]
                found[f"search, {kind}"] = told([opened(browser, one) for one in asked][1:])
            for name in ("timeline", "assets"):
                opened(browser, f"{served.base}/{name}")
                found[name] = told(paged(browser, f"{served.base}/{name}"))
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
