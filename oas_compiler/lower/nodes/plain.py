"""The nodes that only compute, and those that run flows as they are."""

from __future__ import annotations

from cinatra_sdk.flow.nodes.branching import Branching
from cinatra_sdk.flow.nodes.caught import Catch, CatchNamed
from cinatra_sdk.flow.nodes.constants import Constants
from cinatra_sdk.flow.nodes.end import End
from cinatra_sdk.flow.nodes.extraction import JsonExtraction
from cinatra_sdk.flow.nodes.history import ChatHistory
from cinatra_sdk.flow.nodes.message import Message, MessageWithOutput
from cinatra_sdk.flow.nodes.parallel import ParallelFlows
from cinatra_sdk.flow.nodes.retried import Repeat
from cinatra_sdk.flow.nodes.start import Start
from cinatra_sdk.flow.nodes.subflow import Subflow
from cinatra_sdk.flow.nodes.texts import Regex, TextTemplate
from cinatra_sdk.flow.nodes.variables import Variables
from oas_compiler import ir
from oas_compiler.ir import Json
from oas_compiler.kinds.plugin_chat_history import PluginGetChatHistoryNode
from oas_compiler.kinds.plugin_constant_values import PluginConstantValuesNode
from oas_compiler.kinds.plugin_extract import PluginExtractNode
from oas_compiler.kinds.plugin_variable import PluginVariableNode
from oas_compiler.lower.registry import PlanSite


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
    node = site.node
    assert isinstance(node, ir.BranchingNode)
    return Branching(mapping=dict(node.mapping))


def lower_message(site: PlanSite) -> Message:
    node = site.node
    assert isinstance(node, ir.OutputMessageNode)
    with_output = isinstance(node, ir.PluginOutputMessageNode)
    return (MessageWithOutput if with_output else Message)(message=node.message)


def lower_regex(site: PlanSite) -> Regex:
    node = site.node
    assert isinstance(node, ir.PluginRegexNode)
    return Regex(pattern=node.pattern, first_only=node.first_only, takes_last=node.takes_last)


def lower_extract(site: PlanSite) -> JsonExtraction:
    node = site.node
    assert isinstance(node, PluginExtractNode)
    return JsonExtraction(ways=dict(node.ways))


def lower_history(site: PlanSite) -> ChatHistory:
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
    node = site.node
    assert isinstance(node, PluginVariableNode)
    return Variables(writes=dict(node.writes), reads=node.reads)


def lower_template(site: PlanSite) -> TextTemplate:
    node = site.node
    assert isinstance(node, ir.PluginTemplateNode)
    return TextTemplate(template=node.template)


def lower_constant_values(site: PlanSite) -> Constants:
    node = site.node
    assert isinstance(node, PluginConstantValuesNode)
    return Constants(
        values=Json.of({title: value.value() for title, value in node.constant_values})
    )


def lower_flow_node(site: PlanSite) -> Subflow:
    return Subflow(flow=site.inside[0])


def lower_parallel_flow(site: PlanSite) -> ParallelFlows:
    return ParallelFlows(flows=site.inside)


def lower_catch_exception(site: PlanSite) -> Catch:
    node = site.node
    assert isinstance(node, ir.CatchExceptionNode)
    return Catch(flow=site.inside[0], tells_message=node.tells_message)


def lower_plugin_catch(site: PlanSite) -> CatchNamed:
    node = site.node
    assert isinstance(node, ir.PluginCatchExceptionNode)
    return CatchNamed(
        flow=site.inside[0], branches=dict(node.except_on), catches_all=node.catches_all
    )


def lower_retry(site: PlanSite) -> Repeat:
    node = site.node
    assert isinstance(node, ir.PluginRetryNode)
    return Repeat(flow=site.inside[0], success=node.success, trials=node.trials)
