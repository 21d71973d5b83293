"""Lowers nodes that compute, gates, maps, subflows, and requests through the platform.

The module of a node's function is imported where it is made: a flow loads those that it uses, and one
without templates, calls and schemas loads no Jinja and no JSON Schema library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cinatra_sdk.flow.nodes.start_and_end import End, Start
from oas_compiler import ir
from oas_compiler.control.gates import asks_question, is_read, is_selector, shown_at
from oas_compiler.ir import (
    ANY,
    ApiNode,
    ArrayType,
    FlowIR,
    InputMessageNode,
    Json,
    MapNode,
    ParallelMapNode,
    Port,
    RemoteToolNode,
    Type,
    UnionType,
)
from oas_compiler.kinds.plugin_chat_history import PluginGetChatHistoryNode
from oas_compiler.kinds.plugin_constant_values import PluginConstantValuesNode
from oas_compiler.kinds.plugin_extract import PluginExtractNode
from oas_compiler.kinds.plugin_variable import PluginVariableNode
from oas_compiler.lower.node_functions import PlanSite, leading_back_to, way_back
from oas_compiler.port_types import castable

if TYPE_CHECKING:
    from cinatra_sdk.flow.nodes.api_node import ApiCall, RemoteToolCall
    from cinatra_sdk.flow.nodes.failure_nodes import Catch, CatchNamed
    from cinatra_sdk.flow.nodes.gate_node import HumanGate, Message
    from cinatra_sdk.flow.nodes.map_node import Map, ParallelFlows, UnpackedMap
    from cinatra_sdk.flow.nodes.subflow_node import Repeat, Subflow
    from cinatra_sdk.flow.nodes.value_nodes import (
        Branching,
        ChatHistory,
        Constants,
        JsonExtraction,
        Regex,
        TextTemplate,
        Variables,
    )


def lower_start(site: PlanSite) -> Start:
    node = site.node
    assert isinstance(node, ir.StartNode)
    sources = node.cinatra.mapping().get("inputDataSources")
    return Start(
        required=node.required,
        hidden=node.hidden,
        renderers=dict(node.renderers),
        data_sources=Json.of(sources if isinstance(sources, dict) else {}),
    )


def lower_end(site: PlanSite) -> End:
    node = site.node
    assert isinstance(node, ir.EndNode)
    return End(branch=node.branch_name)


def lower_branching(site: PlanSite) -> Branching:
    from cinatra_sdk.flow.nodes.value_nodes import Branching

    node = site.node
    assert isinstance(node, ir.BranchingNode)
    return Branching(mapping=dict(node.mapping))


def lower_message(site: PlanSite) -> Message:
    from cinatra_sdk.flow.nodes.gate_node import Message, MessageWithOutput

    node = site.node
    assert isinstance(node, ir.OutputMessageNode)
    with_output = isinstance(node, ir.PluginOutputMessageNode)
    return (MessageWithOutput if with_output else Message)(message=node.message)


def lower_regex(site: PlanSite) -> Regex:
    from cinatra_sdk.flow.nodes.value_nodes import Regex

    node = site.node
    assert isinstance(node, ir.PluginRegexNode)
    return Regex(pattern=node.pattern, first_only=node.first_only, takes_last=node.takes_last)


def lower_extract(site: PlanSite) -> JsonExtraction:
    from cinatra_sdk.flow.nodes.value_nodes import JsonExtraction

    node = site.node
    assert isinstance(node, PluginExtractNode)
    return JsonExtraction(ways=dict(node.ways))


def lower_history(site: PlanSite) -> ChatHistory:
    from cinatra_sdk.flow.nodes.value_nodes import ChatHistory

    node = site.node
    assert isinstance(node, PluginGetChatHistoryNode)
    return ChatHistory(
        most=node.most,
        skip=node.skip,
        from_end=node.from_end,
        types=node.types,
        template=node.template,
    )


def lower_variable(site: PlanSite) -> Variables:
    from cinatra_sdk.flow.nodes.value_nodes import Variables

    node = site.node
    assert isinstance(node, PluginVariableNode)
    return Variables(writes=dict(node.writes), reads=node.reads)


def lower_template(site: PlanSite) -> TextTemplate:
    from cinatra_sdk.flow.nodes.value_nodes import TextTemplate

    node = site.node
    assert isinstance(node, ir.PluginTemplateNode)
    return TextTemplate(template=node.template)


def lower_constant_values(site: PlanSite) -> Constants:
    from cinatra_sdk.flow.nodes.value_nodes import Constants

    node = site.node
    assert isinstance(node, PluginConstantValuesNode)
    return Constants(
        values=Json.of({title: value.value() for title, value in node.constant_values})
    )


def lower_flow_node(site: PlanSite) -> Subflow:
    from cinatra_sdk.flow.nodes.subflow_node import Subflow

    return Subflow(flow=site.inside[0])


def lower_parallel_flow(site: PlanSite) -> ParallelFlows:
    from cinatra_sdk.flow.nodes.map_node import ParallelFlows

    return ParallelFlows(flows=site.inside)


def lower_catch_exception(site: PlanSite) -> Catch:
    from cinatra_sdk.flow.nodes.failure_nodes import Catch

    node = site.node
    assert isinstance(node, ir.CatchExceptionNode)
    return Catch(flow=site.inside[0], tells_message=node.tells_message)


def lower_plugin_catch(site: PlanSite) -> CatchNamed:
    from cinatra_sdk.flow.nodes.failure_nodes import CatchNamed

    node = site.node
    assert isinstance(node, ir.PluginCatchExceptionNode)
    return CatchNamed(
        flow=site.inside[0], branches=dict(node.except_on), catches_all=node.catches_all
    )


def lower_retry(site: PlanSite) -> Repeat:
    from cinatra_sdk.flow.nodes.subflow_node import Repeat

    node = site.node
    assert isinstance(node, ir.PluginRetryNode)
    return Repeat(flow=site.inside[0], success=node.success, trials=node.trials)


# ----------------------------------------------------------------------------
# InputMessageNode: a gate.
#
# The compiler adds the policy step, the values to show, the limit of visits, and the next node after
# an approval.


def lower_gate(site: PlanSite) -> HumanGate:
    from cinatra_sdk.flow.nodes.gate_node import HumanGate

    node = site.node
    assert isinstance(node, InputMessageNode)
    spec = site.approval.gate(site.path)
    return HumanGate(
        step=spec.step,
        name=spec.name,
        renderer=spec.renderer,
        risk_class=spec.risk_class,
        description=spec.description or _read_description(node),
        message=node.message,
        schema=node.answer_schema,
        document=_find_document_schema(node),
        is_question=asks_question(site.flow, node, spec),
        is_unread=not (is_read(site.flow, node) or site.is_heard or is_selector(spec.renderer)),
        shows=tuple(shown_at(site.flow, node.id)),
        again=leading_back_to(site.flow, node.id),
        max_visits=node.max_visits,
    )


def _read_description(node: InputMessageNode) -> str:
    """The `description` of the node's `metadata.cinatra`; empty where it has none."""
    value = node.cinatra.mapping().get("description")
    return value if isinstance(value, str) else ""


