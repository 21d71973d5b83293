"""The nodes that only compute, and those that run flows as they are."""

from __future__ import annotations

from cinatra_sdk.flow.nodes.branching import Branching
from cinatra_sdk.flow.nodes.caught import Catch
from cinatra_sdk.flow.nodes.constants import Constants
from cinatra_sdk.flow.nodes.end import End
from cinatra_sdk.flow.nodes.message import Message, MessageWithOutput
from cinatra_sdk.flow.nodes.parallel import ParallelFlows
from cinatra_sdk.flow.nodes.start import Start
from cinatra_sdk.flow.nodes.subflow import Subflow
from cinatra_sdk.flow.nodes.texts import Regex, TextTemplate
from oas_compiler import ir
from oas_compiler.ir import Json
from oas_compiler.kinds.plugin_constant_values import PluginConstantValuesNode
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
    return Regex(pattern=node.pattern, first_only=node.first_only)


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
