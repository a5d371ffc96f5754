"""Tools that say what they take and return: what is no argument is refused by its name."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

Function = TypeVar("Function", bound=Callable[..., Any])


class Toolbox:
    """Collects the tools of a server."""

    def __init__(self) -> None:
        self.tools: list[Tool] = []

    def add(
        self, title: str, annotations: ToolAnnotations, returns: dict[str, Any]
    ) -> Callable[[Function], Function]:
        """Make a tool of a function whose answers ``lay_in`` gives, of the schema ``returns``."""

        def wrap(function: Function) -> Function:
            tool = _StrictTool.from_function(
                function, title=title, annotations=annotations, structured_output=False
            )
            arguments = tool.fn_metadata.arg_model
            arguments.model_config["extra"] = "forbid"
            arguments.model_rebuild(force=True)
            tool.parameters = arguments.model_json_schema(by_alias=True)
            # The schema is served; the SDK has nothing to hold against it: the answer comes later.
            tool.fn_metadata.output_schema = returns
            self.tools.append(tool)
            return function

        return wrap


class _StrictTool(Tool):
    """A tool that says in one line what is wrong with its arguments."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Run the tool; raise ``ToolError`` where it can't take the arguments."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            wrong = error.__cause__
            if not isinstance(wrong, ValidationError):
                raise
            raise ToolError(f"Error executing tool {self.name}: {self._told(wrong)}") from wrong

    def _told(self, wrong: ValidationError) -> str:
        """Say which arguments are at fault, never what stood in them."""
        known = list(self.fn_metadata.arg_model.model_fields)
        unknown, others = [], []
        for one in wrong.errors(include_url=False, include_input=False, include_context=False):
            where = ".".join(str(part) for part in one["loc"])
            if one["type"] == "extra_forbidden" and len(one["loc"]) == 1:
                close = get_close_matches(where, known, n=1)
                unknown.append(f"{where!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
            else:
                others.append(f"{where}: {one['msg']}")
        if unknown:
            others.append(f"no such argument: {', '.join(unknown)} - it takes {', '.join(known)}")
        return "; ".join(others) + " (bad_arguments)"
