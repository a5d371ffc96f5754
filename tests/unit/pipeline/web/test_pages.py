"""The pages: what they show, that they link together, and that nothing in them runs."""

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient
from support.album import HANDLER, SCRIPT, SESSION, Album, Parsed
from support.stores import TinyStore

from muniment.pipeline.recall.request import Request
from muniment.pipeline.recalling import Reading
from muniment.pipeline.serving.warm import Warm
from muniment.pipeline.serving.web.app import build
from muniment.pipeline.serving.web.browsing import Families
from muniment.pipeline.serving.web.guard import Keys
from muniment.store.errors import LockedError

PAGES = ("/search", "/timeline", "/assets", "/episodes", "/sessions", "/entities", "/records",
         "/candidates", "/conflicts", "/status")  # fmt: skip


def get(client: TestClient, address: str, **headers: str) -> Parsed:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Parsed(answer.text)


def test_the_front_page_leads_to_the_search(client: TestClient) -> None:
    assert client.get("/").headers["location"] == "/search"
    assert get(client, "/search").of("input")[0]["name"] == "q"


def test_every_link_leads_to_a_page_where_nothing_runs(client: TestClient) -> None:
    waiting, seen = [*PAGES, "/search?q=kumquat", "/search?q=gate+code"], set()
    while waiting:
        address = waiting.pop()
        if address in seen or address.startswith("/media"):
            continue
        seen.add(address)
        parsed = get(client, address)
        assert parsed.active() == [], address
        assert len(parsed.of("main")) == 1
        waiting += [one["href"] for one in parsed.of("a") if one["href"].startswith("/")]
        for source in (*parsed.of("img"), *parsed.of("audio"), *parsed.of("video")):
            found = client.get(source["src"].partition("#")[0])
            assert found.status_code == 200, source
            assert found.headers["content-type"].partition("/")[0] in {"image", "audio", "video"}

    assert len(seen) > 20


def test_a_search_shows_the_pack_with_its_evidence(client: TestClient, album: Album) -> None:
    parsed = get(client, "/search?q=Which+number+is+the+blue+bar%3F")

    assert "Supported" in parsed.words
    (image,) = list(parsed.of("img"))
    assert image["src"] == f"/picture/{album.bar}"
    assert "2047" in image["alt"]
    first, again = parsed.of("polygon")
    assert first == again
    assert first["points"].split()[0] == "0.246,0.496"
    assert "Why this result?" in parsed.words


def test_the_reasons_name_every_hit_and_what_became_of_it(client: TestClient, album: Album) -> None:
    parsed = get(client, "/why?q=Which+number+is+the+blue+bar%3F")

    assert f"/observation/{album.bar}" in [one.get("href") for one in parsed.of("a")]
    assert "in the pack" in parsed.words
    assert get(client, "/why?q=kumquat").active() == []


def test_a_search_can_be_narrowed(client: TestClient) -> None:
    assert get(client, "/search?q=blue+bar&kind=message").of("article") == []
    assert get(client, "/search?q=blue+bar&until=2026-03-01").of("article") == []
    assert len(get(client, "/search?q=blue+bar&until=2026-03-02&media=image").of("article")) == 1


def test_the_frame_of_a_search_is_sent_before_its_answer_is_found(
    warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def recall(opened: Reading, request: Request) -> tuple[dict[str, Any], str]:
        assert 'value="blue bar"' in "".join(sent)
        return asked(opened, request)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message.get("body", b"").decode())

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    asked = Reading.recall
    monkeypatch.setattr(Reading, "recall", recall)
    keys = Keys("token", 8378)
    cookie = f"{keys.cookie}={keys.session}".encode()
    scope = {
        "type": "http", "method": "GET", "path": "/search", "query_string": b"q=blue+bar",
        "headers": [(b"host", b"127.0.0.1:8378"), (b"cookie", cookie)],
    }  # fmt: skip
    asyncio.run(build(warm, keys.token, 8378)(scope, receive, send))

    assert "2047" in "".join(sent)
    assert Parsed("".join(sent)).of("main") == [{"id": "answer"}]


