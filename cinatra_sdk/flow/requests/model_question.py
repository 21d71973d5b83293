"""One question to a language model, as one effect of the kind `model`: for every node that asks a model.

A model that the host lends answers, else the model that the file names.  In a simulation without a lent
model the simulation answers, as it answers calls: `MODEL simulated/openai/gpt-5`.

The ledger stores the answer, so that a crash does not repeat the question.  Its tokens go to the
watchers of the run, and are not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol

from langgraph.errors import GraphBubbleUp
from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.errors import NodeFailed, NotConfigured
from cinatra_sdk.events import RunEvent, Tell, tell_event
from cinatra_sdk.flow.plan.frame import Frame, effect_of
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import SHORTEST_SECRET, cut_out, redact
from cinatra_sdk.langgraph_threads.host_context import context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, Usage
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, Platform, PlatformCall
from cinatra_sdk.outside.models.attempts import ModelUnreachable, is_worth_retrying, read_status
from cinatra_sdk.outside.models.clients import (
    ApiKeyFor,
    Models,
    ask_key,
    connect_model,
    find_key,
    find_lent,
    read_address,
)
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.remote_answers.foreign_answer import tell_problem
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds

if TYPE_CHECKING:
    from cinatra_sdk.outside.models.question import Live


_ABOUT_KEYS: Final = frozenset({401, 403})
"""Statuses whose texts may quote a part of the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which model a node asks, and who opens the way to it."""

    config: ModelConfig
    models: Models = field(default=None, repr=False)
    api_key_for: ApiKeyFor = field(default=None, repr=False)
    may_call: Callable[[str], bool] = field(default=lambda _address: False, repr=False)
    """Whether the operator lets flows call an address, which the file names."""
    stand_in: Any = field(default=None, repr=False)
    """Answers where no model is lent: a script of the platform; None: the config's own model does."""
    simulation: Platform | None = None
    """Answers where the run is simulated and no model is lent."""
    lent: tuple[str, ...] = field(default=(), repr=False)
    """Values of the host's placeholders."""
    bounds: RemoteBounds = USUAL


