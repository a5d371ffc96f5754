"""A pack as a page of its own: what is in it, and that nothing in it runs."""

import base64
import io
from typing import Any

import pytest
from PIL import Image
from support.album import BAR, HOSTILE_TEXT, SCRIPT, Album, Parsed
from support.asking import Asker

from muniment.pipeline.view import embedding
from muniment.pipeline.view.pack_page import pack_page
from muniment.pipeline.view.style import CSS, digest


def pack_of(album: Album, query: str) -> dict[str, Any]:
    return Asker(album.store, album.cache).recall(query)


def page_of(album: Album, query: str) -> tuple[Parsed, str]:
    page = pack_page(album.store.ledger, pack_of(album, query))
    return Parsed(page), page


def test_the_page_stands_alone_under_a_policy_that_allows_nothing_else(album: Album) -> None:
    parsed, page = page_of(album, "Which number is the blue bar?")
    policy = next(m["content"] for m in parsed.of("meta") if "http-equiv" in m)

    assert parsed.active() == []
    assert policy.startswith("default-src 'none'; img-src data:; media-src data:; ")
    assert f"style-src {digest()}" in policy
    assert f"<style>{CSS}</style>" in page
    assert parsed.of("link") == []
    assert all(one["href"].startswith("#") for one in parsed.of("a"))


def test_a_cited_picture_is_in_the_page_with_its_box_over_the_right_pixels(album: Album) -> None:
    parsed, _ = page_of(album, "Which number is the blue bar?")
    (image,) = parsed.of("image")
    kind, _, data = image["href"].partition(";base64,")
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    (frame, _) = parsed.of("polygon")
    points = [tuple(map(float, pair.split(","))) for pair in frame["points"].split()]

    assert kind == "data:image/jpeg"
    assert points[0] == pytest.approx((BAR[0] * picture.width, BAR[1] * picture.height), abs=4)
    for x, y in ((points[0][0] + 8, points[0][1] + 8), (points[2][0] - 8, points[2][1] - 8)):
        red, _, blue = picture.convert("RGB").getpixel((int(x), int(y)))  # type: ignore[misc]
        assert blue - red > 80
    used = next(one for one in parsed.of("svg") if one.get("role") == "img")
    assert used["viewbox"] == f"0 0 {picture.width} {picture.height}"
    assert "2047" in used["aria-label"]


def test_every_citation_leads_to_its_figure(album: Album) -> None:
    for query in ("Which number is the blue bar?", "What is the gate code?"):
        parsed, _ = page_of(album, query)
        anchors = [one["href"][1:] for one in parsed.of("a") if one.get("class") == "chip"]

        assert anchors
        assert set(anchors) <= set(parsed.ids)
        assert len(parsed.ids) == len(set(parsed.ids))


def test_a_message_stands_among_those_around_it_with_the_quote_marked(album: Album) -> None:
    parsed, page = page_of(album, "What is the gate code?")

    assert [one.get("class") for one in parsed.of("li")][:3] == [None, "cited", None]
    assert "Shall we meet?" in parsed.words
    assert "Thanks!" in parsed.words
    assert "<mark>gate code is 7731</mark>" in page


def test_speech_is_there_to_be_heard(album: Album) -> None:
    parsed, _ = page_of(album, "When does the plumber come?")
    (player,) = parsed.of("audio")

    assert player["src"].startswith("data:audio/mp4;base64,")
    assert "controls" in player
    assert "0:02–0:04" in parsed.words


def test_a_clip_over_the_cap_is_told_instead(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "MOST_CLIP_BYTES", 10)

    parsed, _ = page_of(album, "When does the plumber come?")

    assert parsed.of("audio") == []
    assert "too large to put into this page; it is 0:02–0:04 of memo.wav" in parsed.words


def test_a_picture_that_many_cite_is_held_once_and_the_whole_has_a_ceiling(
    album: Album, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "MOST_BYTES", 10)

    parsed, _ = page_of(album, "Which number is the blue bar?")

    assert parsed.of("image") == []
    assert "too large" in parsed.words
    assert "2047" in parsed.words


def test_nothing_of_a_hostile_text_or_name_runs_or_is_lost(album: Album) -> None:
    parsed, page = page_of(album, "kumquat")

    assert parsed.active() == []
    assert parsed.of("script") == []
    assert SCRIPT in parsed.words
    assert "\\u202e" in parsed.words
    assert "\x00" not in page
    assert "\u202e" not in page
    assert HOSTILE_TEXT[:7] in parsed.words


@pytest.mark.parametrize("query", [f'"><{SCRIPT} kumquat', "x" * 5_000, "\u202e\x1b[2J kumquat"])
def test_a_hostile_question_is_a_heading(album: Album, query: str) -> None:
    parsed, _ = page_of(album, query)

    assert parsed.active() == []
    assert len(parsed.of("h1")) == 1


def test_a_question_in_chinese_has_a_page_in_chinese(album: Album) -> None:
    parsed, _ = page_of(album, "船长的舱号是多少")

    assert parsed.of("html") == [{"lang": "zh-Hans"}]
    assert "没有证据能回答这个问题" in parsed.words


def test_without_evidence_the_page_says_so(album: Album) -> None:
    parsed, _ = page_of(album, "captain cabin submarine")

    assert "No evidence answers this question" in parsed.words
    assert parsed.of("article") == []


def test_the_same_pack_gives_the_same_page(album: Album) -> None:
    pack = pack_of(album, "Which number is the blue bar?")

    assert pack_page(album.store.ledger, pack) == pack_page(album.store.ledger, pack)
