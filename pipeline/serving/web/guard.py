"""What stands before every page: the host's name, the token, and headers that allow little."""

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from muniment.pipeline.serving.web.sheet import SHEET
from muniment.pipeline.view.style import digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; img-src 'self'; media-src 'self'; "
    f"style-src {digest(SHEET)}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_NOT_KEPT = (b"cache-control", b"private, no-store")
_METHODS = {"GET", "HEAD", "POST"}
_SAME = {b"same-origin", b"none"}


class Keys:
    """What one start of the server is opened with: the token, and what is derived from it."""

    def __init__(self, token: str, port: int) -> None:
        self.token = token
        # Cookies do not tell ports apart, so the name does.
        self.cookie = f"muniment-{port}"
        self.session = _derived(token, "session")
        self.form = _derived(token, "form")

    def opens(self, given: str) -> bool:
        """Tell whether a token is the one that was printed."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def knows(self, cookie: str) -> bool:
        """Tell whether a cookie was given out for the token."""
        return hmac.compare_digest(cookie.encode(), self.session.encode())

    def allows(self, form: str) -> bool:
        """Tell whether a form came from a page of this server."""
        return hmac.compare_digest(form.encode(), self.form.encode())


class Guard:
    """Lets a request pass that names this host and carries the token's cookie."""

    def __init__(self, app: "App", keys: Keys, hosts: "Iterable[str]") -> None:
        self._app = app
        self._keys = keys
        self._hosts = frozenset(host.encode("ascii") for host in hosts)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refused = self._refusal(scope)
            if refused is not None:
                await _plain(send, *refused)
            elif self._given(scope) is not None:
                await self._enter(scope, send)
            else:
                await self._app(scope, receive, _guarded(send))

    def _refusal(self, scope: "Scope") -> tuple[int, bytes] | None:
        headers = dict(scope["headers"])
        if headers.get(b"host", b"").lower() not in self._hosts:
            return 421, b"this server answers to its own address only\n"
        if scope["method"] not in _METHODS:
            return 405, b"not here\n"
        if scope["method"] == "POST" and not self._is_own(headers):
            return 403, b"this did not come from a page of this server\n"
        given = self._given(scope)
        if given is not None:
            return None if self._keys.opens(given) else (401, b"this is not the token\n")
        if not self._keys.knows(_cookie(headers, self._keys.cookie)):
            return 401, b"open the address that was printed when the server started\n"
        return None

    def _is_own(self, headers: dict[bytes, bytes]) -> bool:
        """Tell whether a browser says that a form came from here; one that says nothing may."""
        origin = headers.get(b"origin")
        site = headers.get(b"sec-fetch-site")
        named = origin is None or origin.removeprefix(b"http://") in self._hosts
        return named and (site is None or site in _SAME)

    @staticmethod
    def _given(scope: "Scope") -> str | None:
        found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        return found[0] if found and scope["method"] == "GET" else None

    async def _enter(self, scope: "Scope", send: "Send") -> None:
        """Put the token into a cookie and out of the address."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        asked.pop("token")
        query = urlencode(asked, doseq=True)
        # The path as it came: one that was decoded could lead elsewhere.
        path = bytes(scope.get("raw_path") or b"/").partition(b"?")[0]
        place = b"/" + path.lstrip(b"/\\") + (b"?" + query.encode() if query else b"")
        cookie = f"{self._keys.cookie}={self._keys.session}; Path=/; HttpOnly; SameSite=Strict"
        await _plain(
            send, 303, b"", [(b"location", place), (b"set-cookie", cookie.encode("ascii"))]
        )


def _cookie(headers: dict[bytes, bytes], name: str) -> str:
    try:
        found = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _derived(token: str, purpose: str) -> str:
    return hmac.new(token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _guarded(send: "Send") -> "Send":
    """Add the headers to whatever is answered; a policy that is stricter already stays."""

    async def sent(message: "MutableMapping[str, Any]") -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            names = {name.lower() for name, _ in own}
            own += [pair for pair in (*_HEADERS, _NOT_KEPT) if pair[0] not in names]
            message = {**message, "headers": own}
        await send(message)

    return sent


async def _plain(
    send: "Send", status: int, body: bytes, headers: "Iterable[tuple[bytes, bytes]]" = ()
) -> None:
    own = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS, _NOT_KEPT, *headers]
    own.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": own})
    await send({"type": "http.response.body", "body": body})
