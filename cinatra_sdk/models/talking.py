"""One turn of a conversation with a chat model that may call tools.

talk(model.bind_tools(tools), messages, rules)   ->  (AIMessage(…, tool_calls=[…]), Usage(…))
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from cinatra_sdk.effects.effect import Usage
from cinatra_sdk.models.asking import Live, SpokenText, add_usage
from cinatra_sdk.models.retrying import aask_again, ask_again
from cinatra_sdk.values.retry_policy import CallRetryPolicy


def talk(
    model: Any, messages: list[BaseMessage], rules: CallRetryPolicy, live: Live | None = None
) -> tuple[AIMessage, Usage]:
    """What the model says to the messages, and what it cost; raises the client's errors."""
    form = SpokenText(model, messages, live)
    return _read(ask_again(rules, form.ask, between=form.begin_again).message)


async def atalk(
    model: Any, messages: list[BaseMessage], rules: CallRetryPolicy, live: Live | None = None
) -> tuple[AIMessage, Usage]:
    """As `talk`, for an event loop."""
    form = SpokenText(model, messages, live)
    return _read((await aask_again(rules, form.aask, between=form.begin_again)).message)


def _read(message: AIMessage | None) -> tuple[AIMessage, Usage]:
    return AIMessage("") if message is None else message, add_usage([message])