def _find_document_schema(node: InputMessageNode) -> Json | None:
    """The schema of the document that a text output carries, where the author gave one."""
    schema = node.answer_schema.mapping() if node.answer_schema is not None else {}
    inner = node.cinatra.mapping().get("formSchema")
    if schema.get("x-envelope") == "json-string":
        shape = schema.get("x-envelope-shape")
        inner = {"type": "object", "properties": shape} if isinstance(shape, dict) else inner
    return Json.of(inner) if isinstance(inner, dict) else None


# ----------------------------------------------------------------------------
# MapNode and ParallelMapNode, also as WayFlow extends them.


def lower_map(site: PlanSite) -> Map:
    from cinatra_sdk.flow.nodes.map_node import ITERATED, Map, ParallelMap

    node = site.node
    assert isinstance(node, MapNode)
    inner = {port.title: port for port in node.subflow.inputs}
    iterates: dict[str, bool] = {}
    for port in node.inputs:
        verdict = _decide_by_source(site.flow, node, port, inner[port.title.removeprefix(ITERATED)])
        if verdict is not None:
            iterates[port.title] = verdict
    return (ParallelMap if isinstance(node, ParallelMapNode) else Map)(
        flow=site.inside[0],
        iterates=iterates,
        reducers=dict(node.reducers),
        takes_failures=bool(node.on_item_error),
    )


def lower_extended_map(site: PlanSite) -> UnpackedMap:
    from cinatra_sdk.flow.nodes.map_node import UnpackedMap, UnpackedParallelMap

    node = site.node
    assert isinstance(node, ir.ExtendedMapNode)
    always = isinstance(node, ir.ExtendedParallelMapNode)
    return (UnpackedParallelMap if always else UnpackedMap)(
        flow=site.inside[0],
        unpack=dict(node.unpack),
        parallel=node.is_parallel,
        most_at_once=node.max_workers,
    )


def _decide_by_source(flow: FlowIR, node: MapNode, port: Port, inner: Port) -> bool | None:
    """Agent Spec: the type of what feeds the input decides whether it is gone through.

    None where the file does not say it: no edge, several that differ, a source of any type, or of
    several types.
    """
    verdicts: set[bool | None] = set()
    for edge in flow.feeds.get((node.id, port.title), ()):
        source = next(one for one in flow.by_id[edge.source].outputs if one.title == edge.output)
        verdicts.add(_is_gone_through(source.type, inner.type))
    return verdicts.pop() if len(verdicts) == 1 else None


def _is_gone_through(source: Type, inner: Type) -> bool | None:
    """Whether `source` is a list of what the inner flow takes; None where its value decides."""
    if ANY in (source, inner):
        return None
    if isinstance(source, UnionType):
        verdicts = {_is_gone_through(option, inner) for option in source.options}
        return verdicts.pop() if len(verdicts) == 1 else None
    return isinstance(source, ArrayType) and source != inner and castable(source.items, inner)


# ----------------------------------------------------------------------------
# ApiNode, and a ToolNode over a RemoteTool: one request through the platform.


def lower_api(site: PlanSite) -> ApiCall:
    from cinatra_sdk.flow.nodes.api_node import ApiCall

    node = site.node
    assert isinstance(node, ApiNode)
    return ApiCall(**_read_request(site, node))


def lower_remote_tool(site: PlanSite, node: RemoteToolNode) -> RemoteToolCall:
    from cinatra_sdk.flow.nodes.api_node import RemoteToolCall

    request = _read_request(site, node)
    return RemoteToolCall(**request, tool=node.tool_name, confirmed=node.behind.asks_person)


def _read_request(site: PlanSite, node: ApiNode) -> dict[str, Any]:
    return {
        "method": node.method,
        "url": node.url,
        "headers": node.headers,
        "query": node.query,
        "data": node.data,
        "sensitive_headers": node.sensitive_headers,
        "retry": node.retry,
        "url_allow_list": node.url_allow_list,
        "back": way_back(site.flow, node),
    }
