"""The conversation of a run as the model of an agent sees it.

What gates say while calls of the model are open is left out: a provider wants the results of all calls
right after the message that asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from cinatra_sdk.governed.growing import without_seal

BEGIN = "Begin."
"""Said for a caller who says nothing: providers want a person to speak first."""


def list_seen(prompt: str, conversation: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages for the model: its prompt, then the conversation."""
    said = [_plain(message) for message in _list_spoken(conversation)]
    begins = bool(said) and isinstance(said[0], HumanMessage)
    return [SystemMessage(prompt), *([] if begins else [HumanMessage(BEGIN)]), *said]


def _list_spoken(conversation: Iterable[BaseMessage]) -> Iterable[BaseMessage]:
    waiting: set[str] = set()
    for message in conversation:
        if isinstance(message, AIMessage) and message.tool_calls:
            waiting = {str(call["id"]) for call in message.tool_calls}
        elif isinstance(message, ToolMessage):
            waiting.discard(message.tool_call_id)
        elif waiting:
            continue
        yield message


def _plain(message: BaseMessage) -> BaseMessage:
    """The message without what we know about it: providers send on what they do not know."""
    return without_seal(message).model_copy(update={"additional_kwargs": {}})
