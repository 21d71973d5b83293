"""LlmNode: one prompt to a language model, and its answer as outputs; a way out that a model chooses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.data.author_json import NOTHING, Json
from cinatra_sdk.data.ports import STRING, TypedPort
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.flow.plan.casts import CastError, cast
from cinatra_sdk.flow.plan.channel_names import MESSAGES
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
from cinatra_sdk.flow.visit.talk import list_spoken, read_conversation, say
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import EffectResult, Usage
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, PlatformCall
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.models.config import ModelConfig

if TYPE_CHECKING:
    from cinatra_sdk.attachments import AttachedMessages
    from cinatra_sdk.outside.models.question import Live, ModelAnswer, ModelQuestion


CONVERSATION: Final = "conversation"
_ROLES: Final[Mapping[str, type[BaseMessage]]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmQuestion(NodeWork):
    """Asks a language model once; a single text output is the answer, other outputs come by schema."""

    kind: ClassVar[str] = "LlmNode"
    acts: ClassVar[bool] = True
    prompt: str
    """A template over the node's inputs."""
    llm: Json = field(default=NOTHING, repr=False)
    """The model and its settings: an LlmConfig of Agent Spec."""
    first_turn: Opened = None
    """Where the model is told a first turn's context before everything else."""
    attached: str = ""
    """The input with refs of files that the model is sent; empty: there is none."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_llm(site.frame, self._make_settings(site))

    def _make_settings(self, site: NodeSite) -> LlmSettings:
        model, host = read_model_settings(site.wiring, self.llm), site.wiring.host
        return LlmSettings(
            render=make_render(site.frame, self.prompt, "prompt"),
            model=model,
            files=make_files_input(
                site.frame, host, self.attached, model.config, is_asked=model.stand_in is None
            ),
            opening=make_opening(
                site.frame, host, self.first_turn, simulated=model.simulation is not None
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmMessages(LlmQuestion):
    """A question with more before the prompt, whose answer may join the conversation."""

    kind: ClassVar[str] = "ExtendedLlmNode"
    before: tuple[tuple[str, str], ...] = ()
    """(`system`, `user` or `assistant`, template), or (`conversation`, "") for what was said."""
    says: bool = False
    """Whether the answer joins the conversation."""

    def make_body(self, site: NodeSite) -> NodeBody:
        settings = replace(
            self._make_settings(site),
            before=tuple(
                MessageSettings(role=role, render=make_render(site.frame, text, "prompt"))
                for role, text in self.before
            ),
            says=self.says,
        )
        return make_llm(site.frame, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """What one LlmNode asks, and whom."""

    render: Callable[[Mapping[str, Any]], str]
    """The prompt, from the values of the inputs."""
    model: ModelSettings
    opening: FirstTurnOpening | None = None
    files: FilesInput | None = None
    before: tuple[MessageSettings, ...] = ()
    """What the model is told before the prompt, which is left out where it is empty."""
    says: bool = False
    """Whether the answer joins the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSettings:
    """One message before the prompt."""

    role: str
    """`system`, `user`, `assistant`, or `conversation` for all that was said."""
    render: Callable[[Mapping[str, Any]], str]


