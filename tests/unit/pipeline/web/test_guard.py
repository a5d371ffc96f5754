"""Nobody gets in without the token, from elsewhere, or under another name."""

import base64
import hashlib
import re

import pytest
from starlette.testclient import TestClient
from support.album import Album

TOKEN = "a-token-of-this-test"
EVERYWHERE = ("/", "/search?q=bar", "/timeline", "/assets", "/records", "/candidates", "/status",
              "/icon.png", "/media/0", "/nothing")  # fmt: skip


@pytest.mark.parametrize("address", EVERYWHERE)
def test_without_the_token_nothing_is_shown(stranger: TestClient, address: str) -> None:
    answer = stranger.get(address)

    assert answer.status_code == 401
    assert "token" not in answer.headers.get("set-cookie", "")
    assert "<" not in answer.text


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    answer = stranger.get(f"/search?q=a%26b&token={TOKEN}")
    cookie = answer.headers["set-cookie"]
    stranger.cookies.clear()

    assert (answer.status_code, answer.headers["location"]) == (303, "/search?q=a%26b")
    assert TOKEN not in cookie
    assert cookie.startswith("muniment-8378=")
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")


@pytest.mark.parametrize("token", ["", "wrong", "é", "x" * 10_000])
def test_another_token_opens_nothing(stranger: TestClient, token: str) -> None:
    assert stranger.get("/timeline", params={"token": token}).status_code == 401


@pytest.mark.parametrize("cookie", ["muniment-8378=x", "muniment-8378", "=;;=", "a=\x01"])
def test_another_cookie_opens_nothing(stranger: TestClient, cookie: str) -> None:
    assert stranger.get("/timeline", headers={"cookie": cookie}).status_code == 401


def test_a_double_slash_does_not_lead_elsewhere(stranger: TestClient) -> None:
    answer = stranger.get(f"http://127.0.0.1:8378//elsewhere.example/?token={TOKEN}")
    stranger.cookies.clear()

    assert answer.headers["location"] == "/elsewhere.example/"


@pytest.mark.parametrize("host", ["elsewhere.example", "127.0.0.1", "127.0.0.1:9", "", "localhost"])
def test_another_host_name_is_refused_even_with_the_cookie(client: TestClient, host: str) -> None:
    assert client.get("/timeline", headers={"host": host}).status_code == 421


def test_the_names_of_loopback_are_its_own(client: TestClient) -> None:
    for host in ("localhost:8378", "[::1]:8378", "127.0.0.1:8378"):
        assert client.get("/icon.png", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_no_other_method_is_answered_and_nothing_allows_another_origin(
    client: TestClient, method: str
) -> None:
    answer = client.request(method, "/timeline", headers={"origin": "http://elsewhere.example"})

    assert answer.status_code == 405
    assert [name for name in answer.headers if name.startswith("access-control")] == []


@pytest.mark.parametrize("address", EVERYWHERE)
def test_every_answer_has_the_headers(client: TestClient, address: str) -> None:
    headers = client.get(address).headers

    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "script-src" not in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "private, no-store"


def test_the_policy_allows_the_one_style_that_every_page_holds(client: TestClient) -> None:
    answer = client.get("/timeline")
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert f"style-src 'sha256-{digest}';" in answer.headers["content-security-policy"]


def form_of(page: str) -> str:
    found = re.search(r'name="form" value="([0-9a-f]{64})"', page)
    assert found is not None
    return found.group(1)


def test_a_decision_needs_the_form_of_a_page_of_this_server(
    client: TestClient, album: Album
) -> None:
    address = f"/candidates/{album.candidate}/reject"

    assert client.post(address).status_code == 403
    assert client.post(address, data={"form": "0" * 64}).status_code == 403
    form = form_of(client.get("/candidates").text)
    for headers in (
        {"origin": "http://elsewhere.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        assert client.post(address, data={"form": form}, headers=headers).status_code == 403
    assert client.post(address, data={"form": "x" * 9_000}).status_code == 413
    assert album.candidate in client.get("/candidates").text


def test_a_decision_is_kept_and_what_was_decided_waits_no_more(
    client: TestClient, album: Album
) -> None:
    page = client.get("/candidates").text
    address = f"/candidates/{album.candidate}/approve"
    assert address in page

    answer = client.post(
        address, data={"form": form_of(page)},
        headers={"origin": "http://127.0.0.1:8378", "sec-fetch-site": "same-origin"},
    )  # fmt: skip

    assert (answer.status_code, answer.headers["location"]) == (303, "/candidates")
    assert album.candidate not in client.get("/candidates").text
    assert "Ana wants to meet" in client.get("/records").text
    gone = client.post("/candidates/cand_nothing/reject", data={"form": form_of(page)})
    assert gone.status_code == 404
