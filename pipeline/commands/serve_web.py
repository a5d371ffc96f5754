"""``muniment serve web``."""

import click

from muniment.pipeline.options import Session, command

PORT = 8378
LOCK_WAIT_SECONDS = 10.0
HOST = "127.0.0.1"


@command("web")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True,
    help="Port on loopback; 0 takes a free one.",
)  # fmt: skip
def web(session: Session, port: int) -> None:
    """Serve pages to look at the evidence of this scope, on loopback only.

    The address that is printed holds a token, new at every start; without it nothing is shown.
    Nothing but the review of candidates changes anything.
    """
    import secrets

    require_packages()
    if session.settings.origins["lock_wait"] == "default":
        session.add({"lock_wait": LOCK_WAIT_SECONDS})
    from muniment.pipeline.serving.door import open_beside
    from muniment.pipeline.serving.tools import Tools
    from muniment.pipeline.serving.web import running
    from muniment.pipeline.serving.web.app import build

    with session.workspace().reading():
        """Says what is wrong with the store before anything listens."""
    tools = Tools(session)
    tools.warm.load_in_background()
    token = secrets.token_urlsafe(24)
    with running.listening(HOST, port) as listener:
        own = listener.getsockname()[1]
        address = f"http://{HOST}:{own}/?token={token}"
        session.output.answer({"url": address, "port": own}, address)
        session.output.note("ctrl-c ends it")
        try:
            with open_beside(tools):
                running.serve(build(tools.warm, token, own), listener)
        finally:
            tools.warm.close()


def require_packages() -> str:
    """Return the version of the web framework.

    Raises ``MissingToolError`` where it or the server under it is absent.
    """
    from importlib.metadata import PackageNotFoundError, version

    from muniment.store.errors import MissingToolError

    try:
        version("uvicorn")
        return version("starlette")
    except PackageNotFoundError as error:
        raise MissingToolError(
            f"{error.name} is not installed", hint="pip install 'muniment[web]'"
        ) from None
