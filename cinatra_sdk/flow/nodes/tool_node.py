"""Tools as nodes: a Python function that the host registered, and a tool that the caller of the flow runs.

A tool that requires confirmation asks a person first, whatever the approval policy says.

Any callable will do.  Whether it is asynchronous is read from the returned value: an object may have an
async `__call__`, and a plain function may return an awaitable.

A tool that sends something to a receiver of its own reads the key of its effect from
`cinatra_sdk.effects.current_key()`.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import Any, ClassVar, Final

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime, get_runtime

from cinatra_sdk.contract import CALL_STEP, FALLBACK_RENDERER, QUESTION_TOOL
from cinatra_sdk.data.author_json import NOTHING, Json
from cinatra_sdk.data.json_values import bring_into_json_form
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import NodeFailed, NotConfigured, ShownDiffers, ValueRefused
from cinatra_sdk.flow.plan.casts import CastError, cast, cast_result
from cinatra_sdk.flow.plan.channel_names import DECISIONS
from cinatra_sdk.flow.plan.frame import Frame, NodeBody, effect_of
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.visit.confirmation import GATE_READS, make_confirmed, open_to_edits, rejection
from cinatra_sdk.flow.visit.talk import Asked, discuss
from cinatra_sdk.gates.forms.tool_result_form import ResultForm, result_schema
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectResult
from cinatra_sdk.outside.effects.execution import aperform, perform


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(NodeWork):
    """Calls the function that the host registered under a name, with the node's inputs."""

    kind: ClassVar[str] = "ToolNode"
    acts: ClassVar[bool] = True
    tool: str
    configuration: Json = NOTHING
    """Given to a function that has a parameter of this name."""
    confirmed: bool = False
    """Whether a person confirms each call."""

    @property
    def asks_person(self) -> bool:
        return self.confirmed

    def make_body(self, site: NodeSite) -> NodeBody:
        if self.tool not in site.wiring.tools:
            raise NotConfigured(
                f"node '{site.frame.where}' calls the tool '{self.tool}', which this process was not given",
                hint="give it with tools=…, or HostParts(tools=…); at the command line, --host MODULE:FACTORY",
            )
        return _make_tool(open_to_edits(site) if self.confirmed else site, self)