def make_llm(frame: Frame, settings: LlmSettings) -> NodeBody:
    """The body of an LlmNode."""
    asker = ModelAsker(frame=frame, settings=settings.model)

    def prepare(
        state: Mapping[str, Any], runtime: Runtime[HostContext], opened: str
    ) -> PreparedQuery:
        values = frame.gather(state)
        query = LlmQuery(
            frame=frame,
            outputs=frame.outputs,
            prompt=settings.render(values),
            before=tuple(_list_before(settings.before, values, state, runtime.context)),
            opened=opened,
            files=read_files(settings.files, values, runtime.context),
        )
        return asker.prepare(state, runtime.context, query)

    def leave(state: Mapping[str, Any], made: EffectResult) -> dict[str, Any]:
        outputs = _outputs_of(made)
        if not settings.says:
            return frame.finish(state, outputs)
        return frame.finish(state, outputs, more=say(frame, state, _as_text(outputs)))

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        opened = read_opening(settings.opening, state)
        asked, host = prepare(state, runtime, opened), context_of(runtime.context)
        return leave(state, perform(asked.effect, asked.answer, host.door))

    async def arun(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        opened = ""
        if settings.opening is not None:
            opened = await asyncio.to_thread(read_opening, settings.opening, state)
        asked, host = prepare(state, runtime, opened), context_of(runtime.context)
        return leave(state, await aperform(asked.effect, asked.aanswer, host.door))

    hears = any(one.role == CONVERSATION for one in settings.before)
    reads = (MESSAGES,) if hears else ()
    return NodeBody(run=run, arun=arun, reads=reads, acts=True, performs=True)


def _list_before(
    before: tuple[MessageSettings, ...],
    values: Mapping[str, Any],
    state: Mapping[str, Any],
    context: object,
) -> Iterator[BaseMessage]:
    """The messages before the prompt; empty ones but those of a person are left out."""
    for one in before:
        if one.role == CONVERSATION:
            yield from list_spoken(read_conversation(state, context))
            continue
        text = one.render(values)
        if text.strip() or one.role == "user":
            yield _ROLES[one.role](text)


def _as_text(outputs: Mapping[str, Any]) -> str:
    only = next(iter(outputs.values())) if len(outputs) == 1 else outputs
    return only if isinstance(only, str) else json.dumps(only, ensure_ascii=False)


def _outputs_of(made: EffectResult) -> dict[str, Any]:
    assert isinstance(made.value, dict)  # made by `LlmQuery`, or stored from it
    return made.value


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmQuery:
    """The prompt of one visit, and what its answer gives."""

    frame: Frame
    outputs: tuple[TypedPort, ...]
    prompt: str = field(repr=False)
    before: tuple[BaseMessage, ...] = field(default=(), repr=False)
    opened: str = field(default="", repr=False)
    """The context of a first turn, which is no part of what the query is known by."""
    files: QuestionFiles | None = None

    @property
    def declared(self) -> tuple[DeclaredOutput, ...]:
        return tuple(declare(port) for port in self.outputs)

    def describe(self, config: ModelConfig) -> JsonValue:
        asked: dict[str, JsonValue] = {"prompt": self.prompt, "model": config.capability}
        if self.before:
            asked["before"] = [[one.type, str(one.text)] for one in self.before]
        if config.parameters:
            asked["parameters"] = dict(config.parameters)
        question = self._question()
        if not question.is_text:
            asked["schema"] = question.schema
        if self.files is not None:
            asked["attachments"] = self.files.describe()
        return asked

    def ask(self, model: Any, rules: CallRetryPolicy, live: Live | None) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import ask

        question = self._question()
        if self.files is not None:
            question = _put_in(question, self.files.attach(question.messages))
        return self._read(ask(model, question, rules, live))

    async def aask(
        self, model: Any, rules: CallRetryPolicy, live: Live | None
    ) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import aask

        question = self._question()
        if self.files is not None:
            question = _put_in(question, await self.files.aattach(question.messages))
        return self._read(await aask(model, question, rules, live))

    def read_simulated(self, call: PlatformCall, response: JsonValue) -> JsonValue:
        found = declared_outputs(call, response)
        defaults = {
            port.title: port.default.value()
            for port in self.outputs
            if port.default is not None and port.title not in found
        }
        return {**found, **defaults}

    def _question(self) -> ModelQuestion:
        from cinatra_sdk.outside.models.question import ModelQuestion

        first = (SystemMessage(self.opened),) if self.opened else ()
        return ModelQuestion(
            prompt=self.prompt, outputs=self.outputs, before=(*first, *self.before)
        )

    def _read(self, answer: ModelAnswer) -> tuple[JsonValue, Usage]:
        outputs = without_governed(answer.outputs, where="what the model answered")
        values: dict[str, JsonValue] = {}
        for port in self.outputs:
            try:
                values[port.title] = cast(outputs[port.title], port.type)
            except CastError as error:
                raise self.frame.failed(
                    f"the model's answer, output '{port.title}': {error}"
                ) from None
        return values, answer.usage


def _put_in(question: ModelQuestion, files: AttachedMessages) -> ModelQuestion:
    return replace(question, attached=tuple(files.messages), arguments=files.arguments)


def declare(port: TypedPort) -> DeclaredOutput:
    """An output, as a platform that answers for the model is told of it."""
    return DeclaredOutput(
        title=port.title, schema=port.schema.mapping(), has_default=port.default is not None
    )


# ----------------------------------------------------------------------------
# A node whose way out a model chooses, by naming one of several tasks.
#
# the model says "I pick refund."   ->  {"selected_choice": "refund"}, by the branch of that task
# the model names none of them      ->  {"selected_choice": "default"}, by "default"


State = Mapping[str, Any]
DEFAULT: Final = "default"
"""The way out, and the choice, where the model names none."""
STEPS: Final = "next_steps"
"""The name of the tasks in the prompt."""
SELECTED: Final = "selected_choice"
SAID: Final = "llm_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice(NodeWork):
    """Lets a model choose the way out."""

    kind: ClassVar[str] = "PluginChoiceNode"
    acts: ClassVar[bool] = True
    prompt: str
    """A template over the node's inputs, and the tasks as `next_steps`."""
    llm: Json = field(default=NOTHING, repr=False)
    """The model and its settings: an LlmConfig of Agent Spec."""
    choices: tuple[tuple[str, str, str], ...] = ()
    """(branch, description, what the model calls the task)."""
    most_tokens: int = 7

    def make_body(self, site: NodeSite) -> NodeBody:
        model = read_model_settings(site.wiring, self.llm)
        parameters = {**model.config.parameters, "max_tokens": self.most_tokens}
        steps = [
            {"step_name": branch, "description": description, "displayed_step_name": shown}
            for branch, description, shown in self.choices
        ]
        render = make_render(site.frame, self.prompt, "prompt")

        def ask(values: Mapping[str, Any]) -> str:
            return render({**values, STEPS: steps})

        settings = ChoiceSettings(
            render=ask,
            model=replace(model, config=replace(model.config, parameters=parameters)),
            ways=tuple((shown, branch) for branch, _, shown in self.choices),
            selected=SELECTED,
            said=SAID,
        )
        return make_choice(site.frame, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSettings:
    """What the model is asked, and where each of its choices leads."""

    render: Callable[[Mapping[str, Any]], str]
    """The question, from the values of the inputs."""
    model: ModelSettings
    ways: Sequence[tuple[str, str]]
    """(what the model calls a task, branch)."""
    selected: str
    """The output with the name of the task."""
    said: str
    """The output with all that the model said."""


def make_choice(frame: Frame, settings: ChoiceSettings) -> NodeBody:
    """The body of a node whose way out a model chooses."""
    asker = ModelAsker(frame=frame, settings=settings.model)
    text = TypedPort(title=settings.said, type=STRING, schema=Json.of({"type": "string"}))

    def prepare(state: State, runtime: Runtime[HostContext]) -> PreparedQuery:
        prompt = settings.render(frame.gather(state))
        query = LlmQuery(frame=frame, outputs=(text,), prompt=prompt)
        return asker.prepare(state, runtime.context, query)

    def leave(state: State, made: EffectResult) -> dict[str, Any]:
        assert isinstance(made.value, dict)  # made by `LlmQuery`, or stored from it
        said = str(made.value[settings.said])
        name, branch = find_choice(settings.ways, said)
        outputs = {settings.selected: name, settings.said: said}
        return frame.finish(state, outputs, branch=branch)

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = prepare(state, runtime), context_of(runtime.context)
        return leave(state, perform(asked.effect, asked.answer, host.door))

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = prepare(state, runtime), context_of(runtime.context)
        return leave(state, await aperform(asked.effect, asked.aanswer, host.door))

    return NodeBody(run=run, arun=arun, acts=True, performs=True)


def find_choice(ways: Sequence[tuple[str, str]], said: str) -> tuple[str, str]:
    """The task that is named first, and its branch; of names at one place the first listed."""
    places = [(said.find(name), number) for number, (name, _) in enumerate(ways)]
    found = min(((at, number) for at, number in places if at >= 0), default=None)
    return (DEFAULT, DEFAULT) if found is None else ways[found[1]]
