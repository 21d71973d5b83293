"""ToolNode: a Python function of the host, one HTTP call, a tool of the caller or of an MCP server.

without ports    ->  the inputs and outputs of its tool
a ClientTool     ->  a ClientToolNode
an MCPTool       ->  an McpToolNode
a RemoteTool     ->  a RemoteToolNode; without inputs those that its templates use
"""

from __future__ import annotations

from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Component, Field, Site, common
from oas_compiler.component_facts.inference import next_only, specialised, template_inputs
from oas_compiler.component_facts.metadata import (
    EFFECT_KEYS,
    NODE_KEYS,
    cinatra_effect,
    refuse_effect,
)
from oas_compiler.component_facts.requests import (
    REQUEST_FIELDS,
    read_mcp_retry,
    read_request,
    read_server,
)
from oas_compiler.ir import Json, Port
from oas_compiler.kinds.kind import MAPPINGS, Extended, NodeKind, build_unknown

_RAISES: Final = "raise_exceptions"
_TEMPLATES = tuple(name for name, field in REQUEST_FIELDS.items() if field.template)


def tells_errors(node: ir.Node) -> bool:
    """Whether an error of the tool is the text of the node's one output (WayFlow's word)."""
    return node.unread.mapping().get(_RAISES) is False


def build_tool(site: Site) -> ir.Node:
    tool = site.behind
    _check_telling(site)
    if tool is None:
        return build_unknown(site)
    if tool.type == "RemoteTool":
        return _build_remote_tool(site, tool)
    inputs = site.declared("inputs", tool) or ()
    outputs = site.declared("outputs", tool) or ()
    if tool.type == "ClientTool":
        refuse_effect(site)
        return ir.ClientToolNode(
            **common(site),
            inputs=specialised(site, "inputs", inputs, "tool"),
            outputs=specialised(site, "outputs", outputs, "tool"),
            branches=next_only(site),
            tool_name=tool.text("name"),
            behind=site.facts_behind,
        )
    if tool.type == "MCPTool":
        return ir.McpToolNode(
            **common(site),
            inputs=specialised(site, "inputs", inputs, "tool"),
            outputs=specialised(site, "outputs", outputs, "tool"),
            branches=next_only(site),
            tool_name=tool.text("name"),
            server=read_server(tool),
            retry=read_mcp_retry(site, tool),
            effect=cinatra_effect(site),
            behind=site.facts_behind,
        )
    return ir.ToolNode(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "tool"),
        outputs=specialised(site, "outputs", outputs, "tool"),
        branches=next_only(site),
        tool_name=tool.text("tool_type" if tool.type == "BuiltinTool" else "name"),
        configuration=Json.of(tool.mapping("configuration")),
        effect=cinatra_effect(site),
        behind=site.facts_behind,
    )


def _check_telling(site: Site) -> None:
    """Only a text can tell an error, and only where it is the one output."""
    if site.component.flag(_RAISES, default=True) or site.behind is None:
        return
    outputs = site.declared("outputs", site.behind) or ()
    if len(outputs) != 1 or outputs[0].type != ir.STRING:
        site.error(
            "OAS022",
            f"{site.label} puts out the text of an error, and its tool has no single text to put out",
            _RAISES,
            hint="let the tool raise, and catch the error by a CatchExceptionNode",
        )


def _build_remote_tool(site: Site, tool: Component) -> ir.Node:
    place = site.place(tool.pointer)
    also = ("api_spec_uri", "json_spec_filter")
    inputs = template_inputs(site, *_TEMPLATES, also=also, of=tool)
    outputs = site.declared("outputs", tool)
    if outputs is None:
        outputs = (Port(title="response", place=place),)
    return ir.RemoteToolNode(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "tool"),
        outputs=specialised(site, "outputs", outputs, "tool"),
        branches=next_only(site),
        **read_request(site, tool),
        tool_name=tool.text("name"),
        effect=cinatra_effect(site),
        behind=site.facts_behind,
        request_place=place,
    )


def _describe(node: ir.Node) -> str:
    if isinstance(node, ir.McpListNode):
        return "lists tools"
    name = getattr(node, "tool_name", "")
    return f"tool {name}" if name else "tool of a toolbox"


TOOL = NodeKind(
    component_type="ToolNode",
    node=ir.ToolNode,
    variants=(ir.RemoteToolNode, ir.ClientToolNode, ir.McpToolNode, ir.McpListNode),
    build=build_tool,
    words="Calls a Python function of the host, an address or an MCP server, or asks the caller.",
    fields={
        **NODE_FIELDS,
        "tool": Field("component", "The tool that is called.", required=True),
        _RAISES: Field(
            "flag", "Of WayFlow: whether an error fails the node; else it is told.", is_read=False
        ),
    },
    extended=Extended("ExtendedToolNode", MAPPINGS),
    behind="tool",
    is_call=True,
    shape="call",
    caption=_describe,
    metadata={**NODE_KEYS, **EFFECT_KEYS},
    lowering="oas_compiler.lower.service_nodes:lower_tool",
)
