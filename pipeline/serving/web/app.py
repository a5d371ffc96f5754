"""The routes of the evidence browser, each over a warm store; no page runs a script."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from muniment.pipeline.memory.review import approve, by_id, reject
from muniment.pipeline.recall.packing import LEXICAL_ONLY
from muniment.pipeline.recalling import request_of
from muniment.pipeline.serving.web import browsing, entities, episodes, memory, sessions
from muniment.pipeline.serving.web.guard import Guard, Keys
from muniment.pipeline.serving.web.icon import ICON
from muniment.pipeline.serving.web.layout import END, begin, main, page, search_box
from muniment.pipeline.serving.web.links import Linked, to
from muniment.pipeline.serving.web.media import Gallery
from muniment.pipeline.serving.web.status import status_of
from muniment.pipeline.serving.web.why import why
from muniment.pipeline.view.exhibits import exhibits_of
from muniment.pipeline.view.markup import Markup, tag
from muniment.pipeline.view.pack_page import pack_body
from muniment.pipeline.view.words import Words, language_of
from muniment.store.errors import ExitCode, MunimentError

if TYPE_CHECKING:
    from starlette.requests import Request

    from muniment.pipeline.recall.request import Request as Asked
    from muniment.pipeline.recalling import Reading
    from muniment.pipeline.serving.warm import Warm
    from muniment.store.ledger import Ledger

    Handler = Callable[["Request"], Response]

HOSTS = ("127.0.0.1", "localhost", "[::1]")
MOST_FORM_BYTES = 4_096
_STATUS = {
    ExitCode.NOT_FOUND: 404, ExitCode.USAGE: 400, ExitCode.LOCKED: 503, ExitCode.NO_STORE: 404,
}  # fmt: skip
_UNREADABLE = 422
_FILTERS = ("since", "until", "as_of")
_EXPLAINED = 20


class Web:
    """The pages of one scope."""

    def __init__(self, warm: "Warm", keys: Keys) -> None:
        self._warm = warm
        self._keys = keys
        self._gallery = Gallery(warm)
        self._families = browsing.Families()

    def routes(self) -> list[Route]:
        """Return every address that is answered."""
        gallery, pages = self._gallery, self._page
        return [
            Route("/", self.home),
            Route("/search", self.search),
            Route("/why", self.why),
            Route("/timeline", pages(lambda ledger, words, request: browsing.timeline(
                ledger, words, browsing.place_of(_query(request, "before")),
                _query(request, "month")))),
            Route("/assets", pages(lambda ledger, words, request: browsing.assets(
                ledger, words, self._families.of(ledger), _query(request, "family"),
                _number(request, "before")))),
            Route("/asset/{id}", pages(lambda ledger, words, request: browsing.asset(
                ledger, words, _asset(request), _number(request, "after") or 0))),
            Route("/observation/{id}", pages(lambda ledger, words, request: browsing.observation(
                ledger, words, _id(request)))),
            Route("/episodes", pages(lambda ledger, words, request: episodes.episodes(
                ledger, words, _number(request, "before")))),
            Route("/episode/{id}", pages(lambda ledger, words, request: episodes.episode(
                ledger, words, _id(request), _number(request, "offset") or 0))),
            Route("/sessions", pages(lambda ledger, words, request: sessions.sessions(
                ledger, words, _number(request, "before")))),
            # A host names its sessions with whatever characters it likes.
            Route("/session/{id:path}", pages(lambda ledger, words, request: sessions.session(
                ledger, words, _id(request), _number(request, "after") or 0))),
            Route("/entities", pages(lambda ledger, words, request: entities.entities(
                ledger, words, _number(request, "offset") or 0))),
            Route("/entity/{id}", pages(lambda ledger, words, request: entities.entity(
                ledger, words, _id(request)))),
            Route("/records", pages(lambda ledger, words, request: memory.records(
                ledger, words, _number(request, "before")))),
            Route("/record/{id}", pages(lambda ledger, words, request: memory.record(
                ledger, words, _id(request)))),
            Route("/conflicts", pages(lambda ledger, words, request: memory.conflicts(
                ledger, words))),
            Route("/candidates", pages(lambda ledger, words, request: memory.candidates(
                ledger, words, self._keys.form))),
            Route("/candidates/{id}/{verb}", self.decide, methods=["POST"]),
            Route("/status", self.status),
            Route("/media/{id}", lambda request: gallery.whole(
                _asset(request), request.headers.get("range"))),
            Route("/thumb/{id}", lambda request: gallery.thumbnail(_asset(request))),
            Route("/look/{id}", lambda request: gallery.look(_asset(request))),
            Route("/wave/{id}", lambda request: gallery.wave(_asset(request))),
            Route("/picture/{id}", lambda request: gallery.picture(_id(request))),
            Route("/clip/{id}", lambda request: gallery.clip(_id(request))),
            Route("/icon.png", lambda _request: Response(ICON, media_type="image/png")),
        ]  # fmt: skip

    def home(self, request: "Request") -> Response:
        """Lead to the search."""
        return RedirectResponse(to("search"), status_code=303)

    def search(self, request: "Request") -> Response:
        """Answer a question with its pack, the evidence beside it."""
        query = (_query(request, "q") or "").strip()
        words = Words(language_of(query)) if query else _words(request)
        if not query:
            content = main(words("search"), search_box(words))
            return HTMLResponse(page(words("search"), words, content, here="search"))
        request_of(query, _filters(request))  # what can't be asked is told before a page begins
        reasons = tag("a", {"href": to("why", q=query)}, words("why_all"))
        box = tag("header", None, search_box(words, query), reasons)
        begun = begin(query, words, here="search") + box
        return _in_parts(begun, words, lambda: self._answer(request, query, words))

    def _answer(self, request: "Request", query: str, words: Words) -> Markup:
        with self._warm.reading() as opened:
            pack, _markdown = opened.recall(_asked(request, query, opened))
            exhibits = exhibits_of(opened.ledger, pack["citations"])
        # What a command would be told to add is no help on a page.
        notes = [words("by_words") if one == LEXICAL_ONLY else one for one in pack["warnings"]]
        return pack_body({**pack, "warnings": notes}, exhibits, Linked(), words)

    def why(self, request: "Request") -> Response:
        """Tell what every signal found of a question."""
        query = (_query(request, "q") or "").strip()
        with self._warm.reading() as opened:
            found = opened.explain(_asked(request, query, opened), _EXPLAINED)
        return HTMLResponse(why(found, Words(language_of(query))))

    def status(self, request: "Request") -> Response:
        """Tell what the store holds and how it is."""
        words = _words(request)
        begun = begin(words("status"), words, here="status")
        return _in_parts(begun, words, lambda: status_of(self._warm.workspace, words))

    async def decide(self, request: "Request") -> Response:
        """Approve or reject one candidate, as a form of ours asks; then show what is left."""
        form = parse_qs((await _body(request)).decode("utf-8", "replace"))
        given = form.get("form", [""])[0]
        verb = request.path_params["verb"]
        if verb not in {"approve", "reject"}:
            raise HTTPException(404)
        if not self._keys.allows(given):
            raise HTTPException(403)
        await run_in_threadpool(self._decide, _id(request), verb)
        return RedirectResponse(to("candidates"), status_code=303)

    def _decide(self, identity: str, verb: str) -> None:
        with self._warm.workspace.writing() as ledger:
            (row,) = by_id(ledger, [identity])
            with ledger.unit():
                if verb == "reject":
                    reject(ledger, row, "rejected by the user")
                    return
                decided = approve(ledger, row)
        if decided.refused:
            raise MunimentError(decided.refused[0]["reason"], code="refused")

    def _page(self, write: "Callable[[Ledger, Words, Request], str]") -> "Handler":
        def answer(request: "Request") -> Response:
            with self._warm.reading(semantic=False) as opened, opened.ledger.snapshot():
                return HTMLResponse(write(opened.ledger, _words(request), request))

        return answer


def build(warm: "Warm", token: str, port: int) -> Guard:
    """Return the guarded application; ``port`` is part of the names that it answers to."""
    keys = Keys(token, port)
    web = Web(warm, keys)
    app = Starlette(
        routes=web.routes(),
        exception_handlers={MunimentError: _told, HTTPException: _refused},
    )
    return Guard(app, keys, [f"{host}:{port}" for host in HOSTS])


def _in_parts(begun: str, words: Words, write: "Callable[[], Markup]") -> Response:
    """Answer with the frame of a page, to be seen at once, then with what is yet to be found."""

    def parts() -> Iterator[str]:
        yield begun
        try:
            rest = write()
        except MunimentError as error:
            rest = _trouble(error, words)
        yield rest + END

    return StreamingResponse(parts(), media_type="text/html")


def _told(request: "Request", error: Exception) -> Response:
    """Show one of our errors as a page: what is wrong, and what to do next."""
    assert isinstance(error, MunimentError)
    words = _words(request)
    content = _trouble(error, words)
    status = _STATUS.get(error.exit_code, _UNREADABLE)
    return HTMLResponse(page(words("error"), words, content), status_code=status)


def _trouble(error: MunimentError, words: Words) -> Markup:
    hint = tag("p", {"class": "soft"}, error.hint) if error.hint else None
    return main(words("error"), tag("p", None, error.message), hint)


def _refused(request: "Request", error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = _words(request)
    content = main(words("error"), tag("p", None, str(error.detail)))
    return HTMLResponse(page(words("error"), words, content), status_code=error.status_code)


async def _body(request: "Request") -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_FORM_BYTES:
            raise HTTPException(413)
    return body


def _words(request: "Request") -> Words:
    return Words(request.headers.get("accept-language", "").lower())


def _asked(request: "Request", query: str, opened: "Reading") -> "Asked":
    """Read a question with the filters of its address."""
    return opened.request(query, {**_filters(request), "semantic": opened.embedder is not None})


def _filters(request: "Request") -> dict[str, Any]:
    asked: dict[str, Any] = {name: _query(request, name) for name in _FILTERS}
    for name in ("kind", "media"):
        asked[name] = request.query_params.getlist(name)
    return asked


def _id(request: "Request") -> str:
    identity: Any = request.path_params["id"]
    return str(identity)


def _asset(request: "Request") -> str:
    return f"sha256:{_id(request)}"


def _query(request: "Request", name: str) -> str | None:
    return request.query_params.get(name) or None


def _number(request: "Request", name: str) -> int | None:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 18 else None  # noqa: PLR2004 (63 bits)
