"""LlmNode: one question to a language model, as one effect of the kind `model`.

A model that the host lends answers, else the provider's own.  In a simulation without a lent model
the simulation answers, as it answers calls: `MODEL simulated/openai/gpt-5`.

The answer is kept by the ledger, so that a question is not asked again after a crash; its tokens go to
whoever listens, and are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.effects import Effect, EffectResult, aperform, perform
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.errors import NodeFailed, NotConfigured
from cinatra_sdk.events.event import RunEvent, Tell
from cinatra_sdk.events.telling import tell_event
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.flow.effects import effect_of
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.governed.keys import without_governed
from cinatra_sdk.governed.secret_forms import SHORTEST_SECRET
from cinatra_sdk.governed.secrets import cut_out, redact
from cinatra_sdk.models.choosing import ApiKeyFor, Models, ask_key, find_lent
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.models.connecting import connect_model, find_key, read_address
from cinatra_sdk.models.failures import ModelUnreachable, is_worth_retrying, read_status
from cinatra_sdk.platform.outputs import declared_outputs
from cinatra_sdk.platform.protocol import DeclaredOutput, Platform, PlatformCall

_LONGEST: Final = 300
"""Characters of a provider's error that are shown."""
_ABOUT_KEYS: Final = frozenset({401, 403})
"""Statuses whose texts may quote a part of the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """What one LlmNode asks, and whom."""

    render: Callable[[Mapping[str, Any]], str]
    """The prompt, from the values of the inputs."""
    config: ModelConfig
    models: Models = field(default=None, repr=False)
    api_key_for: ApiKeyFor = field(default=None, repr=False)
    may_call: Callable[[str], bool] = field(default=lambda _address: False, repr=False)
    """Whether the operator lets flows call an address, which the file names."""
    simulation: Platform | None = None
    """Answers where the run is simulated and no model is lent."""
    lent: tuple[str, ...] = field(default=(), repr=False)
    """Values of the host's placeholders."""


