"""A message to the user, and the payload of the next gate.

The text is kept with the node's record too: where it is one JSON object, the gate that runs next
shows its members as values (Cinatra's convention for filling a screen).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import MESSAGES
from cinatra_sdk.governed.state import seal
from cinatra_sdk.templates.rendering import Renderer, TemplateError


def make_message(frame: Frame, *, message: str) -> NodeBody:
    """message: a template over the node's inputs."""
    renderer = Renderer(message)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"message: {error}") from None
        said = {"role": "assistant", "content": text, "node": frame.id}
        update = frame.finish(state, {}, more={MESSAGES: seal([said])})
        update[frame.channel]["message"] = text
        return update

    return NodeBody(run=run, computes=True)
