"""PluginRegexNode and PluginTemplateNode: text in, matches or text out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from cinatra_sdk.templates.rendering import Renderer, TemplateError
from cinatra_sdk.values.patterns.searching import Matcher, SearchStopped
from oas_compiler.ir import PluginRegexNode, PluginTemplateNode
from oas_compiler.lower.registry import Lowered, LoweringSite


def lower_regex(site: LoweringSite) -> Lowered:
    node, frame = site.node, site.frame
    assert isinstance(node, PluginRegexNode)
    matcher = Matcher(node.pattern)
    text_title, output = node.inputs[0].title, node.outputs[0].title

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        text = frame.gather(state)[text_title]
        try:
            value: Any = matcher.first(text) if node.first_only else matcher.all(text)
        except SearchStopped as error:
            raise frame.failed(
                f"regex_pattern: {error}",
                hint="write the pattern without a repetition inside a repetition",
            ) from None
        return frame.finish(state, {output: value})

    async def arun(state: Mapping[str, Any], runtime: object) -> dict[str, Any]:
        # A search may take its time, and the loop serves other runs meanwhile.
        return await asyncio.to_thread(run, state, runtime)

    return Lowered(run=run, arun=arun)


def lower_template(site: LoweringSite) -> Lowered:
    node, frame = site.node, site.frame
    assert isinstance(node, PluginTemplateNode)
    renderer = Renderer(node.template)
    output = node.outputs[0].title

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"template: {error}") from None
        return frame.finish(state, {output: text})

    return Lowered(run=run)
