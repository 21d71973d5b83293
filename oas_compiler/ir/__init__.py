"""The intermediate representation: one frozen description of a checked flow.

In: nothing but the SDK's types of values.  Out: `FlowIR`, which `build/` makes from the
wire model, `checks/` examines and `lower/` turns into a LangGraph graph.

Before (wire form)                          After (IR)
    {"component_type": "StartNode",             StartNode(id="start", name="Inputs",
     "id": "start", "name": "Inputs",                     inputs=(Port(title="topic", …),),
     "inputs": [{"title": "topic", …}]}                   required=("topic",), hidden=())

Every value is immutable and comparable.

values.py      places in the file
types.py       ports;  type_names.py  types as people write them
nodes.py       one class per component type;  agents.py  those of agents and of MCP tools
flow.py        nodes and edges of one flow, and the walk over a flow and those inside
printing.py    the text of `oasflow ir`;  exporting.py  its JSON
"""

from cinatra_sdk.values.json_text import (
    NOTHING,
    NOTHING_SEALED,
    SEALED,
    Json,
    JsonValue,
    SealedJson,
)
from cinatra_sdk.values.retry_policy import CallRetryPolicy
from cinatra_sdk.values.types import (
    ANY,
    STRING,
    ArrayType,
    ObjectType,
    Scalar,
    ScalarType,
    Type,
    UnionType,
)
from oas_compiler.ir.agents import (
    AgentCallsNode,
    AgentModelNode,
    AgentNode,
    AgentShortenNode,
    AgentTool,
    AgentToolbox,
    McpListNode,
    McpToolNode,
    McpTransport,
    RemoteAgentNode,
)
from oas_compiler.ir.flow import (
    DataEdge,
    FlowIR,
    Gap,
    Path,
    Route,
    find_tool_names,
    open_flows,
    walk,
)
from oas_compiler.ir.nodes import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    NO_BEHIND,
    ApiNode,
    Behind,
    BranchingNode,
    CatchExceptionNode,
    ClientToolNode,
    EndNode,
    ExtendedLlmNode,
    ExtendedMapNode,
    ExtendedParallelMapNode,
    FlowNode,
    GateStep,
    InputMessageNode,
    LlmNode,
    MapNode,
    Node,
    OutputMessageNode,
    ParallelFlowNode,
    ParallelMapNode,
    PluginCatchExceptionNode,
    PluginOutputMessageNode,
    PluginRegexNode,
    PluginRetryNode,
    PluginTemplateNode,
    RemoteToolNode,
    StartNode,
    ToolNode,
    UnknownNode,
)
from oas_compiler.ir.types import Port
from oas_compiler.ir.values import Place

__all__ = [
    "ANY",
    "AT_LEAST_ONCE",
    "AT_MOST_ONCE",
    "AgentCallsNode",
    "AgentModelNode",
    "AgentNode",
    "AgentShortenNode",
    "AgentTool",
    "AgentToolbox",
    "ApiNode",
    "ArrayType",
    "Behind",
    "BranchingNode",
    "CatchExceptionNode",
    "ClientToolNode",
    "DataEdge",
    "EndNode",
    "ExtendedLlmNode",
    "ExtendedMapNode",
    "ExtendedParallelMapNode",
    "FlowIR",
    "FlowNode",
    "Gap",
    "GateStep",
    "InputMessageNode",
    "Json",
    "JsonValue",
    "LlmNode",
    "MapNode",
    "McpListNode",
    "McpTransport",
    "McpToolNode",
    "NOTHING",
    "NOTHING_SEALED",
    "NO_BEHIND",
    "Node",
    "ObjectType",
    "OutputMessageNode",
    "ParallelFlowNode",
    "ParallelMapNode",
    "Path",
    "Place",
    "Port",
    "PluginCatchExceptionNode",
    "PluginOutputMessageNode",
    "PluginRegexNode",
    "PluginRetryNode",
    "CallRetryPolicy",
    "RemoteAgentNode",
    "RemoteToolNode",
    "Route",
    "SEALED",
    "STRING",
    "Scalar",
    "ScalarType",
    "SealedJson",
    "StartNode",
    "PluginTemplateNode",
    "ToolNode",
    "Type",
    "UnionType",
    "UnknownNode",
    "find_tool_names",
    "open_flows",
    "walk",
]