def _make_tool(site: NodeSite, work: ToolCall) -> NodeBody:
    frame = site.frame
    tool = _Tool(
        name=work.tool,
        frame=frame,
        function=_configure(site.wiring.tools[work.tool], work),
        lent=tuple(site.wiring.env.values()),
    )

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        values, host = frame.gather(state), context_of(runtime.context)
        made = perform(tool.effect(state, values, host), lambda: tool.call(values), host.door)
        return frame.finish(state, _outputs_of(made))

    async def arun(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        values, host = frame.gather(state), context_of(runtime.context)
        effect = tool.effect(state, values, host)
        made = await aperform(effect, lambda: tool.acall(values), host.door)
        return frame.finish(state, _outputs_of(made))

    body = NodeBody(run=run, arun=arun, acts=True, performs=True, in_process=not work.confirmed)
    if not work.confirmed:
        return body

    def describe(state: Mapping[str, Any]) -> Effect:
        host = context_of(get_runtime(HostContext).context)
        return tool.effect(state, frame.gather(state), host)

    inputs = site.plan.inputs
    return make_confirmed(frame, body, name=site.plan.name, effect=describe, inputs=inputs)


def _configure(function: Callable[..., Any], work: ToolCall) -> Callable[..., Any]:
    """The function with the configuration of a BuiltinTool, if it takes one."""
    configuration = work.configuration.mapping()
    if not configuration:
        return function
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a function that is written in C
        return function
    if "configuration" not in taken:
        return function
    return functools.partial(function, configuration=configuration)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tool:
    """The host's function behind one node."""

    name: str
    frame: Frame
    function: Callable[..., Any]
    lent: tuple[str, ...] = field(repr=False)
    """Values of the host's placeholders."""

    def effect(self, state: Mapping[str, Any], values: dict[str, Any], host: HostContext) -> Effect:
        held = host.credentials
        return effect_of(
            self.frame,
            state,
            capability=self.name,
            arguments=values,
            secrets=(held.run_token, held.bearer_token, *self.lent),
        )

    def call(self, values: dict[str, Any]) -> EffectResult:
        # A copy: a tool that changes its arguments must not change the state of the run.
        given = copy.deepcopy(values)
        try:
            result = self.function(**given)
            if inspect.isawaitable(result):
                result = _waited_for(result)
        except GraphBubbleUp:
            raise
        except Exception as error:
            raise self._describe(error) from error
        return self._read(result)

    async def acall(self, values: dict[str, Any]) -> EffectResult:
        given = copy.deepcopy(values)
        try:
            # A plain tool may block, so it gets a thread; what it hands back is awaited here.
            if inspect.iscoroutinefunction(self.function):
                result = self.function(**given)
            else:
                result = await asyncio.to_thread(_call_without_stop, self.function, given)
            if inspect.isawaitable(result):
                result = await result
        except GraphBubbleUp:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise self._describe(error) from error  # of a task of the tool's own
        except Exception as error:
            raise self._describe(error) from error
        if isinstance(result, StopIteration):
            raise self._describe(result) from result
        return self._read(result)

    def _read(self, result: Any) -> EffectResult:
        outputs = _read_outputs(self.frame, self.name, result)
        return EffectResult(value=_remove_lent_values(self.lent, outputs))

    def _describe(self, error: BaseException) -> NodeFailed:
        # Its cause tells the door whether a later try may help; the step around the node cuts it off.
        kind = type(error).__name__
        failed = self.frame.failed(f"tool '{self.name}' raised {kind}: {error}")
        failed.raised = kind
        return failed


def _outputs_of(made: EffectResult) -> dict[str, Any]:
    assert isinstance(made.value, dict)  # made by `_read_outputs`, or stored from it
    return made.value


def _call_without_stop(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    """What the function gives; a StopIteration as a result, because a future that is to raise one
    never ends.
    """
    try:
        return function(**values)
    except StopIteration as error:
        return error


def _waited_for(pending: Awaitable[Any]) -> Any:
    """The result of `pending`, on an event loop of its own."""

    async def wait() -> Any:
        return await pending

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # The caller's loop runs in this thread and cannot run a second one.  The context goes along:
    # LangGraph keeps the config of the node in it.
    with ThreadPoolExecutor(1) as other:
        return other.submit(contextvars.copy_context().run, asyncio.run, wait()).result()


def _remove_lent_values(lent: tuple[str, ...], outputs: dict[str, Any]) -> dict[str, Any]:
    """The outputs without values of placeholders: a tool of the host may know them, too."""
    return {title: cut_out(value, lent) for title, value in outputs.items()}


def _read_outputs(frame: Frame, tool: str, result: Any) -> dict[str, Any]:
    """The tool's result as the node's outputs (Agent Spec: several outputs come as a dict).

    A tuple or list gives several outputs in their order; for a single output, a dict that has
    exactly its title is unwrapped and anything else is the value itself.
    """
    ports = frame.outputs
    if not ports:
        return {}
    try:
        result = bring_into_json_form(result, where=f"what tool '{tool}' returned")
    except ValueRefused as error:
        raise frame.failed(str(error)) from None
    result = without_governed(result, where=f"what tool '{tool}' returned")
    if len(ports) == 1:
        title = ports[0].title
        wrapped = isinstance(result, Mapping) and set(result) == {title}
        given = {title: result[title] if wrapped else result}
    elif isinstance(result, Mapping):
        given = dict(result)
    elif isinstance(result, list) and len(result) == len(ports):
        given = dict(zip((port.title for port in ports), result, strict=True))
    else:
        raise frame.failed(
            f"tool '{tool}' returned a {type(result).__name__}; it declares {say_number(len(ports), 'output')}",
            hint="return a dict keyed by output title",
        )
    return {port.title: _read_output_value(frame, tool, port, given) for port in ports}


def _read_output_value(frame: Frame, tool: str, port: TypedPort, given: Mapping[str, Any]) -> Any:
    if port.title not in given:
        if port.default is not None:
            return port.default.value()
        raise frame.failed(f"tool '{tool}' did not return output '{port.title}'")
    try:
        return cast_result(port, given[port.title])
    except CastError as error:
        raise frame.failed(f"tool '{tool}', output '{port.title}': {error}") from None


# ----------------------------------------------------------------------------
# A tool that the caller of the flow runs: the node asks for the result, and goes on with it.
#
#     asks  {"call": "look_up", "arguments": {"id": 7}}
#     told  {"name": "Ada"}            its outputs, each cast as along an edge
#           {"approved": false}        rejected: the run ends
#
# The caller has the tool and the network; the flow has the question and the answer.


State = Mapping[str, Any]
_RESULT: Final = ":result"
"""Behind the id of a gate whose call was confirmed at the gate of that id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool(NodeWork):
    """Asks the caller of the flow for the result of a tool."""

    kind: ClassVar[str] = "ClientToolNode"
    acts: ClassVar[bool] = True
    tool: str
    confirmed: bool = False
    """Whether a person confirms the call first."""

    @property
    def asks(self) -> bool:
        return True

    @property
    def asks_person(self) -> bool:
        return self.confirmed

    def make_body(self, site: NodeSite) -> NodeBody:
        if not self.confirmed:
            return make_client_tool(site.frame, tool=self.tool, name=site.plan.name)
        site = open_to_edits(site)
        return make_client_tool(
            site.frame, tool=self.tool, name=site.plan.name, confirmed=site.plan.inputs
        )


def make_client_tool(
    frame: Frame, *, tool: str, name: str, confirmed: Sequence[TypedPort] | None = None
) -> NodeBody:
    """The node that asks its caller for the result of `tool`.

    name: of the node, for people.  confirmed: the inputs of a call that a person confirms first; None:
    nobody confirms it.
    """
    asks_first = confirmed is not None
    ask_result = _make_result_gate(frame, tool=tool, name=name, confirmed=asks_first)

    def describe(state: State) -> Effect:
        held = context_of(get_runtime(HostContext).context).credentials
        return effect_of(
            frame,
            state,
            capability=tool,
            arguments=frame.gather(state),
            secrets=(held.run_token, held.bearer_token),
        )

    def run(state: State, _runtime: object) -> Any:
        if asks_first:
            effect = describe(state)
            if effect.request_sha256 != frame.shown(state):
                raise ShownDiffers(
                    f"node '{frame.where}': a person approved other arguments",
                    node=frame.id,
                    path=frame.where,
                )
        return ask_result(state)

    body = NodeBody(run=run, reads=GATE_READS, asks=True, chooses=True)
    if confirmed is None:
        return body
    return make_confirmed(frame, body, name=name, effect=describe, inputs=confirmed)


def _make_result_gate(
    frame: Frame, *, tool: str, name: str, confirmed: bool
) -> Callable[[State], Any]:
    schema = result_schema(
        {port.title: port.schema.mapping() for port in frame.outputs},
        required=[port.title for port in frame.outputs if port.default is None],
    )
    form = ResultForm(answer_schema=schema, is_question=tool == QUESTION_TOOL)

    def own_id(state: State) -> str:
        asked = gate_id(state, frame.id, frame.visit(state))
        return asked + _RESULT if confirmed else asked

    def ask(state: State) -> Question:
        return Question(
            values={"call": tool, "arguments": frame.gather(state)},
            form=form,
            schema=schema,
            renderer=FALLBACK_RENDERER,
            gate_id=own_id(state),
            visit=frame.visit(state),
        )

    def write(state: State, outcome: Outcome) -> Any:
        decided = outcome.record(own_id(state), frame.id, frame.visit(state), CALL_STEP)
        if not outcome.approved:
            question = Asked(text=f"Run {tool}", implied=True)
            return rejection(
                frame, state, outcome, decided, discuss(frame, state, question, outcome)
            )
        given = outcome.value if isinstance(outcome.value, dict) else {}
        return frame.finish(state, _cast_outputs(frame, given), more={DECISIONS: seal([decided])})

    return build_hitl_gate(
        step_number=CALL_STEP,
        node=frame.id,
        name=name or frame.id,
        risk_class=frame.risk or "read_only",
        always=True,
        ask=ask,
        write=write,
    )


def _cast_outputs(frame: Frame, given: Mapping[str, Any]) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for port in frame.outputs:
        if port.title not in given:
            outputs[port.title] = None if port.default is None else port.default.value()
            continue
        try:
            outputs[port.title] = cast(given[port.title], port.type)
        except CastError as error:
            raise frame.failed(f"the result, output '{port.title}': {error}") from None
    return outputs
