"""The tools of an agent, each with the node that runs it.

OfferedTool(name="search", node="search", inputs=(Port("query"),))
    ->  {"type": "function", "function": {"name": "search", "parameters": {…}}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.flow.nodes.mcp_tool_node import ARGUMENTS, RESULT, TOOL
from cinatra_sdk.flow.nodes.toolbox_node import TOOLS
from cinatra_sdk.flow.plan.channel_names import channel_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.tool_loop import (
    ArgumentsUnusable,
    describe_function,
    require_object,
    require_schema,
)

SUBMIT: Final = "submit_result"
"""The tool by which a model gives the outputs of its agent; no node runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool, and the node that runs it."""

    name: str
    description: str = ""
    node: str
    inputs: tuple[TypedPort, ...] = ()
    outputs: tuple[TypedPort, ...] = ()
    hands_over: bool = False
    """Whether the node asks the model of another agent, which then works in place of this one."""

    def describe(self) -> dict[str, Any]:
        """The tool in the form that every chat model of LangChain's takes."""
        return describe_function(self.name, self.description, describe_ports(self.inputs))

    @property
    def ends(self) -> str:
        return "the conversation was handed over before it" if self.hands_over else ""

    @property
    def titles(self) -> tuple[str, ...]:
        """Of what it gives."""
        return tuple(port.title for port in self.outputs)

    def read_arguments(self, given: JsonValue) -> dict[str, JsonValue]:
        """The arguments of a call, by the node's outputs that take them: `search.query`.

        Raises: `ArgumentsUnusable`.
        """
        found = read_values(self.inputs, given)
        return {f"{self.node}.{title}": value for title, value in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedToolbox:
    """Tools that are known when the agent runs: one node has listed them, one calls them."""

    lists: str
    calls: str

    def list_tools(self, state: Mapping[str, Any]) -> list[ListedTool]:
        """The tools as the node has listed them."""
        found: list[dict[str, Any]] = state[channel_of(self.lists)]["out"][TOOLS]
        return [ListedTool(node=self.calls, listed=one) for one in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool of a toolbox, and the node that calls it."""

    node: str
    listed: Mapping[str, Any]
    """`{"name": …, "tool": …, "description": …, "schema": {…}}`; `tool`: its name at the server."""
    ends: ClassVar[str] = ""
    titles: ClassVar[tuple[str, ...]] = (RESULT,)

    @property
    def name(self) -> str:
        return str(self.listed["name"])

    def describe(self) -> dict[str, Any]:
        return describe_function(self.name, self.listed["description"], self.listed["schema"])

    def read_arguments(self, given: JsonValue) -> dict[str, JsonValue]:
        """As of an `OfferedTool`, checked by the schema of the server.

        Raises: `ArgumentsUnusable`.
        """
        found = require_schema(self.listed["schema"], given)
        return {f"{self.node}.{TOOL}": str(self.listed["tool"]), f"{self.node}.{ARGUMENTS}": found}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTool:
    """Takes what the agent has to give; no node runs it, and the agent ends."""

    results: tuple[TypedPort, ...]
    ends: ClassVar[str] = "the result was given before it"

    def describe(self) -> dict[str, Any]:
        words = "Give the result, when you have it; nothing comes after it."
        return describe_function(SUBMIT, words, describe_ports(self.results))

    def read_arguments(self, given: JsonValue) -> dict[str, JsonValue]:
        """The outputs of the agent.  Raises: `ArgumentsUnusable`."""
        return read_values(self.results, given)


AgentTool: TypeAlias = OfferedTool | ListedTool | ResultTool


def describe_ports(ports: Sequence[TypedPort]) -> dict[str, Any]:
    """JSON Schema of an object with a value for each port."""
    return {
        "type": "object",
        "properties": {port.title: port.schema.mapping() for port in ports},
        "required": [port.title for port in ports if port.default is None],
        "additionalProperties": False,
    }


def read_values(ports: Iterable[TypedPort], given: JsonValue) -> dict[str, JsonValue]:
    """The values that a model gave, checked; a default stands for one that it left out.

    Raises: `ArgumentsUnusable`.
    """
    found = require_object(given)
    known = {port.title: port for port in ports}
    for title in found:
        if title not in known:
            raise ArgumentsUnusable(f"there is no '{title[:80]}'")
    values: dict[str, JsonValue] = {}
    for title, port in known.items():
        if title in found:
            problem = first_problem(port.schema.mapping(), found[title])
            if problem:
                raise ArgumentsUnusable(f"'{title}': {problem}")
            values[title] = found[title]
        elif port.default is None:
            raise ArgumentsUnusable(f"'{title}' is missing")
        else:
            values[title] = port.default.value()
    return values
