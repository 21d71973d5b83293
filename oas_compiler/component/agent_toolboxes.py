"""The toolboxes of an agent: one node that lists the tools of a server, one that calls them.

MCPToolBox "shop"    ->  McpListNode("shop.list"), McpToolNode("shop.call")
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler import ir
from oas_compiler.component.agent import LoadedAgent, LoadedToolbox
from oas_compiler.component.agent_tools import BuildTool, Made, build_tool_nodes, make_name
from oas_compiler.component.mcp import read_mcp_retry, read_server
from oas_compiler.component.site import Site
from oas_compiler.ir import AgentToolbox, Json, Port

TOOL = "tool"
ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToolbox:
    """The nodes of one toolbox."""

    lists: ir.McpListNode
    calls: ir.McpToolNode
    tools: tuple[Made, ...]
    """Tools that the file describes, with nodes of their own."""

    @property
    def offered(self) -> AgentToolbox:
        return AgentToolbox(lists=self.lists.id, calls=self.calls.id)


def build_toolboxes(
    site: Site, agent: LoadedAgent, build_tool: BuildTool, prefix: str = ""
) -> Iterator[MadeToolbox]:
    """prefix: of the ids of the nodes."""
    taken: set[str] = set()
    for box in agent.toolboxes:
        name = make_name(box.component.id or box.component.name)
        number = 1 + sum(one == name or one.startswith(f"{name}_") for one in taken)
        name = name if number == 1 else f"{name}_{number}"
        taken.add(name)
        yield _build_toolbox(site, box, build_tool, prefix, f"{prefix}{name}")


def _build_toolbox(
    site: Site, box: LoadedToolbox, build_tool: BuildTool, prefix: str, name: str
) -> MadeToolbox:
    component = box.component
    place = site.place(component.pointer)
    server, retry = read_server(component), read_mcp_retry(site, component)
    tools = tuple(build_tool_nodes(site, box.described, build_tool, prefix))
    return MadeToolbox(
        lists=ir.McpListNode(
            id=f"{name}.list",
            name=f"Tools of {component.name}",
            outputs=(Port(title="tools", place=place),),
            place=place,
            server=server,
            retry=retry,
            names=box.names,
            signatures=tuple(tool for tool, _ in tools),
        ),
        calls=ir.McpToolNode(
            id=f"{name}.call",
            name=component.name,
            inputs=(
                Port(title=TOOL, type=ir.STRING, schema=Json.of({"type": "string"}), place=place),
                Port(title=ARGUMENTS, place=place),
            ),
            outputs=(Port(title="result", place=place),),
            risk_class=box.facts.risk_class,
            place=place,
            tool_name="",
            server=server,
            retry=retry,
            behind=box.facts,
        ),
        tools=tools,
    )
