"""What a LengthNode does when it runs: it counts, and leaves by one of its two branches.

"about-bees-wasps", most 40    ->  length 16, out by "short"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow import NodeBody, Renderer, TemplateError
from oas_compiler.lower import LoweringSite
from oasflow_slug.length import LengthNode


def lower_length(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, LengthNode)
    renderer = Renderer(node.text)
    output = node.outputs[0].title

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            length = len(renderer.text(frame.gather(state)))
        except TemplateError as error:
            raise frame.failed(f"text: {error}") from None
        branch = "long" if length > node.most else "short"
        return frame.finish(state, {output: length}, branch=branch)

    return NodeBody(run=run)
