"""A step of an agent: its model sees the conversation, and answers or asks for calls.

    {"text": "", "calls": [{"id": "call_1", "name": "search", "args": {"query": "bees"}}]}

The step is an effect of the kind `model`; other nodes make the calls, in turn.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.agents.summaries import Seen, list_shortenings, see
from cinatra_sdk.agents.tool_offers import SUBMIT, OfferedTool, OfferedToolbox, ResultTool
from cinatra_sdk.data.author_json import NOTHING, Json
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.ports import STRING, TypedPort
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.errors import LimitExceeded, ValueRefused
from cinatra_sdk.flow.nodes.llm_node import declare
from cinatra_sdk.flow.plan.channel_names import MESSAGES, channel_of
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.requests.allowances import make_render, read_model_settings
from cinatra_sdk.flow.requests.model_question import ModelAsker, ModelSettings, PreparedQuery
from cinatra_sdk.flow.requests.prompt_context import (
    FilesInput,
    FirstTurnOpening,
    Opened,
    QuestionFiles,
    make_files_input,
    make_opening,
    read_files,
    read_opening,
)
from cinatra_sdk.flow.visit.talk import ask_for_calls, hear, read_conversation
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.list_channels import read_record, without_seal
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Usage, hash_json
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, PlatformCall
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.tool_loop import ModelCall, bind_tools, list_calls, name_calls

if TYPE_CHECKING:
    from cinatra_sdk.outside.models.question import Live


# ----------------------------------------------------------------------------
# The conversation of a run as the model of an agent sees it.
#
# What gates say while calls of the model are open is left out: a provider wants the results of all calls
# right after the message that asked for them.


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


State = Mapping[str, Any]
NOTHING_MORE: Final[Mapping[str, Any]] = MappingProxyType({})
ANSWER: Final = "answer"
"""The output with what the model said."""
MAX_STEPS: Final = 100
"""Questions to the model of one agent in one visit of its node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStep(NodeWork):
    """Asks the model of an agent, with the conversation and the tools."""

    kind: ClassVar[str] = "AgentModelNode"
    acts: ClassVar[bool] = True
    prompt: str
    """The system prompt: a template over the node's inputs."""
    llm: Json = field(default=NOTHING, repr=False)
    """The model and its settings: an LlmConfig of Agent Spec."""
    tools: tuple[OfferedTool, ...] = ()
    toolboxes: tuple[OfferedToolbox, ...] = ()
    optional: tuple[str, ...] = ()
    """Names of tools that a model without tools can do without."""
    results: tuple[TypedPort, ...] = ()
    """What the agent has to give before it ends."""
    message: str = ""
    """The input with what the caller says; empty: there is none."""
    shortened_by: tuple[str, ...] = ()
    """The nodes that make summaries of the conversation, in their order."""
    greeting: tuple[str, str] | None = None
    """A tool and a question, with which the agent begins; the model is not asked for it."""
    first_turn: Opened = None
    """Where the model is told a first turn's context before its system prompt."""
    attached: str = ""
    """The input with refs of files that the model is sent; empty: there is none."""

    def make_body(self, site: NodeSite) -> NodeBody:
        model, host = read_model_settings(site.wiring, self.llm), site.wiring.host
        settings = AgentSettings(
            render=make_render(site.frame, self.prompt, "system prompt"),
            model=model,
            files=make_files_input(
                site.frame, host, self.attached, model.config, is_asked=model.stand_in is None
            ),
            tools=self.tools,
            toolboxes=self.toolboxes,
            shortenings=list_shortenings(site, self.shortened_by),
            results=self.results,
            message=self.message,
            greeting=self.greeting,
            optional=self.optional,
            opening=make_opening(
                site.frame, host, self.first_turn, simulated=model.simulation is not None
            ),
        )
        return make_agent_step(site.frame, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What one agent is told, and whom it asks."""

    render: Callable[[Mapping[str, Any]], str]
    """The system prompt, from the values of the inputs."""
    model: ModelSettings
    tools: tuple[OfferedTool, ...] = ()
    toolboxes: tuple[OfferedToolbox, ...] = ()
    shortenings: tuple[Seen, ...] = ()
    results: tuple[TypedPort, ...] = ()
    """What the agent has to give before it ends."""
    message: str = ""
    """The input with what the caller says; empty: there is none."""
    greeting: tuple[str, str] | None = None
    """Where nobody has spoken: a tool by which a person is asked, and what; None: the model speaks."""
    optional: tuple[str, ...] = ()
    """Names of tools that a model without tools can do without."""
    opening: FirstTurnOpening | None = None
    files: FilesInput | None = None

    def list_functions(self, state: State) -> list[dict[str, Any]]:
        """The tools as the model is told of them."""
        functions = [tool.describe() for tool in self.tools]
        for box in self.toolboxes:
            functions += [tool.describe() for tool in box.list_tools(state)]
        if needs_submit(self.results):
            functions.append(ResultTool(results=self.results).describe())
        return functions


def needs_submit(results: tuple[TypedPort, ...]) -> bool:
    """Whether the results come by a call; a single text is what the model says at last."""
    return bool(results) and not is_text(results)


def is_text(results: tuple[TypedPort, ...]) -> bool:
    return len(results) == 1 and results[0].type == STRING


def make_agent_step(frame: Frame, settings: AgentSettings) -> NodeBody:
    """The body of the node that asks the model of an agent."""
    asker = ModelAsker(frame=frame, settings=settings.model)

    def prepare(
        state: State, runtime: Runtime[HostContext], opened: str
    ) -> tuple[PreparedQuery, str]:
        if frame.visit(state) > MAX_STEPS:
            raise LimitExceeded(
                f"agent '{frame.where}' asked its model {MAX_STEPS} times without an end",
                node=frame.id,
                path=frame.where,
                hint="tell it in its prompt when to end",
            )
        values = frame.gather(state)
        said = _read_message(settings, values) if frame.visit(state) == 1 else ""
        heard = see(state, read_conversation(state, runtime.context), settings.shortenings)
        heard = [*heard, HumanMessage(said)] if said else heard
        functions = settings.list_functions(state)
        _require_names_apart(frame, functions, gives=needs_submit(settings.results))
        query = _StepQuery(
            settings=settings,
            functions=functions,
            messages=list_seen(settings.render(values), heard),
            visit=frame.visit(state),
            opened=opened,
            files=read_files(settings.files, values, runtime.context),
        )
        return asker.prepare(state, runtime.context, query), said

    def leave(state: State, said: str, answer: Any) -> dict[str, Any]:
        assert isinstance(answer, dict)  # made by `_StepQuery`, or stored from it
        spoken = hear(frame, state, said) if said else []
        spoken += ask_for_calls(frame, state, answer)
        return frame.finish(state, {ANSWER: answer}, more={MESSAGES: spoken})

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        greeting = _greet(frame, settings, state, runtime)
        if greeting is not None:
            return leave(state, "", greeting)
        asked, said = prepare(state, runtime, read_opening(settings.opening, state))
        made = perform(asked.effect, asked.answer, context_of(runtime.context).door)
        return leave(state, said, made.value)

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        greeting = _greet(frame, settings, state, runtime)
        if greeting is not None:
            return leave(state, "", greeting)
        opened = ""
        if settings.opening is not None:
            opened = await asyncio.to_thread(read_opening, settings.opening, state)
        asked, said = prepare(state, runtime, opened)
        made = await aperform(asked.effect, asked.aanswer, context_of(runtime.context).door)
        return leave(state, said, made.value)

    lists = (channel_of(box.lists) for box in settings.toolboxes)
    reads = (MESSAGES, *lists, *(one.channel for one in settings.shortenings))
    return NodeBody(run=run, arun=arun, reads=reads, acts=True, performs=True)


def _greet(
    frame: Frame, settings: AgentSettings, state: State, runtime: Runtime[HostContext]
) -> dict[str, JsonValue] | None:
    """The agent's own first question to a person, in the form of a model's answer.

    None: somebody has spoken, or the agent has no question, so its model is asked.
    """
    if settings.greeting is None or frame.visit(state) > 1:
        return None
    if read_conversation(state, runtime.context) or _read_message(settings, frame.gather(state)):
        return None
    tool, question = settings.greeting
    call: JsonValue = {"id": "call_1_greeting", "name": tool, "args": {"question": question}}
    return {"text": "", "calls": [call]}


def _require_names_apart(
    frame: Frame, functions: Sequence[Mapping[str, Any]], *, gives: bool
) -> None:
    """gives: whether the model gives results by a call.

    Raises: `NodeFailed` where a server has a tool of a name that another tool has, or of that by which
    models give results, whether this one does so or not.
    """
    names = Counter(one["function"]["name"] for one in functions)
    if names[SUBMIT] > gives:
        raise frame.failed(
            f"a server has a tool with the name '{SUBMIT}', by which a model gives results",
            hint="leave it out by the tool_filter of its toolbox",
        )
    name, times = next(iter(names.most_common(1)), ("", 0))
    if times > 1:
        raise frame.failed(
            f"the agent has {times} tools with the name '{name[:80]}'",
            hint="leave one out by the tool_filter of its toolbox",
        )


def _read_message(settings: AgentSettings, values: Mapping[str, Any]) -> str:
    said = values.get(settings.message, "") if settings.message else ""
    return said if isinstance(said, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StepQuery:
    """What the model is asked at one step."""

    settings: AgentSettings
    functions: list[dict[str, Any]]
    messages: list[BaseMessage] = field(repr=False)
    visit: int
    opened: str = field(default="", repr=False)
    """The context of a first turn, which is no part of what the query is known by."""
    files: QuestionFiles | None = None

    @property
    def declared(self) -> tuple[DeclaredOutput, ...]:
        if self.settings.results:
            return tuple(declare(port) for port in self.settings.results)
        return (DeclaredOutput(title="text", schema={"type": "string"}),)

    def describe(self, config: ModelConfig) -> JsonValue:
        """The last message in full; of those before it, which other steps sent, a hash."""
        records = [_describe_message(message) for message in self.messages]
        asked: dict[str, JsonValue] = {
            "model": config.capability,
            "conversation_sha256": hash_json(records),
            "messages": len(records),
            "last": records[-1],
            "tools": [one["function"]["name"] for one in self.functions],
        }
        if config.parameters:
            asked["parameters"] = dict(config.parameters)
        if self.files is not None:
            asked["attachments"] = self.files.describe()
        return asked

    def ask(self, model: Any, rules: CallRetryPolicy, live: Live | None) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import talk

        messages, more = self._list_told(), NOTHING_MORE
        if self.files is not None:
            attached = self.files.attach(messages)
            messages, more = attached.messages, attached.arguments
        return self._read(talk(self._bind(model, more), messages, rules, live))

    async def aask(
        self, model: Any, rules: CallRetryPolicy, live: Live | None
    ) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import atalk

        messages, more = self._list_told(), NOTHING_MORE
        if self.files is not None:
            attached = await self.files.aattach(messages)
            messages, more = attached.messages, attached.arguments
        return self._read(await atalk(self._bind(model, more), messages, rules, live))

    def read_simulated(self, call: PlatformCall, response: JsonValue) -> JsonValue:
        """`{"tool_calls": [{"name": …, "args": {…}}]}` asks for calls; else the agent's outputs."""
        asked = response.get("tool_calls") if isinstance(response, dict) else None
        if isinstance(response, dict) and isinstance(asked, list):
            calls = name_calls((one for one in asked if isinstance(one, dict)), visit=self.visit)
            return {"text": str(response.get("text") or ""), "calls": _keep_calls(calls)}
        found = declared_outputs(call, response)
        if not needs_submit(self.settings.results):
            return {"text": str(next(iter(found.values()), "")), "calls": []}
        submit = name_calls([{"name": SUBMIT, "args": found}], visit=self.visit)
        return {"text": "", "calls": _keep_calls(submit)}

    def _list_told(self) -> list[BaseMessage]:
        """The messages with the context before the system prompt, in one message."""
        if not self.opened:
            return self.messages
        prompt, *said = self.messages
        return [SystemMessage(f"{self.opened}\n{prompt.text}"), *said]

    def _bind(self, model: Any, more: Mapping[str, Any]) -> Any:
        """The model with its tools, and with what goes along beside the messages."""
        try:
            return bind_tools(model, self.functions, more)
        except NotImplementedError:
            names = {one["function"]["name"] for one in self.functions}
            if names <= {*self.settings.optional, SUBMIT}:
                return bind_tools(model, (), more)
            raise

    def _read(self, answer: tuple[AIMessage, Usage]) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import ReplyTooLarge

        message, usage = answer
        calls, bounds = list_calls(message, visit=self.visit), self.settings.model.bounds
        if len(calls) > bounds.calls:
            raise ReplyTooLarge(
                bounds.describe("calls", "one reply asks for more than {} calls of tools"), usage
            )
        return {"text": str(message.text), "calls": _keep_calls(calls)}, usage


def _keep_calls(calls: Iterable[ModelCall]) -> list[JsonValue]:
    """The calls as JSON; arguments that no run can keep are None, like those that are no JSON."""
    return [
        {"id": one["id"], "name": one["name"], "args": _keep_arguments(one["args"])}
        for one in calls
    ]


def _keep_arguments(arguments: JsonValue) -> JsonValue:
    try:
        check_value(arguments, where="the arguments")
    except ValueRefused:
        return None
    return arguments


def _describe_message(message: BaseMessage) -> JsonValue:
    record = read_record(message)
    record.pop("id", None)
    return record
