"""OutputMessageNode: a message to the user, and the payload of the next gate.

The text is kept with the node's record too: where it is one JSON object, the gate that runs next
shows its members as values (Cinatra's convention for filling a screen).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.governed.state import seal
from cinatra_sdk.templates.rendering import Renderer, TemplateError
from oas_compiler.ir import OutputMessageNode
from oas_compiler.lower.names import MESSAGES
from oas_compiler.lower.registry import Lowered, LoweringSite


def lower_message(site: LoweringSite) -> Lowered:
    node, frame = site.node, site.frame
    assert isinstance(node, OutputMessageNode)
    renderer = Renderer(node.message)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"message: {error}") from None
        message = {"role": "assistant", "content": text, "node": node.id}
        update = frame.finish(state, {}, more={MESSAGES: seal([message])})
        update[frame.channel]["message"] = text
        return update

    return Lowered(run=run)
