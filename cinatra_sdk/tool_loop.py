"""The loop of a model and its tools, as pure steps: the calls of one reply, and the words of tools.

    describe_function("search", "Finds texts.", schema)    a tool as the model is told of it

    calls = list_calls(message, visit=2)     [{"id": "call_1", "name": "search", "args": {"query": "bees"}}, …]
    for step in walk_calls(calls, tools):
        DueCall(index=0, call=…, tool=…, arguments={"query": "bees"})      made by whoever runs the loop
        UnmadeCall(call=…, why="unknown", problem="the tools are: …")      told to the model

A loop whose calls are made elsewhere keeps the index of the call and walks on behind it (`first`).

Two doors take these steps, each with a state of its own: the nodes of an agent (`agents/`), where a call
is a visit of another node and may wait for a person, and the route of the language model (`host/bridge/`),
where a conversation is one request.
A governed run (`governance/loop/`) holds no conversation: its planner gives a whole plan, which is judged
before anything is called.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypedDict, TypeVar

from pydantic import JsonValue

from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


class ModelCall(TypedDict):
    """One call that a model asks for."""

    id: str
    name: str
    """Of the tool, as the model writes it."""
    args: JsonValue
    """None where they are no JSON."""


def list_calls(message: AIMessage, *, visit: int) -> list[ModelCall]:
    """All calls of a reply; those whose arguments are no JSON come last, as providers are sent them."""
    broken = ({**call, "args": None} for call in message.invalid_tool_calls)
    return name_calls([*message.tool_calls, *broken], visit=visit)


def name_calls(given: Iterable[Mapping[str, Any]], *, visit: int) -> list[ModelCall]:
    """The calls of one reply, each with an id of its own: results are told under it.  One without an id, or
    with that of a call before it, gets that of its place in the loop.

    visit: how often the model was asked by now, from 1.
    """
    listed = [*given]
    taken = {str(one["id"]) for one in listed if one.get("id")}
    calls: list[ModelCall] = []
    seen: set[str] = set()
    for index, one in enumerate(listed):
        name = str(one.get("id") or "")
        if not name or name in seen:
            name = _make_id(f"call_{visit}_{index}", taken)
            taken.add(name)
        seen.add(name)
        calls.append(ModelCall(id=name, name=str(one.get("name") or ""), args=one.get("args")))
    return calls


def _make_id(wanted: str, taken: Collection[str]) -> str:
    """`call_1_0`; where a model has given that to another call, `call_1_0_2`."""
    names = chain([wanted], (f"{wanted}_{number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def set_ids(message: AIMessage, calls: Sequence[ModelCall]) -> AIMessage:
    """The reply with the ids of its calls, as `list_calls` has them; the same one where it has them.

    What a provider sent beside its text is left out of another one: it names the calls by their old ids.
    """
    asked = [*message.tool_calls, *message.invalid_tool_calls]
    if [one.get("id") for one in asked] == [call["id"] for call in calls]:
        return message
    named = [{**one, "id": call["id"]} for one, call in zip(asked, calls, strict=True)]
    sound = len(message.tool_calls)
    return message.model_copy(
        update={
            "content": str(message.text),
            "additional_kwargs": {},
            "tool_calls": named[:sound],
            "invalid_tool_calls": named[sound:],
        }
    )


class ArgumentsUnusable(ValueError):
    """Arguments that a model gave and that the tool does not take; says why, for the model."""


def require_object(given: JsonValue) -> dict[str, JsonValue]:
    """The arguments that a model gave.  Raises: `ArgumentsUnusable`."""
    if not isinstance(given, dict):
        raise ArgumentsUnusable("the arguments are no JSON object")
    return given


def require_schema(schema: Mapping[str, Any], given: JsonValue) -> dict[str, JsonValue]:
    """The arguments, as the tool's JSON Schema wants them.  Raises: `ArgumentsUnusable`."""
    found = require_object(given)
    problem = first_problem(schema, found)
    if problem:
        raise ArgumentsUnusable(f"the arguments do not fit: {problem}")
    return found


class LoopTool(Protocol):
    """A tool as the loop knows it."""

    @property
    def ends(self) -> str:
        """Why calls after one of this tool are not made; empty: they are."""
        ...

    def read_arguments(self, given: JsonValue, /) -> dict[str, JsonValue]:
        """What the call is made with.  Raises: `ArgumentsUnusable`."""
        ...


ToolT = TypeVar("ToolT", bound=LoopTool)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCall(Generic[ToolT]):
    """The call to be made now."""

    index: int
    """In the reply."""
    call: ModelCall
    tool: ToolT
    arguments: dict[str, JsonValue] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmadeCall:
    """A call that is not made, which the model is told."""

    call: ModelCall
    why: Literal["unknown", "unusable", "late"]
    """There is no such tool; it takes no such arguments; a call before it ended the loop."""
    problem: str
    """The tools that there are; what is wrong with the arguments; what ended the loop."""


def walk_calls(
    calls: Sequence[ModelCall],
    tools: Mapping[str, ToolT],
    *,
    offered: Iterable[str] | None = None,
    first: int = 0,
) -> Iterator[DueCall[ToolT] | UnmadeCall]:
    """The calls in their order, each judged when its turn comes.

    offered: names that a model hears of which asks for an unknown tool; None: all.
    first: index of the first call that was not walked over before.
    """
    for index in range(first, len(calls)):
        step = _judge(index, calls[index], tools, offered)
        yield step
        if isinstance(step, DueCall) and step.tool.ends:
            for call in calls[index + 1 :]:
                yield UnmadeCall(call=call, why="late", problem=step.tool.ends)
            return


def _judge(
    index: int, call: ModelCall, tools: Mapping[str, ToolT], offered: Iterable[str] | None
) -> DueCall[ToolT] | UnmadeCall:
    tool = tools.get(call["name"])
    if tool is None:
        names = ", ".join(tools if offered is None else offered) or "none"
        return UnmadeCall(call=call, why="unknown", problem=f"the tools are: {names}")
    try:
        arguments = tool.read_arguments(call["args"])
    except ArgumentsUnusable as error:
        return UnmadeCall(call=call, why="unusable", problem=str(error))
    return DueCall(index=index, call=call, tool=tool, arguments=arguments)


def describe_function(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The tool in the form that every chat model of LangChain's takes.

    description: empty: the name stands for it, since providers refuse a tool without one.
    parameters: JSON Schema of an object with the arguments.
    """
    about = {"name": name, "description": description or name, "parameters": dict(parameters)}
    return {"type": "function", "function": about}


def bind_tools(
    model: Any, functions: Sequence[Mapping[str, Any]], arguments: Mapping[str, Any]
) -> Any:
    """The model with its tools, and with what goes along beside the messages.

    Raises: `NotImplementedError` for a model that takes no tools.
    """
    if functions:
        return model.bind_tools(list(functions), **arguments)
    return model.bind(**arguments) if arguments else model


def format_result(value: Any) -> str:
    """What a tool gave, as the model reads it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
