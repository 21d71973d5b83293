"""What the nodes of a compiled flow do when they run; knows nothing of files.

plan/      a flow as plain data: nodes, ports, edges, casts, and the frame of each node
graph/     the plan as a LangGraph graph for hosts; a plan that is written in Python
visit/     one visit of a node: turn, events, conversation, and the gates in front of a call
branches/  several flows beside each other inside one node
requests/  the question to a model, and the request to the platform, that a node makes
nodes/     one module per kind of node
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.agents.model_step import AgentStep
    from cinatra_sdk.agents.summaries import AgentSummary
    from cinatra_sdk.agents.tool_calls import AgentCalls
    from cinatra_sdk.agents.tool_offers import OfferedTool, OfferedToolbox
    from cinatra_sdk.data.author_json import Json, SealedJson
    from cinatra_sdk.data.ports import (
        ANY,
        BOOLEAN,
        INTEGER,
        NULL,
        NUMBER,
        STRING,
        ArrayType,
        ObjectType,
        UnionType,
        port,
    )
    from cinatra_sdk.data.retry_policy import CallRetryPolicy
    from cinatra_sdk.data.templates.flow_templates import Renderer, TemplateError
    from cinatra_sdk.flow.graph.flow_graph import FlowGraph
    from cinatra_sdk.flow.nodes.a2a_node import RemoteAgentTalk
    from cinatra_sdk.flow.nodes.api_node import ApiCall, RemoteToolCall
    from cinatra_sdk.flow.nodes.failure_nodes import Catch, CatchNamed
    from cinatra_sdk.flow.nodes.gate_node import HumanGate, Message, MessageWithOutput
    from cinatra_sdk.flow.nodes.llm_node import LlmMessages, LlmQuestion, ModelChoice
    from cinatra_sdk.flow.nodes.map_node import (
        Map,
        ParallelFlows,
        ParallelMap,
        UnpackedMap,
        UnpackedParallelMap,
    )
    from cinatra_sdk.flow.nodes.mcp_tool_node import McpToolCall
    from cinatra_sdk.flow.nodes.start_and_end import End, Start
    from cinatra_sdk.flow.nodes.subflow_node import Agent, ApprovedAgent, Repeat, Subflow
    from cinatra_sdk.flow.nodes.tool_node import ClientTool, ToolCall
    from cinatra_sdk.flow.nodes.toolbox_node import McpToolList, Signature
    from cinatra_sdk.flow.nodes.value_nodes import (
        Branching,
        ChatHistory,
        Constants,
        JsonExtraction,
        Regex,
        TextTemplate,
        Variables,
    )
    from cinatra_sdk.flow.plan.frame import NodeBody
    from cinatra_sdk.flow.visit.governance_gate import WayBack
    from cinatra_sdk.flow.visit.talk import read_conversation
    from cinatra_sdk.outside.a2a.remote_agent import RemoteAgentWay
    from cinatra_sdk.outside.mcp.server import McpWay
    from cinatra_sdk.store.flows.python_flow import written_flow

_LATER: Final = {
    "FlowGraph": "flow.graph.flow_graph",
    "written_flow": "store.flows.python_flow",
    "ANY": "data.ports",
    "STRING": "data.ports",
    "INTEGER": "data.ports",
    "NUMBER": "data.ports",
    "BOOLEAN": "data.ports",
    "NULL": "data.ports",
    "ArrayType": "data.ports",
    "ObjectType": "data.ports",
    "UnionType": "data.ports",
    "port": "data.ports",
    "Json": "data.author_json",
    "SealedJson": "data.author_json",
    "CallRetryPolicy": "data.retry_policy",
    "Start": "flow.nodes.start_and_end",
    "End": "flow.nodes.start_and_end",
    "HumanGate": "flow.nodes.gate_node",
    "Message": "flow.nodes.gate_node",
    "MessageWithOutput": "flow.nodes.gate_node",
    "ApiCall": "flow.nodes.api_node",
    "RemoteToolCall": "flow.nodes.api_node",
    "WayBack": "flow.visit.governance_gate",
    "ClientTool": "flow.nodes.tool_node",
    "ToolCall": "flow.nodes.tool_node",
    "McpToolCall": "flow.nodes.mcp_tool_node",
    "McpToolList": "flow.nodes.toolbox_node",
    "Signature": "flow.nodes.toolbox_node",
    "McpWay": "outside.mcp.server",
    "RemoteAgentTalk": "flow.nodes.a2a_node",
    "RemoteAgentWay": "outside.a2a.remote_agent",
    "LlmMessages": "flow.nodes.llm_node",
    "LlmQuestion": "flow.nodes.llm_node",
    "ModelChoice": "flow.nodes.llm_node",
    "Agent": "flow.nodes.subflow_node",
    "ApprovedAgent": "flow.nodes.subflow_node",
    "Repeat": "flow.nodes.subflow_node",
    "Subflow": "flow.nodes.subflow_node",
    "Map": "flow.nodes.map_node",
    "ParallelFlows": "flow.nodes.map_node",
    "ParallelMap": "flow.nodes.map_node",
    "UnpackedMap": "flow.nodes.map_node",
    "UnpackedParallelMap": "flow.nodes.map_node",
    "Catch": "flow.nodes.failure_nodes",
    "CatchNamed": "flow.nodes.failure_nodes",
    "Branching": "flow.nodes.value_nodes",
    "ChatHistory": "flow.nodes.value_nodes",
    "Constants": "flow.nodes.value_nodes",
    "JsonExtraction": "flow.nodes.value_nodes",
    "Regex": "flow.nodes.value_nodes",
    "TextTemplate": "flow.nodes.value_nodes",
    "Variables": "flow.nodes.value_nodes",
    "AgentStep": "agents.model_step",
    "AgentCalls": "agents.tool_calls",
    "AgentSummary": "agents.summaries",
    "OfferedTool": "agents.tool_offers",
    "OfferedToolbox": "agents.tool_offers",
    "NodeBody": "flow.plan.frame",
    "Renderer": "data.templates.flow_templates",
    "TemplateError": "data.templates.flow_templates",
    "read_conversation": "flow.visit.talk",
}

__all__ = [
    "FlowGraph",
    "written_flow",
    "ANY",
    "STRING",
    "INTEGER",
    "NUMBER",
    "BOOLEAN",
    "NULL",
    "ArrayType",
    "ObjectType",
    "UnionType",
    "port",
    "Json",
    "SealedJson",
    "CallRetryPolicy",
    "Start",
    "End",
    "HumanGate",
    "Message",
    "MessageWithOutput",
    "ApiCall",
    "RemoteToolCall",
    "WayBack",
    "ClientTool",
    "ToolCall",
    "McpToolCall",
    "McpToolList",
    "Signature",
    "McpWay",
    "RemoteAgentTalk",
    "RemoteAgentWay",
    "LlmMessages",
    "LlmQuestion",
    "ModelChoice",
    "Agent",
    "ApprovedAgent",
    "Repeat",
    "Subflow",
    "Map",
    "ParallelFlows",
    "ParallelMap",
    "UnpackedMap",
    "UnpackedParallelMap",
    "Catch",
    "CatchNamed",
    "Branching",
    "ChatHistory",
    "Constants",
    "JsonExtraction",
    "Regex",
    "TextTemplate",
    "Variables",
    "AgentStep",
    "AgentCalls",
    "AgentSummary",
    "OfferedTool",
    "OfferedToolbox",
    "NodeBody",
    "Renderer",
    "TemplateError",
    "read_conversation",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
