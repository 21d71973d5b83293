"""PluginRegexNode and PluginTemplateNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.texts import make_regex, make_template
from oas_compiler.ir import PluginRegexNode, PluginTemplateNode
from oas_compiler.lower.registry import LoweringSite


def lower_regex(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, PluginRegexNode)
    return make_regex(
        site.frame,
        text=node.inputs[0].title,
        output=node.outputs[0].title,
        pattern=node.pattern,
        first=node.first_only,
        last=node.takes_last,
    )


def lower_template(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, PluginTemplateNode)
    return make_template(site.frame, output=node.outputs[0].title, template=node.template)
