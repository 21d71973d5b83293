"""PluginRegexNode and PluginTemplateNode: text in, matches or text out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cinatra_sdk.templates import Renderer, TemplateError
from oas_compiler.ir import RegexNode, TemplateNode
from oas_compiler.lower.registry import REGISTRY, Lowered, Site


@REGISTRY.register(RegexNode)
def lower_regex(site: Site) -> Lowered:
    node, frame = site.node, site.frame
    assert isinstance(node, RegexNode)
    pattern = re.compile(node.pattern)
    text_title, output = node.inputs[0].title, node.outputs[0].title

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        found = [match.group(0) for match in pattern.finditer(frame.gather(state)[text_title])]
        value: Any = (found[0] if found else "") if node.first_only else found
        return frame.finish(state, {output: value})

    return Lowered(run=run)


@REGISTRY.register(TemplateNode)
def lower_template(site: Site) -> Lowered:
    node, frame = site.node, site.frame
    assert isinstance(node, TemplateNode)
    renderer = Renderer(node.template)
    output = node.outputs[0].title

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"template: {error}") from None
        return frame.finish(state, {output: text})

    return Lowered(run=run)
