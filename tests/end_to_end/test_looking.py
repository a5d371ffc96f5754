"""A person looks at the evidence of the samples, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from end_to_end.conftest import Ingested
from support.browser import Browser
from support.looking import Served, needs_browser, serving, shot

pytestmark = needs_browser
ENTER = 13


@pytest.fixture(scope="module")
def served(ingested: Ingested) -> Iterator[Served]:
    with serving(ingested.root, ingested.cache) as made:
        yield made


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
    assert quiet.serious() == []
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
    assert not quiet.evaluate("document.querySelector('audio').paused")
    shot(quiet, "playing", tmp_path)


def test_a_page_on_disk_shows_picture_and_sound_without_the_server(
    quiet: Browser, ingested: Ingested, tmp_path: Path
) -> None:
    page = tmp_path / "answer.html"
    page.write_text(ingested.run("recall", "--format", "html", "Who is the painter?").out, "utf-8")

    quiet.go(page.as_uri())

    assert quiet.evaluate("document.querySelectorAll('article').length") > 0
    assert quiet.serious() == []
    place = quiet.evaluate(
        "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
        "return [b.x, b.y, b.width, b.height] })(document.querySelector('svg[role=img]'))"
    )
    seen = shot(quiet, "page", tmp_path)
    middle = seen.getpixel((int(place[0] + place[2] * 0.9), int(place[1] + place[3] * 0.9)))
    assert middle == pytest.approx((31, 58, 77), abs=12)  # the dark slide, drawn by <use>
    quiet.wait_for("[...document.querySelectorAll('audio, video')].every(e => e.readyState >= 1)")
    assert quiet.evaluate("document.querySelectorAll('audio, video').length") > 0
