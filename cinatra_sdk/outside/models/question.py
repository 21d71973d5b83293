"""One question to a chat model, its answer as the declared outputs of a node.

In: the prompt and the outputs.  Out: `ModelAnswer`, the value of each output and the tokens used.

    one output of type string      the raw text of the answer
    another type, or several       an object by JSON Schema, checked; one try to mend what was wrong

The conversation is a generator that yields the next question, so that both forms of `ask`, with and
without an event loop, have one set of rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.ports import STRING, TypedPort
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Usage
from cinatra_sdk.outside.models.attempts import aask_again, ask_again

ANSWER: Final = "answer"
"""Name of the schema: providers show it to the model as the name of a function."""


class AnswerUnusable(ValueError):
    """The model's answer does not give the declared outputs; names the output, never quotes it."""

    def __init__(self, problem: str, usage: Usage) -> None:
        super().__init__(problem)
        self.usage = usage


class ReplyTooLarge(ValueError):
    """One reply of the model asks for too much; names the bound."""

    def __init__(self, problem: str, usage: Usage) -> None:
        super().__init__(problem)
        self.usage = usage


class PartlyAnswered(Exception):
    """The model had answered once before its client failed; holds the client's error."""

    def __init__(self, error: Exception, usage: Usage) -> None:
        super().__init__(str(error))
        self.error = error
        self.usage = usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """What a node asks."""

    prompt: str = field(repr=False)
    outputs: tuple[TypedPort, ...]
    before: tuple[BaseMessage, ...] = field(default=(), repr=False)
    """What was said before the prompt; the prompt is empty where nothing comes after it."""
    attached: tuple[BaseMessage, ...] | None = field(default=None, repr=False)
    """The messages with files in them; None where the question has no files."""
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What goes along beside the messages."""

    @property
    def messages(self) -> list[BaseMessage]:
        if self.attached is not None:
            return [*self.attached]
        last = [HumanMessage(self.prompt)] if self.prompt or not self.before else []
        return [*self.before, *last]

    @property
    def is_text(self) -> bool:
        """Whether the answer is the raw text of the model."""
        return len(self.outputs) == 1 and self.outputs[0].type == STRING

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of an answer that is no text: the outputs, required where they have no default."""
        wanted = {
            "type": "object",
            "properties": {port.title: port.schema.mapping() for port in self.outputs},
            "required": [port.title for port in self.outputs if port.default is None],
            "additionalProperties": False,
        }
        return name_schema(wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What a model said."""

    outputs: dict[str, JsonValue]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Takes the text of an answer while it comes; nothing of it is kept."""

    said: Callable[[str], None]
    dropped: Callable[[], None]
    """What was said so far is void: the model is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    messages: list[BaseMessage]
    schema: dict[str, Any] | None
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered: with a value where it was asked for one, else why there is none."""

    message: AIMessage | None
    value: JsonValue = None
    problem: str = ""


_Conversation: TypeAlias = Generator[_Ask, Reply, ModelAnswer]


def ask(
    model: BaseChatModel, question: ModelQuestion, rules: CallRetryPolicy, live: Live | None = None
) -> ModelAnswer:
    """The model's answer.

    Raises: `AnswerUnusable` where also the second try does not give the outputs; the client's errors,
    after a first answer as `PartlyAnswered`.
    """
    talk = _converse(question)
    wanted = next(talk)
    said: list[AIMessage | None] = []
    while True:
        form = _choose_form(model, wanted, live)
        try:
            reply = ask_again(rules, form.ask, between=form.begin_again)
        except Exception as error:
            if not said:
                raise
            raise PartlyAnswered(error, add_usage(said)) from error
        said.append(reply.message)
        try:
            wanted = talk.send(reply)
        except StopIteration as end:
            answer: ModelAnswer = end.value
            return answer


async def aask(
    model: BaseChatModel, question: ModelQuestion, rules: CallRetryPolicy, live: Live | None = None
) -> ModelAnswer:
    """As `ask`, for an event loop."""
    talk = _converse(question)
    wanted = next(talk)
    said: list[AIMessage | None] = []
    while True:
        form = _choose_form(model, wanted, live)
        try:
            reply = await aask_again(rules, form.aask, between=form.begin_again)
        except Exception as error:
            if not said:
                raise
            raise PartlyAnswered(error, add_usage(said)) from error
        said.append(reply.message)
        try:
            wanted = talk.send(reply)
        except StopIteration as end:
            answer: ModelAnswer = end.value
            return answer


def _converse(question: ModelQuestion) -> _Conversation:
    """Ask, and ask once more where the answer cannot be used."""
    asked, more = question.messages, question.arguments
    if question.is_text:
        reply = yield _Ask(messages=asked, schema=None, arguments=more)
        text = "" if reply.message is None else str(reply.message.text)
        return ModelAnswer(
            outputs={question.outputs[0].title: text}, usage=add_usage([reply.message])
        )
    schema = question.schema
    first = yield _Ask(messages=asked, schema=schema, arguments=more)
    outputs, problem = _read_outputs(question, first)
    if not problem:
        return ModelAnswer(outputs=outputs, usage=add_usage([first.message]))
    again = [*asked, *_ask_to_mend(first, problem)]
    second = yield _Ask(messages=again, schema=schema, arguments=more)
    outputs, problem = _read_outputs(question, second)
    usage = add_usage([first.message, second.message])
    if problem:
        raise AnswerUnusable(problem, usage)
    return ModelAnswer(outputs=outputs, usage=usage)


def name_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with a name and a description, as clients of providers want it; its own come first."""
    about = {"title": ANSWER, "description": "The answer, with every part that is asked for."}
    return {**about, **schema}


def _ask_to_mend(reply: Reply, problem: str) -> list[BaseMessage]:
    said = "" if reply.message is None else str(reply.message.text)
    if not said and reply.value is not None:
        said = json.dumps(reply.value, ensure_ascii=False, default=str)
    return ask_to_mend(said, problem)


def ask_to_mend(said: str, problem: str) -> list[BaseMessage]:
    """What is said after an answer that cannot be used.

    said: the answer as a plain text: a call of a tool would have to be answered by the tool.
    """
    wanted = f"This answer cannot be used: {problem}. Answer again, with everything as asked."
    return [AIMessage(said or "(no answer)"), HumanMessage(wanted)]


def _read_outputs(question: ModelQuestion, reply: Reply) -> tuple[dict[str, JsonValue], str]:
    """The value of each output, and the first thing that is wrong."""
    value = reply.value
    if reply.problem or not isinstance(value, dict):
        titles = ", ".join(f"'{port.title}'" for port in question.outputs)
        return {}, f"the outputs {titles}: {reply.problem or 'the answer is no JSON object'}"
    outputs: dict[str, JsonValue] = {}
    for port in question.outputs:
        if port.title in value:
            problem = first_problem(port.schema.mapping(), value[port.title])
            if problem:
                return {}, f"output '{port.title}': {problem}"
            outputs[port.title] = value[port.title]
        elif port.default is None:
            return {}, f"output '{port.title}' is missing"
        else:
            outputs[port.title] = port.default.value()
    return outputs, ""


def add_usage(messages: Sequence[AIMessage | None]) -> Usage:
    """What the answers cost together; `None` stands for an answer without a message."""
    counted = [message.usage_metadata for message in messages if message is not None]
    return Usage(
        calls=len(messages),
        input_tokens=sum(one["input_tokens"] for one in counted if one),
        output_tokens=sum(one["output_tokens"] for one in counted if one),
    )


# ---------------------------------------------------------------------- forms of a question


class SpokenText:
    """The raw text, chunk by chunk where somebody listens."""

    def __init__(
        self, model: BaseChatModel, messages: list[BaseMessage], live: Live | None
    ) -> None:
        self._model, self._messages, self._live = model, messages, live
        self._said = False

    def ask(self) -> Reply:
        if self._live is None:
            return Reply(message=self._model.invoke(self._messages))
        whole: Any = None
        for chunk in self._model.stream(self._messages):
            whole = self._take(whole, chunk)
        return Reply(message=whole)

    async def aask(self) -> Reply:
        if self._live is None:
            return Reply(message=await self._model.ainvoke(self._messages))
        whole: Any = None
        async for chunk in self._model.astream(self._messages):
            whole = self._take(whole, chunk)
        return Reply(message=whole)

    def begin_again(self) -> None:
        if self._said and self._live is not None:
            self._live.dropped()
        self._said = False

    def _take(self, whole: Any, chunk: Any) -> Any:
        text = str(chunk.text)
        if text and self._live is not None:
            self._said = True
            self._live.said(text)
        return chunk if whole is None else whole + chunk


class _Structured:
    """An object by schema, in the way of the provider."""

    def __init__(self, runnable: Any, messages: list[BaseMessage]) -> None:
        self._runnable, self._messages = runnable, messages

    def ask(self) -> Reply:
        return read_structured(self._runnable.invoke(self._messages))

    async def aask(self) -> Reply:
        return read_structured(await self._runnable.ainvoke(self._messages))

    def begin_again(self) -> None:
        """Nothing was told."""


class _JsonText:
    """An object as text, for a model that takes no schema."""

    def __init__(self, model: BaseChatModel, messages: list[BaseMessage], schema: Any) -> None:
        wanted = json.dumps(schema, ensure_ascii=False)
        more = HumanMessage(
            f"Answer with one JSON object by this JSON Schema, and nothing else: {wanted}"
        )
        self._model, self._messages = model, [*messages, more]

    def ask(self) -> Reply:
        return _read_json_text(self._model.invoke(self._messages))

    async def aask(self) -> Reply:
        return _read_json_text(await self._model.ainvoke(self._messages))

    def begin_again(self) -> None:
        """Nothing was told."""


def _choose_form(
    model: BaseChatModel, wanted: _Ask, live: Live | None
) -> SpokenText | _Structured | _JsonText:
    more = wanted.arguments
    if wanted.schema is None:
        return SpokenText(_bind(model, more), wanted.messages, live)
    try:
        runnable = model.with_structured_output(wanted.schema, include_raw=True, **more)
    except NotImplementedError:
        return _JsonText(_bind(model, more), wanted.messages, wanted.schema)
    return _Structured(runnable, wanted.messages)


def _bind(model: Any, arguments: Mapping[str, Any]) -> Any:
    return model.bind(**arguments) if arguments else model


def read_structured(found: Any) -> Reply:
    """What `include_raw` gives; a model that knows nothing of it gives the object alone."""
    if isinstance(found, AIMessage):
        return _read_json_text(found)
    if not isinstance(found, Mapping) or not {"raw", "parsed"} <= found.keys():
        found = {"raw": None, "parsed": found}
    raw, value = found["raw"], found["parsed"]
    message = raw if isinstance(raw, AIMessage) else None
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    problem = (
        "" if found.get("parsing_error") is None else "the answer is not of the form asked for"
    )
    return Reply(message=message, value=value, problem=problem)


def _read_json_text(message: AIMessage) -> Reply:
    text = str(message.text).strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    try:
        return Reply(message=message, value=read_json(text))
    except NotStrictJson:
        return Reply(message=message, problem="the answer is no JSON")


# ----------------------------------------------------------------------------
# One turn of a conversation with a chat model that may call tools.
#
# talk(model.bind_tools(tools), messages, rules)   ->  (AIMessage(…, tool_calls=[…]), Usage(…))


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