def test_what_goes_wrong_on_the_way_to_an_answer_is_told_on_its_page(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recall(opened: Reading, request: Request) -> tuple[dict[str, Any], str]:
        raise LockedError("the index is in use", hint="try again")

    monkeypatch.setattr(Reading, "recall", recall)
    parsed = get(client, "/search?q=blue+bar")

    assert "the index is in use" in parsed.words
    assert "try again" in parsed.words
    assert parsed.of("input")[0]["value"] == "blue bar"


def test_a_note_for_commands_is_none_on_a_page(client: TestClient) -> None:
    words = get(client, "/search?q=blue+bar").words

    assert "Looked for by words" in words
    assert "--semantic" not in words


def test_kinds_are_read_on_as_they_come_and_anew_from_another_ledger(tmp_path: Path) -> None:
    one, other = TinyStore(tmp_path / "one"), TinyStore(tmp_path / "other")
    families = Families()
    for store, family in ((one, "text"), (one, "image"), (other, "audio")):
        store.file(f"{family}.x", [], data=family.encode(), family=family)

    assert families.of(one.ledger) == ["image", "text"]
    one.file("film.x", [], data=b"film", family="video")
    assert families.of(one.ledger) == ["image", "text", "video"]
    assert families.of(other.ledger) == ["audio"]
    one.close()
    other.close()


def test_the_kind_that_is_shown_is_marked(client: TestClient) -> None:
    def marked(address: str) -> list[str]:
        return [one["href"] for one in get(client, address).of("a")
                if one.get("aria-current") and "chip" in one.get("class", "")]  # fmt: skip

    assert marked("/assets") == ["/assets"]
    assert marked("/assets?family=image") == ["/assets?family=image"]


def test_a_recording_plays_from_the_cited_second(client: TestClient, album: Album) -> None:
    (player,) = get(client, f"/observation/{album.said}").of("audio")

    address = urlsplit(player["src"])
    assert (address.path.partition("/media/")[1], address.fragment) == ("/media/", "t=2,4")


def test_a_message_is_shown_in_its_talk(client: TestClient, album: Album) -> None:
    parsed = get(client, f"/observation/{album.chat[1]}")

    assert "Shall we meet?" in parsed.words
    assert any("cited" in one.get("class", "") for one in parsed.of("li"))


def test_a_record_tells_its_versions_and_what_happened(client: TestClient, album: Album) -> None:
    parsed = get(client, f"/record/{album.record}")

    assert "gate code is 7731" in parsed.words
    assert "active" in parsed.words
    assert f"/observation/{album.chat[1]}" in [one.get("href") for one in parsed.of("a")]


def test_the_timeline_is_by_day_newest_first_and_can_start_at_a_month(client: TestClient) -> None:
    answer = client.get("/timeline").text
    days = [
        day for day in ("2026-03-03", "2026-03-02", "2026-02-01") if f"<h2>{day}</h2>" in answer
    ]

    assert days == ["2026-03-03", "2026-03-02", "2026-02-01"]
    assert answer.index("2026-03-03") < answer.index("<h2>2026-02-01")
    assert "<h2>2026-03-02</h2>" not in client.get("/timeline?month=2026-02").text


@pytest.mark.parametrize(
    "address",
    ["/timeline?before=x", "/timeline?before=2026~x", "/timeline?month=%00'--", "/assets?before=-1",
     "/assets?family=%22%3E", "/assets?before=99999999999999999999", "/records?before=%F0"],
)  # fmt: skip
def test_a_place_that_is_none_is_no_fault(client: TestClient, address: str) -> None:
    assert get(client, address).active() == []


@pytest.mark.parametrize(
    ("address", "status"),
    [("/asset/0", 404), ("/observation/obs_0", 404), ("/record/rec_0", 404), ("/media/0", 404),
     ("/episode/ep_0", 404), ("/thumb/..%2f..%2fetc", 404), ("/nothing", 404),
     ("/search?q=x&since=never", 400)],
)  # fmt: skip
def test_what_is_not_there_is_told_in_a_page(client: TestClient, address: str, status: int) -> None:
    answer = client.get(address)

    assert answer.status_code == status
    assert Parsed(answer.text).active() == []


def test_the_pages_speak_the_language_of_the_reader_or_the_question(client: TestClient) -> None:
    chinese = get(client, "/timeline", **{"accept-language": "zh-CN,zh;q=0.9"})

    assert chinese.of("html") == [{"lang": "zh-Hans"}]
    assert "时间线" in chinese.words
    assert get(client, "/search?q=船长的舱号").of("html") == [{"lang": "zh-Hans"}]
    assert get(client, "/timeline").of("html") == [{"lang": "en"}]


def test_a_hostile_name_is_a_name(client: TestClient, album: Album) -> None:
    parsed = get(client, f"/observation/{album.hostile}")

    assert SCRIPT in parsed.words
    assert "\\u202e" in parsed.words
    assert parsed.of("script") == []


def test_a_session_is_read_event_by_event(client: TestClient) -> None:
    (link,) = [one["href"] for one in get(client, "/sessions").of("a")
               if one["href"].startswith("/session/")]  # fmt: skip

    parsed = get(client, link)

    assert parsed.words.index("Book the ferry") < parsed.words.rindex("Booked.")
    assert SESSION in parsed.words
    assert parsed.active() == []
    assert client.get("/session/none/such").status_code == 404


def test_an_entity_is_shown_with_its_names_and_evidence(client: TestClient, album: Album) -> None:
    (link,) = [one["href"] for one in get(client, "/entities").of("a")
               if one["href"].startswith("/entity/")]  # fmt: skip

    parsed = get(client, link)

    assert HANDLER in parsed.words
    assert f"/observation/{album.hostile}" in [one.get("href") for one in parsed.of("a")]
    assert parsed.active() == []


def test_the_status_tells_of_backups_drills_and_the_index(client: TestClient) -> None:
    words = get(client, "/status").words

    assert "Last backupnever" in words
    assert "Last restore drillnever" in words
    assert "Indexcurrent" in words
