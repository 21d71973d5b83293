"""The tools that a host lets the model of a bridge call, in named toolboxes.

    toolboxes = {"cinatra-mcp": Toolbox.of([save]), "crm": Toolbox.of([find_contact, crm_server])}
    tools = await open_tools(toolboxes, ("crm",))      {"find_contact": BridgeTool(…), …}

A member is a `BridgeTool`, a Python function, a tool of LangChain, or an MCP server (anything that
`mcp.Client` takes).  A request names toolboxes by id, and gets the tools of these alone.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.mcp.calls import RequestFailed, ServerLink, acall, alist, link_lent
from cinatra_sdk.outside.remote_answers.foreign_answer import plain_text
from cinatra_sdk.outside.routes import RouteCall, RouteError
from cinatra_sdk.threads import call_beside
from cinatra_sdk.tool_loop import describe_function, format_result, require_schema

WEB_SEARCH: Final = "web_search"
"""Built into Cinatra's own bridge; here a host lends a toolbox of this name."""
_ANY: Final[dict[str, Any]] = {"type": "object", "properties": {}}


class ToolFailed(Exception):
    """What a tool says went wrong, in words for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeTool:
    """One tool that a model may call."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: _ANY)
    """JSON Schema of the arguments."""
    run: Callable[[RouteCall, dict[str, JsonValue]], Any] = field(repr=False)
    """Called with the bridge's own call, whose idempotency key names this call of the tool, and the
    arguments.  May be async.  `ToolFailed` tells the model.
    """
    ends: ClassVar[str] = ""
    """As the loop asks for it: the model goes on after each call."""

    def describe(self) -> dict[str, Any]:
        """As models are told of it."""
        return describe_function(self.name, self.description, self.schema)

    def read_arguments(self, given: JsonValue) -> dict[str, JsonValue]:
        """The arguments, checked by the schema.  Raises: `ArgumentsUnusable`."""
        return require_schema(dict(self.schema), given)

    async def call(self, call: RouteCall, arguments: dict[str, JsonValue]) -> str:
        """What the model is told of a call with arguments that fit.

        Raises: `ToolFailed`; what the tool raises.
        """
        if inspect.iscoroutinefunction(self.run):
            value = await self.run(call, arguments)
        else:
            value = await call_beside(self.run, call, arguments)
            if inspect.isawaitable(value):
                value = await value
        return format_result(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """Tools and servers under one id."""

    tools: tuple[BridgeTool, ...] = ()
    servers: tuple[Any, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, members: Iterable[Any] | Any) -> Toolbox:
        """members: one, or several; see above."""
        listed = list(members) if isinstance(members, (list, tuple)) else [members]
        tools, servers = [], []
        for one in listed:
            if isinstance(one, BridgeTool):
                tools.append(one)
            elif hasattr(one, "invoke") or (callable(one) and hasattr(one, "__name__")):
                tools.append(_wrap_function(one))
            else:
                servers.append(one)
        return cls(tools=tuple(tools), servers=tuple(servers))

    def __add__(self, other: Toolbox) -> Toolbox:
        return Toolbox(tools=self.tools + other.tools, servers=self.servers + other.servers)


async def open_tools(toolboxes: Mapping[str, Toolbox], ids: Iterable[str]) -> dict[str, BridgeTool]:
    """The tools of the toolboxes, by name.

    Raises: `RouteError` 400 `UNKNOWN_TOOLBOX`; 500 where a server does not answer, or two tools
    have one name.
    """
    found: dict[str, BridgeTool] = {}
    for id_ in ids:
        box = toolboxes.get(id_)
        if box is None:
            raise _refuse_unknown(id_, toolboxes)
        tools = list(box.tools)
        for server in box.servers:
            tools += await _list_server(id_, server)
        for tool in tools:
            if tool.name in found:
                raise RouteError(
                    500, "TOOLBOX_AMBIGUOUS", f'two tools have the name "{tool.name[:80]}"'
                )
            found[tool.name] = tool
    return found


def _refuse_unknown(id_: str, toolboxes: Mapping[str, Toolbox]) -> RouteError:
    known = ", ".join(sorted(toolboxes)) or "none"
    nearest = did_you_mean(id_, toolboxes)
    why = "this host searches no web" if id_ == WEB_SEARCH else nearest or "leave it out"
    return RouteError(
        400,
        "UNKNOWN_TOOLBOX",
        f'this host has no toolbox "{id_[:80]}" (it has: {known}); {why}, or lend one: '
        "HostParts(toolboxes=…)",
    )


async def _list_server(id_: str, lent: Any) -> list[BridgeTool]:
    link = link_lent(id_, lent)
    problem = ""
    try:
        listed = await alist(link)
    except RequestFailed as error:
        problem = str(error)
    if problem:
        raise RouteError(500, "TOOLBOX_FAILED", f'the toolbox "{id_}" gives no tools: {problem}')
    return [_wrap_listed(link, one) for one in listed]


def _wrap_listed(link: ServerLink, listed: Mapping[str, Any]) -> BridgeTool:
    name = str(listed["name"])

    async def run(call: RouteCall, arguments: dict[str, JsonValue]) -> Any:
        problem = ""
        try:
            made = await acall(link, name, arguments, call.idempotency_key)
        except RequestFailed as error:
            problem = str(error)
        if problem:
            raise ToolFailed(problem)
        parts: Any = made.get("content") or []
        texts = [part["text"] for part in parts if part.get("type") == "text"]
        text = "\n".join(texts) or json.dumps(made.get("structuredContent"), ensure_ascii=False)
        if made.get("isError"):
            raise ToolFailed(plain_text(text))
        return text

    return BridgeTool(
        name=name,
        description=str(listed.get("description") or ""),
        schema=listed.get("inputSchema") or _ANY,
        run=run,
    )


def _wrap_function(function: Any) -> BridgeTool:
    """A Python function, or a tool of LangChain, with the schema that its signature gives."""
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    if isinstance(function, BaseTool):
        tool: BaseTool = function
    elif inspect.iscoroutinefunction(function):
        tool = StructuredTool.from_function(coroutine=function, description=_doc(function))
    else:
        tool = StructuredTool.from_function(function, description=_doc(function))
    about = convert_to_openai_tool(tool)["function"]

    async def run(_call: RouteCall, arguments: dict[str, JsonValue]) -> Any:
        return await tool.ainvoke(arguments)

    return BridgeTool(
        name=tool.name,
        description=about.get("description", ""),
        schema=about.get("parameters", _ANY),
        run=run,
    )


def _doc(function: Any) -> str:
    return (inspect.getdoc(function) or "").strip() or str(function.__name__)
