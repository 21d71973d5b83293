"""A tool as a model is told of it.

OfferedTool(name="search", node="search", inputs=(Port("query"),))
    ->  {"type": "function", "function": {"name": "search", "parameters": {…}}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.schema.problems import find_arguments_problem, first_problem
from cinatra_sdk.flow.nodes.mcp_tool_node import ARGUMENTS, TOOL
from cinatra_sdk.flow.nodes.toolbox_node import TOOLS
from cinatra_sdk.flow.plan.channel_names import channel_of

SUBMIT: Final = "submit_result"
"""The tool by which a model gives the outputs of its agent; no node runs it."""


class ArgumentsUnusable(ValueError):
    """Arguments that a model gave and that the tool does not take; says why, for the model."""


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
        return describe_function(self.name, self.description, self.inputs)

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

    def read(self, state: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The tools: `{"name": …, "tool": …, "description": …, "schema": {…}}`."""
        found: list[dict[str, Any]] = state[channel_of(self.lists)]["out"][TOOLS]
        return found

    def read_arguments(self, tool: Mapping[str, Any], given: JsonValue) -> dict[str, JsonValue]:
        """As of an `OfferedTool`.  tool: one of `read`, by whose schema the arguments are checked.

        Raises: `ArgumentsUnusable`.
        """
        problem = find_arguments_problem(tool["schema"], given)
        if problem:
            raise ArgumentsUnusable(problem)
        return {f"{self.calls}.{TOOL}": str(tool["tool"]), f"{self.calls}.{ARGUMENTS}": given}


def describe_function(name: str, description: str, ports: Sequence[TypedPort]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description or name,
            "parameters": {
                "type": "object",
                "properties": {port.title: port.schema.mapping() for port in ports},
                "required": [port.title for port in ports if port.default is None],
                "additionalProperties": False,
            },
        },
    }


def read_values(ports: Iterable[TypedPort], given: JsonValue) -> dict[str, JsonValue]:
    """The values that a model gave, checked; a default stands for one that it left out.

    Raises: `ArgumentsUnusable`.
    """
    if not isinstance(given, dict):
        raise ArgumentsUnusable("the arguments are no JSON object")
    known = {port.title: port for port in ports}
    for title in given:
        if title not in known:
            raise ArgumentsUnusable(f"there is no '{title[:80]}'")
    values: dict[str, JsonValue] = {}
    for title, port in known.items():
        if title in given:
            problem = first_problem(port.schema.mapping(), given[title])
            if problem:
                raise ArgumentsUnusable(f"'{title}': {problem}")
            values[title] = given[title]
        elif port.default is None:
            raise ArgumentsUnusable(f"'{title}' is missing")
        else:
            values[title] = port.default.value()
    return values
