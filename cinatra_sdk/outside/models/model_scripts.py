"""`ScriptedModel`: a chat model with scripted replies, for tests.

    model = ScriptedModel(["Bees are small.", {"brand": "Hive", "hp": 3}, RuntimeError("down")])
    model.invoke("About bees")     ->  AIMessage("Bees are small.")
    model.asked[0].text            ->  "About bees"

A reply is a text, an object (structured output), a `ScriptedReply`, an exception, or a function from the
question to one of these.  In place of the list, one function may give every reply.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import PrivateAttr

from cinatra_sdk.light_imports.records import dataclass

_SHOWN: Final = 200
_OWN: Final = frozenset({"scripted_tools", "scripted_schema"})
_PIECE: Final = 8
"""Characters of a chunk, where a reply does not say its chunks."""


class ScriptUsedUp(AssertionError):
    """More was asked than the script has replies for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel:
    """What a scripted model was asked."""

    messages: tuple[BaseMessage, ...]
    tools: tuple[Any, ...] = ()
    schema: Any = None
    """Of a structured output; None for a text."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What was bound to the model besides."""

    @property
    def text(self) -> str:
        """The text of the last message."""
        return str(self.messages[-1].text) if self.messages else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One reply in full."""

    text: str = ""
    value: Any = None
    """A structured output."""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    """`{"name": …, "args": {…}}`, with an `id` if wanted."""
    input_tokens: int = 0
    output_tokens: int = 0
    chunks: tuple[str, ...] = ()
    """The pieces in which the text is streamed; empty: pieces of 8 characters."""
    seconds: float = 0.0
    """How long the reply takes."""
    error: BaseException | None = None
    """Raised instead; with `chunks`, after these were streamed."""


Reply: TypeAlias = "str | Mapping[str, Any] | list[Any] | BaseException | ScriptedReply"
Script: TypeAlias = (
    "Sequence[Reply | Callable[[AskedModel], Reply]] | Callable[[AskedModel], Reply]"
)


class ScriptedModel(BaseChatModel):
    """Replies in the order of the script; safe to share between threads."""

    script: Any = ()
    _asked: list[AskedModel] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, script: Script, **fields: Any) -> None:
        given: dict[str, Any] = {"script": script if callable(script) else list(script), **fields}
        super().__init__(**given)

    @property
    def asked(self) -> list[AskedModel]:
        """The questions so far, in order."""
        with self._lock:
            return list(self._asked)

    @property
    def left(self) -> int:
        """How many replies of the script were not given."""
        return 0 if callable(self.script) else max(0, len(self.script) - len(self.asked))

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """The model, whose `asked` holds the tools."""
        return self.bind(scripted_tools=tuple(tools), **kwargs)

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[Any, Any]:
        """The model whose replies are objects; a text in the script must be JSON."""
        asking = self.bind(scripted_schema=schema, **kwargs)

        def read(message: AIMessage) -> Any:
            value, error = _read_value(message)
            if include_raw:
                return {"raw": message, "parsed": value, "parsing_error": error}
            if error is not None:
                raise error
            return value

        return asking | RunnableLambda(read)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager
        reply = self._next_reply(messages, kwargs)
        if reply.seconds:
            time.sleep(reply.seconds)
        return _make_result(reply)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager
        reply = self._next_reply(messages, kwargs)
        if reply.seconds:
            await asyncio.sleep(reply.seconds)
        return _make_result(reply)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        del stop
        reply = self._next_reply(messages, kwargs)
        chunks = _list_chunks(reply)
        for chunk in chunks:
            time.sleep(reply.seconds / len(chunks))
            if run_manager is not None:
                run_manager.on_llm_new_token(str(chunk.text), chunk=chunk)
            yield chunk
        if reply.error is not None:
            raise reply.error

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        del stop
        reply = self._next_reply(messages, kwargs)
        chunks = _list_chunks(reply)
        for chunk in chunks:
            await asyncio.sleep(reply.seconds / len(chunks))
            if run_manager is not None:
                await run_manager.on_llm_new_token(str(chunk.text), chunk=chunk)
            yield chunk
        if reply.error is not None:
            raise reply.error

    def _next_reply(self, messages: list[BaseMessage], bound: Mapping[str, Any]) -> ScriptedReply:
        asked = AskedModel(
            messages=tuple(messages),
            tools=tuple(bound.get("scripted_tools", ())),
            schema=bound.get("scripted_schema"),
            arguments={key: value for key, value in bound.items() if key not in _OWN},
        )
        with self._lock:
            number = len(self._asked)
            self._asked.append(asked)
        if callable(self.script):
            found = self.script(asked)
        elif number < len(self.script):
            found = self.script[number]
        else:
            raise ScriptUsedUp(
                f"the script has {_count(len(self.script))}, and this is question {number + 1}: "
                f"{asked.text[:_SHOWN]!r}"
            )
        if callable(found):
            found = found(asked)
        return _read_reply(found)


def _read_reply(found: Any) -> ScriptedReply:
    if isinstance(found, ScriptedReply):
        return found
    if isinstance(found, BaseException):
        return ScriptedReply(error=found)
    return ScriptedReply(text=found) if isinstance(found, str) else ScriptedReply(value=found)


def _text_of(reply: ScriptedReply) -> str:
    if reply.text or reply.value is None:
        return reply.text
    return json.dumps(reply.value, ensure_ascii=False)


def _count(replies: int) -> str:
    return "1 reply" if replies == 1 else f"{replies} replies"


def _read_value(message: AIMessage) -> tuple[Any, Exception | None]:
    try:
        return json.loads(str(message.text)), None
    except ValueError as error:
        return None, error


def _usage_of(reply: ScriptedReply) -> UsageMetadata | None:
    given, taken = reply.input_tokens, reply.output_tokens
    if not given and not taken:
        return None
    return UsageMetadata(input_tokens=given, output_tokens=taken, total_tokens=given + taken)


def _list_calls(reply: ScriptedReply) -> list[dict[str, Any]]:
    return [
        {"id": f"call-{number}", "type": "tool_call", **call}
        for number, call in enumerate(reply.tool_calls, 1)
    ]


def _make_result(reply: ScriptedReply) -> ChatResult:
    if reply.error is not None:
        raise reply.error
    calls: Any = _list_calls(reply)
    message = AIMessage(_text_of(reply), tool_calls=calls, usage_metadata=_usage_of(reply))
    return ChatResult(generations=[ChatGeneration(message=message)])


def _list_chunks(reply: ScriptedReply) -> list[ChatGenerationChunk]:
    """The reply in pieces; the last one has the calls of tools and what was used up."""
    text = _text_of(reply)
    pieces = list(reply.chunks) or [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    made = [AIMessageChunk(content=piece) for piece in pieces]
    if reply.error is None:
        calls: Any = [
            {"name": call["name"], "args": json.dumps(call.get("args", {})), "id": call["id"],
             "index": number, "type": "tool_call_chunk"}
            for number, call in enumerate(_list_calls(reply))
        ]  # fmt: skip
        last = AIMessageChunk(content="", tool_call_chunks=calls, usage_metadata=_usage_of(reply))
        made.append(last.model_copy(update={"chunk_position": "last"}))
    return [ChatGenerationChunk(message=message) for message in made]
