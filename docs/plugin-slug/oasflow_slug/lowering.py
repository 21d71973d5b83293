"""What a SlugNode does when it runs: its text rendered, and its words joined.

"About Bees & Wasps"    ->  "about-bees-wasps"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow import NodeBody, Renderer, TemplateError
from oas_compiler.lower import LoweringSite
from oasflow_slug.kind import SlugNode


def lower_slug(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, SlugNode)
    renderer = Renderer(node.text)
    output = node.outputs[0].title

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"text: {error}") from None
        words = re.findall(r"[a-z0-9]+", text.lower())
        return frame.finish(state, {output: node.separator.join(words)})

    return NodeBody(run=run)
