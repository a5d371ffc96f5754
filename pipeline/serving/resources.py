"""The resources of the MCP server: packs and evidence by URI."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from muniment.pipeline.output import to_json
from muniment.pipeline.refs import KINDS
from muniment.pipeline.serving.tools import PAGE_CHARACTERS, Tools
from muniment.store.errors import MunimentError, NotFoundError


def add_resources(server: MCPServer[Any], tools: Tools) -> None:
    """Add the resources of one scope to its server."""

    @server.resource(
        "muniment://pack/{identity}", name="pack", mime_type="text/markdown",
        description="A pack that memory_recall gave lately (its _meta says the URI).",
    )  # fmt: skip
    def pack(identity: str) -> str:
        with _found():
            return tools.pack(identity)

    @server.resource(
        "muniment://evidence/{kind}/{identity}", name="evidence", mime_type="application/json",
        description=f"An object with its provenance; the kinds are {', '.join(KINDS)}.",
    )  # fmt: skip
    def evidence(kind: str, identity: str) -> str:
        if kind not in KINDS:
            raise ResourceNotFoundError(
                f"no evidence is of the kind {kind!r}; the kinds are {', '.join(KINDS)}"
            )
        with _found():
            return to_json(tools.read(f"{kind}:{identity}", 0, PAGE_CHARACTERS))


@contextmanager
def _found() -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        raise ResourceNotFoundError(error.message) from None
    except MunimentError as error:
        raise ResourceError(f"{error.message} ({error.code})") from None
