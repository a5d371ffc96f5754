"""A person looks at the evidence of the samples, in a real browser."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from end_to_end.conftest import Ingested
from PIL import Image
from support.album import HOSTILE_NAME, Album
from support.browser import Browser, browsing, program
from support.cli import SCRIPT

ASKED = os.environ.get("MUNIMENT_TEST_BROWSER") == "1"
pytestmark = pytest.mark.skipif(
    program() is None or not ASKED,
    reason="needs Chromium and MUNIMENT_TEST_BROWSER=1: painting waits for a quiet machine",
)
ENTER = 13
# Where whoever runs the tests wants to look at the screenshots.
SHOTS = os.environ.get("MUNIMENT_TEST_SCREENSHOTS")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as opened:
        opened.size(1100, 1000)
        yield opened


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Browser]:
    """Fail what makes the browser complain, or ask for anything but loopback and its own."""
    browser.complaints.clear()
    browser.requests.clear()
    yield browser
    assert browser.complaints == []
    allowed = ("http://127.0.0.1:", "data:", "file:", "about:")
    assert [one for one in browser.requests if not one.startswith(allowed)] == []


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
        self.process.terminate()
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture(scope="module")
def served(ingested: Ingested) -> Iterator[Served]:
    made = Served(ingested.root, ingested.cache)
    yield made
    assert made.close() == 143


def shot(browser: Browser, name: str, tmp_path: Path) -> Image.Image:
    path = browser.picture(Path(SHOTS or tmp_path) / f"{name}.png")
    return Image.open(path).convert("RGB")


def test_search_open_citation_see_the_box_and_play_the_clip(
    quiet: Browser, served: Served, tmp_path: Path
) -> None:
    quiet.go(served.url)
    assert quiet.evaluate("location.search") == ""
    quiet.evaluate("document.querySelector('input[name=q]').focus()")
    quiet.type("What is the cake order number?")
    quiet.follow(lambda: quiet.press("Enter", ENTER))
    quiet.wait_for(
        "(e => { e.scrollIntoView({block: 'center'}); return e.complete && e.naturalWidth > 100 })"
        "(document.querySelector('.picture img'))"
    )
    assert "2047" in quiet.evaluate("document.querySelector('article .said').textContent")
    seen = shot(quiet, "search", tmp_path)
    x, y, width, height = quiet.evaluate(
        "(b => [b.x, b.y, b.width, b.height])"
        "(document.querySelector('polygon').getBoundingClientRect())"
    )
    # The known line's dark letters lie inside of the frame, and white board right under it.
    inside = seen.crop((int(x) + 4, int(y) + 4, int(x + width) - 4, int(y + height) - 4))
    under = seen.crop((int(x) + 4, int(y + height) + 5, int(x + width) - 4, int(y + height) + 8))
    assert min(inside.convert("L").tobytes()) < 100
    assert min(under.convert("L").tobytes()) > 200
    # The third line of the whiteboard, by the sample's known layout.
    top, across = quiet.evaluate(
        "(i => { const b = i.getBoundingClientRect(), "
        "p = document.querySelector('polygon').getBoundingClientRect(); "
        "return [(p.y - b.y) / b.height, p.width / b.width] })"
        "(document.querySelector('.picture img'))"
    )
    assert 0.25 < top < 0.42
    assert 0.3 < across < 0.6

    quiet.follow(lambda: quiet.click("figcaption a"))
    assert "/observation/" in quiet.evaluate("location.pathname")

    quiet.go(f"{served.base}/search?q=When+is+the+dentist+appointment%3F")
    cited = quiet.evaluate("document.querySelector('audio').src.split('#t=')[1].split(',')[0]")
    quiet.wait_for("document.querySelector('audio').readyState >= 2")
    assert quiet.evaluate("document.querySelector('audio').currentTime") >= float(cited)
    quiet.evaluate("document.querySelector('audio').play()")
    quiet.wait_for(f"document.querySelector('audio').currentTime > {cited} + 0.3")
    shot(quiet, "playing", tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_looks_right_in_light_and_dark_and_on_a_narrow_screen(
    quiet: Browser, served: Served, tmp_path: Path, scheme: str
) -> None:
    quiet.prefer(scheme)
    quiet.go(served.url)
    try:
        quiet.size(380, 800)
        for name in ("search?q=林梅对什么过敏", "timeline", "assets", "episodes", "records",
                     "candidates", "status"):  # fmt: skip
            quiet.go(f"{served.base}/{name}")
            assert quiet.evaluate("document.documentElement.scrollWidth") <= 380, name
            shot(quiet, f"{scheme}-{name.partition('?')[0]}", tmp_path)
        ground = quiet.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(251, 250, 247)", "dark": "rgb(23, 24, 27)"}[scheme]
    finally:
        quiet.size(1100, 1000)
        quiet.prefer("light")


def test_a_candidate_is_rejected_by_a_click(quiet: Browser, served: Served) -> None:
    quiet.go(served.url)
    quiet.go(f"{served.base}/candidates")
    waiting = quiet.evaluate("document.querySelectorAll('button.no').length")
    assert waiting > 0

    quiet.follow(lambda: quiet.click("button.no"))

    assert quiet.evaluate("location.pathname") == "/candidates"
    assert quiet.evaluate("document.querySelectorAll('button.no').length") == waiting - 1


def test_a_page_on_disk_shows_picture_and_sound_without_the_server(
    quiet: Browser, ingested: Ingested, tmp_path: Path
) -> None:
    page = tmp_path / "answer.html"
    page.write_text(ingested.run("recall", "--format", "html", "Who is the painter?").out, "utf-8")

    quiet.go(page.as_uri())

    assert quiet.evaluate("document.querySelectorAll('article').length") > 0
    seen = shot(quiet, "page", tmp_path)
    place = quiet.evaluate(
        "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
        "return [b.x, b.y, b.width, b.height] })(document.querySelector('svg[role=img]'))"
    )
    seen = shot(quiet, "page", tmp_path)
    middle = seen.getpixel((int(place[0] + place[2] * 0.9), int(place[1] + place[3] * 0.9)))
    assert middle == pytest.approx((31, 58, 77), abs=12)  # the dark slide, drawn by <use>
    quiet.wait_for("[...document.querySelectorAll('audio, video')].every(e => e.readyState >= 1)")
    assert quiet.evaluate("document.querySelectorAll('audio, video').length") > 0


def test_hostile_names_and_texts_do_nothing_in_a_browser(
    quiet: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    album = Album(tmp_path_factory.mktemp("hostile"))
    album.store.close()
    served = Served(album.root, album.cache)
    try:
        quiet.go(served.url)
        quiet.call("Page.setBypassCSP", enabled=True)  # nothing may lean on the policy alone
        quiet.evaluate("window.alert = () => { throw new Error('it ran') }")
        for place in ("search?q=kumquat", "assets", "timeline", "candidates",
                      f"observation/{album.hostile}"):  # fmt: skip
            quiet.go(f"{served.base}/{place}")
            time.sleep(0.2)
            assert quiet.evaluate("document.querySelectorAll('script, [onerror]').length") == 0
            assert quiet.evaluate("document.documentElement.scrollWidth") <= 1100, place
            shot(quiet, f"hostile-{place.partition('?')[0].partition('/')[0]}", tmp_path)
        assert HOSTILE_NAME[:10] in quiet.evaluate("document.body.textContent")
    finally:
        quiet.call("Page.setBypassCSP", enabled=False)
        served.close()
