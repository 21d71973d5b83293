"""Nodes of Agent Spec's plugins that compute with texts."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.extraction import make_extraction
from cinatra_sdk.flow.nodes.history import HistorySettings, make_history
from cinatra_sdk.flow.nodes.texts import make_regex, make_template
from cinatra_sdk.values.json_paths import parse_path
from oas_compiler.ir import PluginRegexNode, PluginTemplateNode
from oas_compiler.kinds.plugin_chat_history import PluginGetChatHistoryNode
from oas_compiler.kinds.plugin_extract import PluginExtractNode
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


def lower_extract(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, PluginExtractNode)
    read = [(title, parse_path(way)) for title, way in node.ways]
    ways = [(title, path) for title, path in read if path is not None]
    return make_extraction(site.frame, text=node.inputs[0].title, ways=ways)


def lower_history(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, PluginGetChatHistoryNode)
    settings = HistorySettings(
        most=node.most,
        skip=node.skip,
        from_end=node.from_end,
        types=node.types,
        template=node.template,
    )
    return make_history(site.frame, settings)
