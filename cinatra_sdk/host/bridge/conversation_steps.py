"""The conversation of a bridge call: steps with tools, then the answer, mended once.

    answer = await talk(Talk(model=…, system=…, user=…, tools=…, steps=6, schema=None, …), call)
    answer.value      {"draft": "Dear Ann …"}       answer.usage     Usage(calls=2, …)

Without a schema, an answer that is JSON as a whole is that value, and any other is `{"output": text}`.
With a schema, an answer that does not fit is sent back once, with its mistake; a second is an
error that names the place and the rule, and never quotes the answer.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.host.bridge.toolboxes import BridgeTool, ToolFailed
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Usage, hash_json
from cinatra_sdk.outside.http_calls.model_usage import ModelUse, tell_use
from cinatra_sdk.outside.models.attempts import aask_again
from cinatra_sdk.outside.models.question import (
    add_usage,
    ask_to_mend,
    atalk,
    name_schema,
    read_structured,
)
from cinatra_sdk.outside.routes import RouteCall, RouteError, RunOwner
from cinatra_sdk.threads import call_beside
from cinatra_sdk.tool_loop import (
    DueCall,
    UnmadeCall,
    bind_tools,
    list_calls,
    set_ids,
    walk_calls,
)

log = logging.getLogger("oasflow.bridge")

OUTPUT: Final = "output"
"""Of an answer that is text."""
_LONGEST: Final = 300


MayGoOn: TypeAlias = Callable[[RunOwner], None]
"""Raises `RouteError` where the run has ended; may wait, and is called beside the event loop."""
MOST_CALLS: Final = 100
"""Calls of tools in one conversation: `max_steps` bounds questions, and one answer may ask for many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What a model is asked, and with what."""

    model: Any = field(repr=False)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What goes along with every request beside the messages."""
    name: str = ""
    """`provider/model`, for what it uses up."""
    system: str = field(default="", repr=False)
    user: str | list[str | dict[str, Any]] = field(repr=False)
    tools: Mapping[str, BridgeTool] = field(default_factory=dict)
    steps: int
    """How often the model may be asked; the try to mend an answer comes on top.  What it asks for the last
    time is not called, for it would not be told.
    """
    schema: Mapping[str, JsonValue] | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    rules: CallRetryPolicy = field(default_factory=CallRetryPolicy)
    may_go_on: MayGoOn = field(default=lambda _owner: None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkAnswer:
    value: JsonValue
    usage: Usage


async def talk(asked: Talk, call: RouteCall) -> TalkAnswer:
    """Raises: `RouteError` 500; the errors of the model's client.

    What the model used up is told in any case, also where no answer came of it.
    """
    conversation = _Conversation(asked, call)
    try:
        return TalkAnswer(value=await conversation.go(), usage=conversation.usage)
    finally:
        used = conversation.usage
        if used.calls:
            tell_use(
                ModelUse(
                    model=asked.name,
                    calls=used.calls,
                    input_tokens=used.input_tokens,
                    output_tokens=used.output_tokens,
                )
            )


class _Conversation:
    """One conversation, while it is held."""

    def __init__(self, asked: Talk, call: RouteCall) -> None:
        self._asked, self._call = asked, call
        system = "\n\n".join(
            part for part in (asked.system, _describe_schema(asked.schema)) if part
        )
        self._said: list[BaseMessage] = [
            *([SystemMessage(system)] if system else []),
            HumanMessage(asked.user),
        ]
        self._heard: list[AIMessage | None] = []
        self._asked_for = 0
        """Calls that the model has asked for."""
        self._calls: Counter[str] = Counter()
        """Times that each call was made, by its name and arguments."""

    @property
    def usage(self) -> Usage:
        return add_usage(self._heard)

    async def go(self) -> JsonValue:
        text = await self._ask_until_text()
        if self._asked.schema is None and not text.strip():
            raise _fail("the model gave no answer")
        value, problem = read_answer(text, self._asked.schema)
        if problem:
            value, problem = read_answer(await self._ask_to_mend(text, problem), self._asked.schema)
        if problem:
            raise _fail(f"the model did not answer as asked, twice: {problem}")
        return value

    async def _ask_until_text(self) -> str:
        tools = self._asked.tools
        functions = [tool.describe() for tool in tools.values()]
        model = bind_tools(self._asked.model, functions, self._asked.arguments)
        for visit in range(1, self._asked.steps + 1):
            message = await self._ask(model)
            calls = list_calls(message, visit=visit)
            if not calls:
                return _read_end(message)
            # Before the first call: what is refused afterwards has been done all the same.
            if visit == self._asked.steps:
                break
            self._count_calls(len(calls))
            self._said.append(set_ids(message, calls))
            for step in walk_calls(calls, tools):
                self._said.append(await self._answer(step))
        raise _fail(
            f"the model called tools for {self._asked.steps} steps and gave no answer; "
            "raise max_steps (at most 20), or ask for less"
        )

    def _count_calls(self, more: int) -> None:
        self._asked_for += more
        if self._asked_for > MOST_CALLS:
            raise _fail(f"the model called tools more than {MOST_CALLS} times; ask for less")

    async def _ask(self, model: Any) -> AIMessage:
        await self._require_going()
        message, _ = await atalk(model, self._said, self._asked.rules)
        self._heard.append(message)
        return message

    async def _require_going(self) -> None:
        """Raises: `RouteError` where the run was rejected, stopped or has ended meanwhile."""
        await call_beside(self._asked.may_go_on, self._call.owner)

    async def _answer(self, step: DueCall[BridgeTool] | UnmadeCall) -> ToolMessage:
        """What the model is told of one of its calls."""
        call, failed = step.call, True
        if isinstance(step, DueCall):
            text, failed = await self._make(step)
        elif step.why == "unknown":
            text = f"there is no tool {call['name'][:80]}; {step.problem}"
        else:
            text = step.problem
        return ToolMessage(
            redact(text, self._asked.secrets),
            tool_call_id=call["id"],
            name=call["name"] or None,
            status="error" if failed else "success",
        )

    async def _make(self, due: DueCall[BridgeTool]) -> tuple[str, bool]:
        """What the tool says, and whether it failed."""
        name = due.tool.name
        await self._require_going()
        try:
            return await due.tool.call(self._key_call(name, due.arguments), due.arguments), False
        except (ToolFailed, RouteError) as error:
            return getattr(error, "message", None) or str(error), True
        except Exception as error:  # noqa: BLE001 - a host's tool; the model goes on
            log.warning("the tool %s failed: %s", name, type(error).__name__)
            return f"the tool failed with {type(error).__name__}", True

    def _key_call(self, name: str, arguments: JsonValue) -> RouteCall:
        """The bridge's call under a key of its own for each call of a tool: the same when the bridge is
        asked again and the model calls the same, and another for other arguments.
        """
        about = hash_json([name, arguments])
        self._calls[about] += 1
        key = self._call.idempotency_key
        if not key:
            return self._call
        made = hashlib.sha256(f"{key}\n{about}\n{self._calls[about]}".encode()).hexdigest()
        return replace(self._call, idempotency_key=made)

    async def _ask_to_mend(self, text: str, problem: str) -> str:
        self._said += ask_to_mend(text, problem)
        model = self._asked.model
        try:
            structured = model.with_structured_output(
                name_schema(self._asked.schema or {}), include_raw=True, **self._asked.arguments
            )
        except (NotImplementedError, ValueError, TypeError):
            return str((await self._ask(model)).text)
        return await self._ask_structured(structured)

    async def _ask_structured(self, structured: Any) -> str:
        """The object that the provider makes by the schema, as text."""
        await self._require_going()
        found = await aask_again(
            self._asked.rules, partial(structured.ainvoke, self._said), between=lambda: None
        )
        reply = read_structured(found)
        self._heard.append(reply.message)
        if reply.value is None:
            return "" if reply.message is None else str(reply.message.text)
        return json.dumps(reply.value, ensure_ascii=False)


def _read_end(message: AIMessage) -> str:
    """The text of the last answer.  Raises: `RouteError` for one that was cut off."""
    text = str(message.text)
    why = message.response_metadata.get("finish_reason") or message.response_metadata.get(
        "stop_reason"
    )
    if why in ("length", "max_tokens", "MAX_TOKENS"):
        raise _fail("the model's answer was cut off: raise its max_tokens, or ask for less")
    return text


def read_answer(text: str, schema: Mapping[str, JsonValue] | None) -> tuple[JsonValue, str]:
    """The value of an answer, and what is wrong with it; empty where it fits."""
    try:
        value = read_json(_without_fence(text))
    except NotStrictJson as error:
        return ({OUTPUT: text}, "") if schema is None else (None, f"it is no JSON ({error})")
    if schema is None:
        return value, ""
    return value, first_problem(dict(schema), value)


def _without_fence(text: str) -> str:
    """The text inside of a fence of Markdown, where the whole answer is one."""
    bare = text.strip()
    if not (bare.startswith("```") and bare.endswith("```") and bare.count("```") == 2):
        return bare
    return bare.partition("\n")[2].removesuffix("```")


def _describe_schema(schema: Mapping[str, JsonValue] | None) -> str:
    if schema is None:
        return ""
    wanted = json.dumps(schema, ensure_ascii=False)
    return f"Answer with one JSON value by this JSON Schema, and nothing else: {wanted}"


def _fail(detail: str) -> RouteError:
    return RouteError(500, "MODEL_FAILED", detail[:_LONGEST], more={"detail": detail[:_LONGEST]})