class ModelQuery(Protocol):
    """What one visit of a node asks, in the way of its node."""

    @property
    def declared(self) -> tuple[DeclaredOutput, ...]:
        """What the answer gives: a simulation makes it up from this."""
        ...

    def describe(self, config: ModelConfig) -> JsonValue:
        """What is asked, as the effect's arguments: the same query has the same hash."""
        ...

    def ask(self, model: Any, rules: CallRetryPolicy, live: Live | None) -> tuple[JsonValue, Usage]:
        """The answer as the effect's value, with the cost of it; raises anything."""
        ...

    async def aask(
        self, model: Any, rules: CallRetryPolicy, live: Live | None
    ) -> tuple[JsonValue, Usage]:
        """As `ask`, for an event loop."""
        ...

    def read_simulated(self, call: PlatformCall, response: JsonValue) -> JsonValue:
        """What a simulation answers, as the effect's value."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsker:
    """Asks one model for one node."""

    frame: Frame
    settings: ModelSettings

    def prepare(
        self, state: Mapping[str, Any], context: object, query: ModelQuery
    ) -> PreparedQuery:
        """One query of one visit.

        Raises: `NodeFailed`.
        """
        settings, host = self.settings, context_of(context)
        config, problem, model, key = settings.config, None, None, ""
        try:
            model = find_lent(config, settings.models) or settings.stand_in
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
            arguments=query.describe(config),
            secrets=(
                held.run_token,
                held.bearer_token,
                *settings.lent,
                # A word such as EMPTY, which servers without keys want, is no secret.
                *(one for one in secrets if len(one) >= SHORTEST_SECRET),
            ),
        )
        return PreparedQuery(
            frame=self.frame,
            settings=settings,
            effect=effect,
            query=query,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuery:
    """One query, ready to be asked."""

    frame: Frame
    settings: ModelSettings
    effect: Effect
    query: ModelQuery
    model: Any = field(repr=False)
    """The lent model; None: the simulation's, or the one to connect."""
    key: str = field(repr=False)
    simulated: bool
    tell: Tell | None = field(repr=False)

    def answer(self) -> EffectResult:
        if self.simulated:
            return self._read_simulated(self._simulation().call(self._make_call()))
        failure: tuple[NodeFailed, Exception | None]
        try:
            return self._keep(*self.query.ask(self._model(), self._rules(), self._live()))
        except (GraphBubbleUp, NodeFailed):
            raise
        except Exception as error:  # noqa: BLE001 - a provider's client raises anything
            failure = self._describe(error)
        # Out here: in the handler it would drag the client's error along, with the request in it.
        raise failure[0] from failure[1]

    async def aanswer(self) -> EffectResult:
        if self.simulated:
            return self._read_simulated(await self._simulation().acall(self._make_call()))
        failure: tuple[NodeFailed, Exception | None]
        try:
            return self._keep(*await self.query.aask(self._model(), self._rules(), self._live()))
        except (GraphBubbleUp, NodeFailed):
            raise
        except Exception as error:  # noqa: BLE001 - a provider's client raises anything
            failure = self._describe(error)
        raise failure[0] from failure[1]

    def _model(self) -> Any:
        return self.model or connect_model(self.settings.config, self.key)

    def _rules(self) -> CallRetryPolicy:
        return self.settings.config.retry

    def _simulation(self) -> Platform:
        assert self.settings.simulation is not None  # `simulated` says so
        return self.settings.simulation

    def _live(self) -> Live | None:
        if self.tell is None:
            return None
        from cinatra_sdk.outside.models.question import Live

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

    def _keep(self, value: JsonValue, usage: Usage) -> EffectResult:
        where = f"what model '{self._name}' answered"
        check_value(value, where=where)
        clean = without_governed(value, where=where)
        return EffectResult(value=cut_out(clean, self.effect.secrets), usage=usage)

    def _make_call(self) -> PlatformCall:
        effect = self.effect
        return PlatformCall(
            node=effect.node,
            path=effect.path,
            place=effect.place,
            method="MODEL",
            url=effect.capability,
            body=effect.arguments,
            outputs=self.query.declared,
            run_id=effect.run_id,
            idempotency_key=effect.key,
            visit=effect.visit,
        )

    def _read_simulated(self, response: JsonValue) -> EffectResult:
        return EffectResult(value=self.query.read_simulated(self._make_call(), response))

    @property
    def _name(self) -> str:
        return self.effect.capability

    def _describe(self, error: Exception) -> tuple[NodeFailed, Exception | None]:
        """The node's error, and the clean one that it comes from, which says whether to try again."""
        from cinatra_sdk.outside.models.question import (
            AnswerUnusable,
            PartlyAnswered,
            ReplyTooLarge,
        )

        if isinstance(error, PartlyAnswered):
            failed, cause = self._describe(error.error)
            failed.used = error.usage
            return failed, cause
        if isinstance(error, NotConfigured):
            return self.frame.failed(error.message, hint=error.hint), None
        if isinstance(error, (AnswerUnusable, ReplyTooLarge)):
            twice = isinstance(error, AnswerUnusable)
            message = (
                f"model '{self._name}'{' did not answer as asked, twice' if twice else ''}: {error}"
            )
            failed = self.frame.failed(
                message, hint="see its prompt and its outputs" if twice else ""
            )
            failed.used = error.usage
            return failed, None
        status = read_status(error)
        what = f"status {status}" if status is not None else type(error).__name__
        said = "" if status in _ABOUT_KEYS else tell_problem(str(error), self.effect.secrets)
        message = f"model '{self._name}' failed with {what}" + (f": {said}" if said else "")
        hint = "check its key" if status in _ABOUT_KEYS else ""
        again = is_worth_retrying(error, self._rules())
        return self.frame.failed(message, hint=hint), ModelUnreachable(what) if again else None