def make_llm(frame: Frame, settings: LlmSettings) -> NodeBody:
    """The body of an LlmNode."""
    node = _Llm(frame=frame, settings=settings)

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = node.prepare(state, runtime.context), context_of(runtime.context)
        made = perform(asked.effect, asked.answer, host.door)
        return frame.finish(state, _outputs_of(made))

    async def arun(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = node.prepare(state, runtime.context), context_of(runtime.context)
        made = await aperform(asked.effect, asked.aanswer, host.door)
        return frame.finish(state, _outputs_of(made))

    return NodeBody(run=run, arun=arun, acts=True, performs=True)


def _outputs_of(made: EffectResult) -> dict[str, Any]:
    assert isinstance(made.value, dict)  # made by `_Asked`, or stored from it
    return made.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Llm:
    frame: Frame
    settings: LlmSettings

    def prepare(self, state: Mapping[str, Any], context: object) -> _Asked:
        """One question of one visit.

        Raises: `NodeFailed`.
        """
        from cinatra_sdk.models.asking import ModelQuestion

        settings, host = self.settings, context_of(context)
        question = ModelQuestion(
            prompt=settings.render(self.frame.gather(state)), outputs=self.frame.outputs
        )
        config, problem, model, key = settings.config, None, None, ""
        try:
            model = find_lent(config, settings.models)
            if model is None and settings.simulation is None:
                self._require_address(config)
                key = ask_key(config, settings.api_key_for) or find_key(config)
        except NotConfigured as error:
            problem = error
        if problem is not None:
            raise self.frame.failed(problem.message, hint=problem.hint)
        simulated = model is None and settings.simulation is not None
        held = host.credentials
        secrets = (*config.secrets, key)
        effect = effect_of(
            self.frame,
            state,
            kind="model",
            capability=f"simulated/{config.capability}" if simulated else config.capability,
            arguments=_describe_question(question, config),
            secrets=(
                held.run_token,
                held.bearer_token,
                *settings.lent,
                # A word such as EMPTY, which servers without keys want, is no secret.
                *(one for one in secrets if len(one) >= SHORTEST_SECRET),
            ),
        )
        return _Asked(
            frame=self.frame,
            settings=settings,
            effect=effect,
            question=question,
            model=model,
            key=key,
            simulated=simulated,
            tell=host.tell,
        )

    def _require_address(self, config: ModelConfig) -> None:
        """Only the operator opens addresses: the prompt, with the values of the run, would go there.

        Raises: `NotConfigured`.
        """
        if config.url and not self.settings.may_call(read_address(config)):
            raise NotConfigured(
                f"the model {config.capability} is at an address that this process does not open",
                hint="add it to `allow` (--allow at the command line), or lend the model: models=…",
            )


def _describe_question(question: Any, config: ModelConfig) -> JsonValue:
    """What is asked, as the effect's arguments: the same question has the same hash."""
    asked: dict[str, JsonValue] = {"prompt": question.prompt, "model": config.capability}
    if config.parameters:
        asked["parameters"] = dict(config.parameters)
    if not question.is_text:
        asked["schema"] = question.schema
    return asked


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One question, ready to be asked."""

    frame: Frame
    settings: LlmSettings
    effect: Effect
    question: Any
    model: Any = field(repr=False)
    """The lent model; None: the simulation's, or the one to connect."""
    key: str = field(repr=False)
    simulated: bool
    tell: Tell | None = field(repr=False)

    def answer(self) -> EffectResult:
        from cinatra_sdk.models.asking import ask

        if self.simulated:
            return self._read_simulated(self._simulation().call(self._make_call()))
        failure: tuple[NodeFailed, Exception | None]
        try:
            return self._read(ask(self._model(), self.question, self._rules(), self._live()))
        except (GraphBubbleUp, NodeFailed):
            raise
        except Exception as error:  # noqa: BLE001 - a provider's client raises anything
            failure = self._describe(error)
        # Out here: in the handler it would drag the client's error along, with the request in it.
        raise failure[0] from failure[1]

    async def aanswer(self) -> EffectResult:
        from cinatra_sdk.models.asking import aask

        if self.simulated:
            return self._read_simulated(await self._simulation().acall(self._make_call()))
        failure: tuple[NodeFailed, Exception | None]
        try:
            model = self._model()
            return self._read(await aask(model, self.question, self._rules(), self._live()))
        except (GraphBubbleUp, NodeFailed):
            raise
        except Exception as error:  # noqa: BLE001 - a provider's client raises anything
            failure = self._describe(error)
        raise failure[0] from failure[1]

    def _model(self) -> Any:
        return self.model or connect_model(self.settings.config, self.key)

    def _rules(self) -> Any:
        return self.settings.config.retry

    def _simulation(self) -> Platform:
        assert self.settings.simulation is not None  # `simulated` says so
        return self.settings.simulation

    def _live(self) -> Any:
        from cinatra_sdk.models.asking import Live

        if self.tell is None:
            return None
        return Live(said=lambda text: self._tell_token("said", text), dropped=self._tell_dropped)

    def _tell_token(self, name: str, text: str = "") -> None:
        assert self.tell is not None  # see `_live`
        effect = self.effect
        data: dict[str, JsonValue] = {"text": redact(text, effect.secrets)} if text else {}
        event = RunEvent(
            kind="token", name=name, path=effect.place or effect.path, visit=effect.visit, data=data
        )
        tell_event(self.tell, event)

    def _tell_dropped(self) -> None:
        self._tell_token("dropped")

    def _read(self, answer: Any) -> EffectResult:
        outputs = without_governed(answer.outputs, where=f"what model '{self._name}' answered")
        clean = cut_out(self._cast(outputs), self.effect.secrets)
        return EffectResult(value=clean, usage=answer.usage)

    def _cast(self, outputs: Mapping[str, Any]) -> dict[str, JsonValue]:
        values: dict[str, JsonValue] = {}
        for port in self.frame.outputs:
            try:
                values[port.title] = cast(outputs[port.title], port.type)
            except CastError as error:
                raise self.frame.failed(
                    f"model '{self._name}', output '{port.title}': {error}"
                ) from None
        return values

    def _make_call(self) -> PlatformCall:
        effect = self.effect
        return PlatformCall(
            node=effect.node,
            path=effect.path,
            place=effect.place,
            method="MODEL",
            url=effect.capability,
            body=effect.arguments,
            outputs=tuple(
                DeclaredOutput(
                    title=port.title,
                    schema=port.schema.mapping(),
                    has_default=port.default is not None,
                )
                for port in self.frame.outputs
            ),
            run_id=effect.run_id,
            idempotency_key=effect.key,
            visit=effect.visit,
        )

    def _read_simulated(self, response: JsonValue) -> EffectResult:
        found = declared_outputs(self._make_call(), response)
        defaults = {
            port.title: port.default.value()
            for port in self.frame.outputs
            if port.default is not None and port.title not in found
        }
        return EffectResult(value={**found, **defaults})

    @property
    def _name(self) -> str:
        return self.effect.capability

    def _describe(self, error: Exception) -> tuple[NodeFailed, Exception | None]:
        """The node's error, and the clean one that it comes from, which says whether to try again."""
        from cinatra_sdk.models.asking import AnswerUnusable

        if isinstance(error, NotConfigured):
            return self.frame.failed(error.message, hint=error.hint), None
        if isinstance(error, AnswerUnusable):
            message = f"model '{self._name}' did not answer as asked, twice: {error}"
            return self.frame.failed(message, hint="see its prompt and its outputs"), None
        status = read_status(error)
        what = f"status {status}" if status is not None else type(error).__name__
        said = "" if status in _ABOUT_KEYS else redact(str(error), self.effect.secrets)[:_LONGEST]
        message = f"model '{self._name}' failed with {what}" + (f": {said}" if said else "")
        hint = "check its key" if status in _ABOUT_KEYS else ""
        again = is_worth_retrying(error, self._rules())
        return self.frame.failed(message, hint=hint), ModelUnreachable(what) if again else None
