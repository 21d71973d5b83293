"""One component of the file in, one IR node out; a function per node type.

    {"component_type": "EndNode", "id": "end", "outputs": [{"title": "draft"}]}
        ->  EndNode(id="end", inputs=(draft,), outputs=(draft,), branches=())

site.py        what a builder is given
inference.py   ports and branches that follow from something else
ends.py        StartNode, EndNode
calls.py       ApiNode, ToolNode, FlowNode, and the stand-in for unsupported nodes
messages.py    InputMessageNode, OutputMessageNode
decisions.py   BranchingNode, PluginRegexNode, PluginTemplateNode
models.py      LlmNode, AgentNode
maps.py        MapNode, ParallelMapNode
containers.py  ParallelFlowNode, CatchExceptionNode

Nodes of the last three modules do not run yet: they become an `UnknownNode` with known ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oas_compiler import ir
from oas_compiler.build.nodes.calls import build_api, build_flow, build_tool, build_unknown
from oas_compiler.build.nodes.containers import build_catch, build_parallel
from oas_compiler.build.nodes.decisions import build_branching, build_regex, build_template
from oas_compiler.build.nodes.ends import build_end, build_start
from oas_compiler.build.nodes.maps import build_map
from oas_compiler.build.nodes.messages import build_input_message, build_output_message
from oas_compiler.build.nodes.models import build_agent, build_llm
from oas_compiler.build.nodes.site import Site

__all__ = ["Site", "build_node"]


def build_node(site: Site) -> ir.Node:
    """Build any node; one of a type that cannot run becomes an `UnknownNode`."""
    return _BUILDERS.get(site.component.type, build_unknown)(site)


_BUILDERS: Mapping[str, Callable[[Site], ir.Node]] = {
    "StartNode": build_start,
    "EndNode": build_end,
    "ApiNode": build_api,
    "ToolNode": build_tool,
    "FlowNode": build_flow,
    "InputMessageNode": build_input_message,
    "OutputMessageNode": build_output_message,
    "BranchingNode": build_branching,
    "PluginRegexNode": build_regex,
    "PluginTemplateNode": build_template,
    "LlmNode": build_llm,
    "AgentNode": build_agent,
    "MapNode": build_map,
    "ParallelMapNode": build_map,
    "ParallelFlowNode": build_parallel,
    "CatchExceptionNode": build_catch,
}
