"""A message to the user, and the payload of the next gate.

The text is kept with the node's record too: where it is one JSON object, the gate that runs next
shows its members as values (Cinatra's convention for filling a screen).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.talk import say
from cinatra_sdk.templates.rendering import Renderer, TemplateError


def make_message(frame: Frame, *, message: str) -> NodeBody:
    """message: a template over the node's inputs; an output of the node gets the text."""
    renderer = Renderer(message)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"message: {error}") from None
        given = {port.title: text for port in frame.outputs}
        update = frame.finish(state, given, more=say(frame, state, text))
        update[frame.channel]["message"] = text
        return update

    return NodeBody(run=run, computes=True)
