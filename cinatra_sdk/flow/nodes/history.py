"""A node that puts out what was said in its run.

template null   ->  [{"message_type": "USER", "content": "Hello"}, …]
with a template ->  its text, with these messages as `chat_history`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.runtime import Runtime

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import MESSAGES
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.flow.talk import read_conversation
from cinatra_sdk.templates.rendering import Renderer, TemplateError

_TYPES: Final = {"human": "USER", "ai": "AGENT", "system": "SYSTEM", "tool": "TOOL_RESULT"}
HISTORY: Final = "chat_history"
"""The name of the messages in a template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHistory(NodeWork):
    """Puts out what was said: which messages, and how they are put."""

    kind: ClassVar[str] = "PluginGetChatHistoryNode"
    most: int
    skip: int = 0
    """Messages that are left out at the end that is looked at."""
    from_end: bool = True
    """Whether the last messages are meant, and not the first."""
    types: Sequence[str] | None = None
    """USER, AGENT, …; None: all."""
    template: str | None = None
    """None: a list of the messages."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_history(site.frame, self)


def make_history(frame: Frame, settings: ChatHistory) -> NodeBody:
    """The body of a node that reads the conversation."""
    renderer = None if settings.template is None else Renderer(settings.template)
    output = frame.outputs[0].title

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        found = _choose(settings, read_conversation(state, runtime.context))
        if renderer is None:
            return frame.finish(state, {output: found})
        try:
            text = renderer.text({**frame.gather(state), HISTORY: found})
        except TemplateError as error:
            raise frame.failed(f"output_template: {error}") from None
        return frame.finish(state, {output: text})

    return NodeBody(run=run, reads=(MESSAGES,))


def _choose(settings: ChatHistory, said: Sequence[BaseMessage]) -> list[dict[str, str]]:
    told = [{"message_type": _name_type(one), "content": str.__str__(one.text)} for one in said]
    if settings.types is not None:
        told = [one for one in told if one["message_type"] in settings.types]
    if settings.from_end:
        end = len(told) - settings.skip
        return told[max(0, end - settings.most) : max(0, end)]
    return told[settings.skip : settings.skip + settings.most]


def _name_type(message: BaseMessage) -> str:
    if isinstance(message, AIMessage) and message.tool_calls:
        return "TOOL_REQUEST"
    return _TYPES.get(message.type, "INTERNAL")
