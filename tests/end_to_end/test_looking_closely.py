"""Every page in a real browser: how it looks, what it does, and what hostile content can't do."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.album import BAR, HOSTILE_NAME, SESSION, Album
from support.browser import Browser
from support.cli import execute
from support.looking import Served, needs_browser, serving, shot

from muniment.pipeline.serving.web.links import to

pytestmark = needs_browser
PAGES = ("search?q=Which+number+is+the+blue+bar%3F", "why?q=blue+bar", "timeline", "assets",
         "episodes", "sessions", "entities", "records", "candidates", "conflicts",
         "status")  # fmt: skip
WIDE, NARROW = (1100, 1000), (380, 800)


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Album:
    made = Album(tmp_path_factory.mktemp("album"))
    made.store.close()
    return made


@pytest.fixture(scope="module")
def served(album: Album) -> Iterator[Served]:
    with serving(album.root, album.cache) as made:
        yield made


@pytest.fixture
def inside(quiet: Browser, served: Served) -> Iterator[Browser]:
    """The browser with the cookie of the pages."""
    quiet.go(served.url)
    yield quiet
    quiet.size(*WIDE)
    quiet.prefer("light")
    quiet.speak("en")


def hostile_places(album: Album) -> list[str]:
    pages = ["search?q=kumquat", "search?q=ferry", *PAGES]
    return [*pages, to("observation", album.hostile)[1:], to("asset", album.page)[1:],
            to("session", SESSION)[1:], to("record", album.record)[1:]]  # fmt: skip


def test_the_frame_lies_around_the_very_pixels(
    inside: Browser, served: Served, tmp_path: Path
) -> None:
    inside.go(f"{served.base}/{PAGES[0]}")
    inside.wait_for(
        "(e => { e.scrollIntoView({block: 'center'}); return e.complete && e.naturalWidth > 100 })"
        "(document.querySelector('.picture img'))"
    )
    seen = shot(inside, "frame", tmp_path)
    x, y, width, height = inside.evaluate(
        "(b => [b.x, b.y, b.width, b.height])"
        "(document.querySelector('.picture img').getBoundingClientRect())"
    )
    left, top = x + BAR[0] * width, y + BAR[1] * height
    right, bottom = left + BAR[2] * width, top + BAR[3] * height
    middle = int((left + right) / 2)

    assert seen.getpixel((middle, int((top + bottom) / 2))) == pytest.approx((20, 30, 160), abs=12)
    # Going up from the bar, the frame is met within a few pixels, and then there is white.
    above = [seen.getpixel((middle, int(top) - step)) for step in range(1, 9)]
    assert any(pixel == pytest.approx((232, 89, 12), abs=60) for pixel in above), above
    assert above[-1] == pytest.approx((255, 255, 255), abs=6)


def test_a_recording_plays_from_the_cited_second(
    inside: Browser, served: Served, album: Album
) -> None:
    inside.go(f"{served.base}{to('observation', album.said)}")
    inside.wait_for("document.querySelector('audio').readyState >= 2")
    assert inside.evaluate("document.querySelector('audio').currentTime") == pytest.approx(2)

    inside.evaluate("document.querySelector('audio').play()")

    inside.wait_for("document.querySelector('audio').currentTime > 2.3")
    assert not inside.evaluate("document.querySelector('audio').paused")


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "zh-CN")])
def test_every_page_can_be_used_by_everybody(
    inside: Browser, served: Served, tmp_path: Path, scheme: str, language: str
) -> None:
    inside.prefer(scheme)
    inside.speak(language)
    for name in PAGES:
        inside.size(*WIDE)
        inside.go(f"{served.base}/{name}")
        assert inside.serious() == [], name
        shot(inside, f"{scheme}-{name.partition('?')[0]}", tmp_path)
        inside.size(*NARROW)
        assert inside.evaluate("document.documentElement.scrollWidth") <= NARROW[0], name
        shot(inside, f"{scheme}-{name.partition('?')[0]}-narrow", tmp_path)
    ground = inside.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(251, 250, 247)", "dark": "rgb(23, 24, 27)"}[scheme]


def assert_tame(browser: Browser, place: str) -> None:
    assert browser.evaluate("document.querySelectorAll('script, [onerror]').length") == 0, place
    for width, height in (WIDE, NARROW):
        browser.size(width, height)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, place
    browser.size(*WIDE)


@pytest.fixture
def unguarded(inside: Browser) -> Iterator[Browser]:
    """The browser without the pages' policy: nothing may lean on that alone."""
    inside.call("Page.setBypassCSP", enabled=True)
    inside.call(
        "Page.addScriptToEvaluateOnNewDocument",
        source="window.alert = () => { throw new Error('it ran') }",
    )
    yield inside
    inside.call("Page.setBypassCSP", enabled=False)


def test_hostile_names_and_texts_do_nothing_and_stay_in_their_place(
    unguarded: Browser, served: Served, album: Album, tmp_path: Path
) -> None:
    for number, place in enumerate(hostile_places(album)):
        unguarded.go(f"{served.base}/{place}")
        time.sleep(0.1)  # for what would run a little later
        assert_tame(unguarded, place)
        shot(unguarded, f"hostile-{number:02d}", tmp_path)
    unguarded.go(f"{served.base}/{to('observation', album.hostile)[1:]}")
    assert HOSTILE_NAME[:10] in unguarded.evaluate("document.body.textContent")
    assert unguarded.serious() == []


def test_hostile_content_does_nothing_in_a_page_on_disk(
    unguarded: Browser, album: Album, tmp_path: Path
) -> None:
    page = tmp_path / "answer.html"
    places = {"MUNIMENT_ROOT": str(album.root), "MUNIMENT_CACHE": str(album.cache)}
    told = execute("recall", "--format", "html", "kumquat", environment=places)
    page.write_text(told.out, "utf-8")

    unguarded.go(page.as_uri())

    assert "kumquat" in unguarded.evaluate("document.querySelector('main').textContent")
    assert_tame(unguarded, "page")
    assert unguarded.serious() == []
    shot(unguarded, "hostile-page", tmp_path)


def test_a_candidate_is_rejected_by_a_click(inside: Browser, served: Served) -> None:
    inside.go(f"{served.base}/candidates")
    waiting = inside.evaluate("document.querySelectorAll('button.no').length")
    assert waiting > 0

    inside.follow(lambda: inside.click("button.no"))

    assert inside.evaluate("location.pathname") == "/candidates"
    assert inside.evaluate("document.querySelectorAll('button.no').length") == waiting - 1
