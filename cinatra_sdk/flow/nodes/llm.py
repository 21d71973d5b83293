"""LlmNode: one prompt to a language model, its answer as the node's outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.effects import EffectResult, aperform, perform
from cinatra_sdk.effects.effect import Usage
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.lent import make_render, read_model_settings
from cinatra_sdk.flow.model_effects import ModelAsker, ModelSettings, PreparedQuery
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.governed.keys import without_governed
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.platform.outputs import declared_outputs
from cinatra_sdk.platform.protocol import DeclaredOutput, PlatformCall
from cinatra_sdk.values.json_text import NOTHING, Json
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.retry_policy import CallRetryPolicy

if TYPE_CHECKING:
    from cinatra_sdk.models.asking import Live, ModelAnswer, ModelQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmQuestion(NodeWork):
    """Asks a language model once; a single text output is what it says, others come by schema."""

    kind: ClassVar[str] = "LlmNode"
    acts: ClassVar[bool] = True
    prompt: str
    """A template over the node's inputs."""
    llm: Json = NOTHING
    """The model and its settings: an LlmConfig of Agent Spec."""

    def make_body(self, site: NodeSite) -> NodeBody:
        settings = LlmSettings(
            render=make_render(site.frame, self.prompt, "prompt"),
            model=read_model_settings(site.wiring, self.llm),
        )
        return make_llm(site.frame, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """What one LlmNode asks, and whom."""

    render: Callable[[Mapping[str, Any]], str]
    """The prompt, from the values of the inputs."""
    model: ModelSettings


def make_llm(frame: Frame, settings: LlmSettings) -> NodeBody:
    """The body of an LlmNode."""
    asker = ModelAsker(frame=frame, settings=settings.model)

    def prepare(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> PreparedQuery:
        query = _LlmQuery(frame=frame, prompt=settings.render(frame.gather(state)))
        return asker.prepare(state, runtime.context, query)

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = prepare(state, runtime), context_of(runtime.context)
        return frame.finish(state, _outputs_of(perform(asked.effect, asked.answer, host.door)))

    async def arun(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = prepare(state, runtime), context_of(runtime.context)
        made = await aperform(asked.effect, asked.aanswer, host.door)
        return frame.finish(state, _outputs_of(made))

    return NodeBody(run=run, arun=arun, acts=True, performs=True)


def _outputs_of(made: EffectResult) -> dict[str, Any]:
    assert isinstance(made.value, dict)  # made by `_LlmQuery`, or stored from it
    return made.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _LlmQuery:
    """The prompt of one visit."""

    frame: Frame
    prompt: str = field(repr=False)

    @property
    def declared(self) -> tuple[DeclaredOutput, ...]:
        return tuple(declare(port) for port in self.frame.outputs)

    def describe(self, config: ModelConfig) -> JsonValue:
        asked: dict[str, JsonValue] = {"prompt": self.prompt, "model": config.capability}
        if config.parameters:
            asked["parameters"] = dict(config.parameters)
        question = self._question()
        if not question.is_text:
            asked["schema"] = question.schema
        return asked

    def ask(self, model: Any, rules: CallRetryPolicy, live: Live | None) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.models.asking import ask

        return self._read(ask(model, self._question(), rules, live))

    async def aask(
        self, model: Any, rules: CallRetryPolicy, live: Live | None
    ) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.models.asking import aask

        return self._read(await aask(model, self._question(), rules, live))

    def read_simulated(self, call: PlatformCall, response: JsonValue) -> JsonValue:
        found = declared_outputs(call, response)
        defaults = {
            port.title: port.default.value()
            for port in self.frame.outputs
            if port.default is not None and port.title not in found
        }
        return {**found, **defaults}

    def _question(self) -> ModelQuestion:
        from cinatra_sdk.models.asking import ModelQuestion

        return ModelQuestion(prompt=self.prompt, outputs=self.frame.outputs)

    def _read(self, answer: ModelAnswer) -> tuple[JsonValue, Usage]:
        outputs = without_governed(answer.outputs, where="what the model answered")
        values: dict[str, JsonValue] = {}
        for port in self.frame.outputs:
            try:
                values[port.title] = cast(outputs[port.title], port.type)
            except CastError as error:
                raise self.frame.failed(
                    f"the model's answer, output '{port.title}': {error}"
                ) from None
        return values, answer.usage


def declare(port: TypedPort) -> DeclaredOutput:
    """An output, as a platform that answers for the model is told of it."""
    return DeclaredOutput(
        title=port.title, schema=port.schema.mapping(), has_default=port.default is not None
    )
