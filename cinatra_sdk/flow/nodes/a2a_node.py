"""The node that speaks to an agent behind A2A, as one effect of the kind `a2a`.

    the agent answers           →  branch `next`
    the agent asks a question   →  branch `ask`, with the output `question`; the input `answer` answers it

The conversation of the run has the agent's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final

from langgraph.runtime import Runtime, get_runtime
from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, check_value, read_json
from cinatra_sdk.data.ports import STRING, TypedPort
from cinatra_sdk.data.templates.placeholders import describe_unfilled
from cinatra_sdk.errors import NodeFailed, NotConfigured, ValueRefused
from cinatra_sdk.flow.nodes.mcp_tool_node import make_simulated_call
from cinatra_sdk.flow.plan.casts import CastError, cast_result
from cinatra_sdk.flow.plan.channel_names import MESSAGES
from cinatra_sdk.flow.plan.frame import Frame, NodeBody, effect_of
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.requests.allowances import find_simulation, make_allowance, wait_for
from cinatra_sdk.flow.visit.talk import ask_for_calls, hear, read_conversation
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.a2a.message import (
    COMPLETED,
    INPUT_REQUIRED,
    AgentFailed,
    AgentLost,
    AgentWay,
    Said,
    asay,
)
from cinatra_sdk.outside.a2a.remote_agent import RemoteAgent, RemoteAgentWay
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, NotMade
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.remote_answers.foreign_answer import tell_problem
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds

State = Mapping[str, Any]
ASK: Final = "ask"
"""The branch of a question."""
QUESTION: Final = "question"
ANSWER: Final = "answer"
_TASK: Final = "task"
"""Of the record: the task of the agent, and its context, for the next message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAgentTalk(NodeWork):
    """Speaks to an agent; where the node has the branch `ask`, a person answers its questions."""

    kind: ClassVar[str] = "RemoteAgentNode"
    acts: ClassVar[bool] = True
    asks_platform: ClassVar[bool] = True
    way: RemoteAgentWay
    results: tuple[TypedPort, ...] = ()
    """What the agent has to give."""
    message: str = ""
    """The input with what the caller says; empty: the agent hears the last of the conversation."""

    def make_body(self, site: NodeSite) -> NodeBody:
        wiring, plan = site.wiring, site.plan
        settings = RemoteAgentSettings(
            agent=self.way.find_agent(plan.id, plan.name, wiring.env, wiring.host.secrets),
            may_call=make_allowance(wiring.platform, wiring.host.allow),
            bounds=wiring.host.remote_bounds,
            simulation=find_simulation(wiring.platform),
            secrets=wiring.lent_values,
            results=self.results,
            message=self.message,
            may_ask=ASK in plan.branches,
        )
        return make_remote_agent(site.frame, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAgentSettings:
    """Whom the node speaks to."""

    agent: RemoteAgent
    may_call: Callable[[str], bool]
    bounds: RemoteBounds = USUAL
    simulation: Platform | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values of the host's placeholders."""
    results: tuple[TypedPort, ...] = ()
    message: str = ""
    """The input with what the caller says; empty: the agent hears the last of the conversation."""
    may_ask: bool = False
    """Whether a question of the agent goes to a person; else it is the answer."""


def make_remote_agent(frame: Frame, settings: RemoteAgentSettings) -> NodeBody:
    """The body of the node."""
    speaker = _Speaker(frame, settings)

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        said, host = speaker.read(state, runtime.context), context_of(runtime.context)
        effect = speaker.describe(state, said)
        made = perform(effect, lambda: wait_for(lambda: speaker.amake(said, effect)), host.door)
        return speaker.leave(state, said, made)

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        said, host = speaker.read(state, runtime.context), context_of(runtime.context)
        effect = speaker.describe(state, said)
        made = await aperform(effect, lambda: speaker.amake(said, effect), host.door)
        return speaker.leave(state, said, made)

    return NodeBody(run=run, arun=arun, reads=(MESSAGES,), acts=True, performs=True)


@dataclass(frozen=True, slots=True)
class _Speaker:
    frame: Frame
    settings: RemoteAgentSettings

    def read(self, state: State, context: object) -> Said:
        """What the agent is told now.

        Raises: `NodeFailed` where there is nothing to say.
        """
        values = self.frame.gather(state)
        before = (state.get(self.frame.channel) or {}).get(_TASK)
        answer = values.pop(ANSWER, "")
        if before is not None:
            return Said(text=str(answer), task=before["task"], context=before["context"])
        title = self.settings.message
        text = values.pop(title, "") if title else ""
        if not text:
            heard = read_conversation(state, context)
            text = next((str(one.text) for one in reversed(heard) if str(one.text)), "")
        if not text and not values:
            raise self.frame.failed(
                f"there is nothing to tell the agent '{self.settings.agent.label}'",
                hint="say something before it, or give it an input",
            )
        return Said(text=str(text), data=values)

    def describe(self, state: State, said: Said) -> Effect:
        held = context_of(get_runtime(HostContext).context).credentials
        agent = self.settings.agent
        simulated = "simulated/" if self.settings.simulation is not None else ""
        return effect_of(
            self.frame,
            state,
            kind="a2a",
            capability=f"{simulated}{agent.label}",
            arguments={"message": said.text, "inputs": dict(said.data), "task": said.task},
            secrets=(held.run_token, held.bearer_token, *self.settings.secrets, *agent.secrets),
        )

    async def amake(self, said: Said, effect: Effect) -> EffectResult:
        settings = self.settings
        if settings.simulation is not None:
            call = make_simulated_call(effect, settings.results)
            found = declared_outputs(call, await settings.simulation.acall(call))
            return EffectResult(value={"state": COMPLETED, "text": "", "data": found})
        for header, name in settings.agent.list_unfilled():
            raise self.frame.failed(
                f"agent '{settings.agent.label}': {describe_unfilled(header, name)}"
            )
        way = AgentWay(agent=settings.agent, may_call=settings.may_call, bounds=settings.bounds)
        failure: tuple[NodeFailed, Exception | None]
        try:
            answer = await asay(way, said, effect.key)
            self._require_done(answer)
            return EffectResult(value=self._keep(answer, effect))
        except NotConfigured as error:
            failure = (self.frame.failed(error.message, hint=error.hint), NotMade())
        except (AgentFailed, ValueRefused) as error:
            told = tell_problem(str(error), effect.secrets)
            message = f"agent '{settings.agent.label}' failed: {told}"
            cause = error if isinstance(error, (AgentLost, NotMade)) else None
            failure = (self.frame.failed(message), cause)
        raise failure[0] from failure[1]

    def leave(self, state: State, said: Said, made: EffectResult) -> dict[str, Any]:
        answer = made.value
        assert isinstance(answer, dict)  # made by `_keep`, or stored from it
        text = str(answer.get("text") or "")
        # What came from the conversation is in it already.
        own = bool(self.settings.message and self.frame.gather(state).get(self.settings.message))
        spoken = hear(self.frame, state, said.text) if own and not said.task else []
        if text:
            spoken += ask_for_calls(self.frame, state, {"text": text, "calls": []})
        more = {MESSAGES: spoken} if spoken else {}
        if answer["state"] == INPUT_REQUIRED and self.settings.may_ask:
            out = {QUESTION: text or "The agent asks for more."}
            task = {"task": str(answer["task"]), "context": str(answer["context"])}
            update = self.frame.finish(state, out, branch=ASK, more=more)
            update[self.frame.channel][_TASK] = task
            return update
        return self.frame.finish(state, self._read_results(answer, text), more=more)

    def _require_done(self, answer: Mapping[str, JsonValue]) -> None:
        """Raises: `AgentFailed`."""
        if answer["state"] not in {COMPLETED, INPUT_REQUIRED}:
            told = f": {answer['text']}" if answer.get("text") else ""
            raise AgentFailed(f"its task is {answer['state']}{told}"[:1000])
        if answer["state"] == COMPLETED and not answer["parts"] and self.settings.results:
            raise AgentFailed("its task is completed, and it gave nothing")

    def _keep(self, answer: Mapping[str, JsonValue], effect: Effect) -> JsonValue:
        label = self.settings.agent.label
        kept = {name: value for name, value in answer.items() if name != "parts"}
        check_value(kept, where="what it answered")
        clean = without_governed(kept, where=f"what agent '{label}' answered")
        return cut_out(clean, effect.secrets)

    def _read_results(self, answer: Mapping[str, JsonValue], text: str) -> dict[str, JsonValue]:
        results = self.settings.results
        data = answer.get("data")
        given = data if isinstance(data, dict) and data else None
        if not results:
            return {}
        if given is None and len(results) == 1 and results[0].type == STRING:
            return {results[0].title: text}
        if given is None:
            given = self._read_text(text)
        return {port.title: self._read_member(port, given) for port in results}

    def _read_text(self, text: str) -> dict[str, JsonValue]:
        try:
            found = read_json(text)
        except NotStrictJson:
            found = None
        if not isinstance(found, dict):
            titles = ", ".join(port.title for port in self.settings.results)
            label = self.settings.agent.label
            raise self.frame.failed(f"agent '{label}' gave no data with the outputs {titles}")
        return found

    def _read_member(self, port: TypedPort, given: Mapping[str, JsonValue]) -> JsonValue:
        label = self.settings.agent.label
        if port.title not in given:
            if port.default is not None:
                return port.default.value()
            raise self.frame.failed(f"agent '{label}' did not give the output '{port.title}'")
        try:
            found: JsonValue = cast_result(port, given[port.title])
        except CastError as error:
            raise self.frame.failed(f"agent '{label}', output '{port.title}': {error}") from None
        return found
