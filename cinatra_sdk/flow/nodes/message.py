"""A message to the user, and the payload of the next gate.

The text is kept with the node's record too: where it is one JSON object, the gate that runs next
shows its members as values (Cinatra's convention for filling a screen).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.flow.talk import say
from cinatra_sdk.templates.rendering import Renderer, TemplateError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(NodeWork):
    """Says something to the user."""

    kind: ClassVar[str] = "OutputMessageNode"
    message: str
    """A template over the node's inputs."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_message(site.frame, message=self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWithOutput(Message):
    """A message that is an output of its node, too."""

    kind: ClassVar[str] = "PluginOutputMessageNode"


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
