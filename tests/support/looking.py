"""A person's browser on the pages of ``serve web``, and what is kept of what it saw."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from support.browser import Browser, program
from support.cli import SCRIPT

needs_browser = pytest.mark.skipif(
    program() is None or os.environ.get("MUNIMENT_TEST_BROWSER") != "1",
    reason="make test-browser runs these: painting waits for a quiet machine",
)
# Where whoever runs the tests wants to look at the screenshots.
SHOTS = os.environ.get("MUNIMENT_TEST_SCREENSHOTS")


class Served:
    """A running ``serve web``."""

    def __init__(self, root: Path, cache: Path) -> None:
        environment = {
            "MUNIMENT_ROOT": str(root), "MUNIMENT_CACHE": str(cache),
            "XDG_RUNTIME_DIR": str(cache),
        }  # fmt: skip
        self.process = subprocess.Popen(
            [SCRIPT, "--json", "serve", "web", "--port", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.base = self.url.partition("/?")[0]

    def close(self) -> int:
        """End the server; return how it ended."""
        self.process.terminate()
        self.process.communicate(timeout=60)
        return self.process.returncode


@contextmanager
def serving(root: Path, cache: Path) -> Iterator[Served]:
    """Serve a store; the server must end as it was asked to."""
    served = Served(root, cache)
    try:
        yield served
    finally:
        ended = served.close()
    assert ended == 143


@contextmanager
def without_complaint(browser: Browser) -> Iterator[Browser]:
    """Fail what makes the browser complain, or ask for anything but loopback and its own."""
    browser.complaints.clear()
    browser.requests.clear()
    yield browser
    assert browser.complaints == []
    allowed = ("http://127.0.0.1:", "data:", "file:", "about:")
    assert [one for one in browser.requests if not one.startswith(allowed)] == []


def shot(browser: Browser, name: str, folder: Path) -> Image.Image:
    """Keep what the browser shows and return it."""
    path = browser.picture(Path(SHOTS or folder) / f"{name}.png")
    return Image.open(path).convert("RGB")
