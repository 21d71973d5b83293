"""Drives a flow in memory and returns the result."""

from __future__ import annotations

import asyncio
import os
import queue
import re
import uuid
from collections.abc import (
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StateSnapshot
from pydantic import JsonValue

from cinatra_sdk.activations import Graph, advance
from cinatra_sdk.contract import RUN_ID_INPUTS, Status
from cinatra_sdk.data.schema.samples import sample
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import AnswerInvalid, FlowError, GateChanged, InputInvalid
from cinatra_sdk.flow.nodes.failure_nodes import TellsErrors
from cinatra_sdk.flow.nodes.start_and_end import Start
from cinatra_sdk.flow.nodes.tool_node import ToolCall
from cinatra_sdk.flow.plan.plan import FlowPlan, NodePlan, NodeWork, walk_plan_paths
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.dialects import has_named, is_whole_answer, is_worded, says_decision
from cinatra_sdk.gates.forms.approval_forms import ForeignForm
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.forms.tool_result_form import ResultForm
from cinatra_sdk.gates.gate import Gate, label
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.list_channels import read_records, without_seals
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformError
from cinatra_sdk.outside.http_calls.simulation import RecordedCall, SimulatedPlatform
from cinatra_sdk.runs import OnEvent
from cinatra_sdk.testing.doubles import Recorder

# ----------------------------------------------------------------------------
# The answers that a test gives, matched with the gates that ask.
#
# A key names a gate as `result.gates` prints it, with as much of its place as the test needs:
#
#     review             every visit of the node `review`, at any depth
#     sub/review         every visit of it in `sub`
#     each/ask           each element of a map or branch of a parallel node; `each[3]/ask`: of one
#     sub/review#2       its second visit; the most exact key counts


_VISIT: Final = re.compile(r"#\d+")
_ITEM: Final = re.compile(r"\[\d+\]")
AnswerLike: TypeAlias = "Decision | JsonValue"
"""A Decision, True, False, a JSON value to approve with, or a whole answer as a resumed graph takes it:
`{"approved": False, "reason": "…"}`, `{"userResponse": "…"}`, `{"decisions": […]}`, or a list of
agent-inbox, `[{"type": "accept", "args": None}]`.
"""


Answers: TypeAlias = "Sequence[AnswerLike] | Mapping[str, AnswerLike | list[AnswerLike]] | Callable[[Gate], AnswerLike]"


class Answering:
    """The answers given to `drive`, one per gate."""

    def __init__(self, answers: Answers | None) -> None:
        """Raises: `AnswerInvalid` for answers of a shape that says not which gate each is for."""
        _require_shape(answers)
        self._answers = answers
        self._used: dict[str, int] = {}
        self.asked: list[Gate] = []
        """Every gate, in order."""

    def require_known_keys(
        self, names: _Names, *, is_sure: bool, reached: Collection[str] = ()
    ) -> None:
        """Raise `AnswerInvalid` for a key that names no gate of the flow, and none that has asked.

        is_sure: whether no gate can ask but those of `names`; else a node is refused that cannot ask,
                 and no unknown name.
        reached: ids and paths of functions that were called: one that has asked nobody is no gate.
        """
        if not isinstance(self._answers, Mapping):
            return
        asked = {name for gate in self.asked for name in _list_names(gate)}
        gates, functions = names.gates | asked, names.functions - set(reached) - asked
        known = gates | functions
        for key in self._answers:
            name = str(key)
            place = _without_place(name)
            if name in known or place in known:
                continue
            is_node = place in names.nodes
            if is_node or is_sure:
                raise _build_unknown_key(name, gates, is_node=is_node, answers=self._answers)

    def __call__(self, gate: Gate) -> Mapping[str, JsonValue] | list[Any] | None:
        if not self.asked or self.asked[-1].id != gate.id:
            self.asked.append(gate)
        found, answer = self._find_answer(gate)
        if not found:
            return None
        if _stands_alone(gate, answer):
            # The same reader as of a graph that is resumed with it.
            whole: Any = answer
            if isinstance(answer, Mapping):
                whole = {**answer, "by": answer.get("by") or "drive"}
            gate.read(whole)
            return whole  # type: ignore[no-any-return]  # an object or a list
        _refuse_ambiguous(gate, answer)
        decision = Decision.of(answer, by="drive")
        gate.check(decision)
        return decision.wire()

    def _find_answer(self, gate: Gate) -> tuple[bool, Any]:
        answers = self._answers
        if answers is None:
            return False, None
        if callable(answers):
            return True, answers(gate)
        if not isinstance(answers, Mapping):
            return self._take_next_answer("", answers)
        key = next((name for name in _list_names(gate) if name in answers), None)
        if key is None:
            return False, None
        mine = answers[key]
        return self._take_next_answer(key, mine) if isinstance(mine, list) else (True, mine)

    def _take_next_answer(self, key: str, answers: Sequence[Any]) -> tuple[bool, Any]:
        position = self._used.get(key, 0)
        if position >= len(answers):
            return False, None
        self._used[key] = position + 1
        return True, answers[position]


def _require_shape(answers: object) -> None:
    """Raise `AnswerInvalid` unless answers stand in their order, by gate, or in a function."""
    if answers is None or callable(answers):
        return
    if isinstance(answers, (str, bytes, bool, int, float, Decision)) or not isinstance(
        answers, (list, tuple, Mapping)
    ):
        raise AnswerInvalid(
            f"answers is {_describe_shape(answers)}, and does not say which gate it is for",
            hint="give a list with one answer for each gate, [True]; an object by gate, "
            "{'review': True}; or a function of the gate, lambda gate: True",
        )
    listed = answers.items() if isinstance(answers, Mapping) else [("", answers)]
    for key, mine in listed:
        if isinstance(answers, Mapping) and not isinstance(key, str):
            raise AnswerInvalid(
                f"a key of answers is {_describe_shape(key)}, not the id of a gate",
                hint="give the gates' ids as texts",
            )
        if isinstance(mine, (list, tuple)) and any(map(is_worded, mine)):
            where = f" of '{key[:200]}'" if key else ""
            raise AnswerInvalid(
                f"the list{where} is one answer in the words of another client, and a list in answers "
                "holds one answer for each gate or visit",
                hint="give a list around it: [[{'type': 'accept', 'args': None}]]; or, as data for "
                "the flow, Decision.approve(value=…)",
            )


def _describe_shape(value: object) -> str:
    if isinstance(value, (bool, type(None))):
        return repr(value)
    kinds = {str: "a text", int: "a number", float: "a number", Decision: "one Decision"}
    return kinds.get(type(value), f"of the type {type(value).__name__}")


def _stands_alone(gate: Gate, answer: object) -> bool:
    """Whether an answer is a whole one, which the gate's own reader takes or refuses; not where it is
    the very value that the author, or the code that paused, asks for.
    """
    form = gate.form
    if not is_whole_answer(answer) or isinstance(form, ForeignForm):
        return False
    if isinstance(form, ResultForm) and not form.is_question:
        return isinstance(answer, Mapping) and "approved" in answer
    schema = form.value_schema if isinstance(form, SchemaForm) else form.fields_schema
    says_no = isinstance(answer, Mapping) and answer.get("approved") is False
    return says_no or not has_named(answer, schema)


def _build_unknown_key(
    name: str, gates: Collection[str], *, is_node: bool, answers: object
) -> AnswerInvalid:
    nearest = did_you_mean(name, gates) or _describe_gates(gates)
    if is_node:
        return AnswerInvalid(
            f"answers names '{name[:200]}', a node that asks nobody: no gate of the flow is called so",
            hint=nearest,
        )
    hint = f"{nearest}; one answer alone stands in a list: [{{…}}]" if is_whole_answer(answers) else nearest  # fmt: skip
    return AnswerInvalid(
        f"answers names '{name[:200]}', and no gate of the flow is called so", hint=hint
    )


def _refuse_ambiguous(gate: Gate, answer: object) -> None:
    """Refuse a text such as "reject", unless the gate asks a question whose answer it is.

    Raises: `AnswerInvalid`.
    """
    any_fits = isinstance(gate.form, ForeignForm) and gate.form.actions == 0
    if any_fits or not says_decision(answer):
        return
    try:
        gate.read(answer)
    except AnswerInvalid:
        raise AnswerInvalid(
            f"gate '{gate.id}': '{answer}' alone may be a decision as well as a text",
            hint="give False to reject, True to approve, or "
            "Decision.approve(value=…) to approve with the text",
        ) from None


def _list_names(gate: Gate) -> tuple[str, ...]:
    """What a test may call the gate, the most exact name first."""
    return gate.id, _VISIT.sub("", gate.id), _without_place(gate.id), gate.node


def _without_place(name: str) -> str:
    """An id without visits and items; those of a node's own id are escaped."""
    return _ITEM.sub("", _VISIT.sub("", name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What the nodes of a flow may be called: by id, and by path without visits and items."""

    gates: frozenset[str]
    """Those that ask a person, or may have to."""
    functions: frozenset[str]
    """Those that run code of other people, which may pause by itself."""
    nodes: frozenset[str]
    """All of them."""

    @classmethod
    def of(cls, plan: FlowPlan, *, is_governed: bool) -> _Names:
        """is_governed: whether the rules of a pack may have a person asked before any call."""
        gates, functions, nodes = set[str](), set[str](), set[str]()
        for path, node in walk_plan_paths(plan):
            names = {
                node.id,
                "/".join(label(part, 1) for part in path if not _ITEM.fullmatch(part)),
            }
            nodes |= names
            if _may_ask(node, is_outermost=len(path) == 1, is_governed=is_governed):
                gates |= names
            elif _runs_others_code(node.work):
                functions |= names
        # An id may stand in several flows: then one of its nodes is enough.
        return cls(
            gates=frozenset(gates), functions=frozenset(functions - gates), nodes=frozenset(nodes)
        )


def _may_ask(node: NodePlan, *, is_outermost: bool, is_governed: bool) -> bool:
    work = node.work
    if isinstance(work, Start):  # the outermost one asks for inputs that the run lacks
        return is_outermost and bool(work.required)
    return work.asks or work.asks_person or (work.acts and is_governed)


def _runs_others_code(work: NodeWork) -> bool:
    """Whether a node runs a function of the host, or is one of a package."""
    own = work.work if isinstance(work, TellsErrors) else work
    return isinstance(own, ToolCall) or not type(own).__module__.startswith("cinatra_sdk.")


def _describe_gates(known: Collection[str]) -> str:
    return f"its gates: {', '.join(sorted(known)[:10])}" if known else "it has no gate"


# ----------------------------------------------------------------------------
# The protocol of a flow that can be driven, its simulated platform and its sampled inputs.


class DrivableFlow(Protocol):
    """The members of a flow that `drive` needs; `oas_compiler.Flow` implements this protocol."""

    @property
    def plan(self) -> FlowPlan: ...
    @property
    def tools(self) -> Mapping[str, Callable[..., Any]]: ...
    @property
    def input_schema(self) -> dict[str, JsonValue]: ...
    def with_host(
        self, *, platform: Platform, tools: Mapping[str, Callable[..., Any]]
    ) -> DrivableFlow: ...
    def graph(self, checkpointer: Any = None) -> Graph: ...
    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]: ...
    def config(self, *, run_id: str) -> RunnableConfig: ...
    def context(self, *, run_id: str = "") -> HostContext: ...
    @property
    def steering(self) -> dict[str, JsonValue]: ...


def simulation(
    flow: DrivableFlow,
    stubs: Mapping[str, JsonValue] | None = None,
    *,
    record: str | os.PathLike[str] | None = None,
) -> SimulatedPlatform:
    """A simulation of `flow` that answers every call, with answers that lead past gates where
    possible.

    A stub that matches a call, by path, id or url suffix, replaces the chosen answer of that call.
    """
    return SimulatedPlatform(stubs, record=record, fallback=flow.steering)


def sampled_inputs(flow: DrivableFlow) -> dict[str, JsonValue]:
    """Made-up values for inputs that have no default and that no gate asks a person for.

    The run's own id is never made up: only the host sets it.
    """
    schema: Any = flow.input_schema
    return {
        title: sample(part, name=title)
        for title, part in schema["properties"].items()
        if title not in RUN_ID_INPUTS
        and "default" not in part
        and (part.get("x-hidden") or title not in schema["required"])
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a driven run."""

    status: Status
    """`waiting` when an answer was lacking, `failed` when a node failed."""
    outputs: Mapping[str, JsonValue] | None = None
    branch: str | None = None
    """The branch name of the EndNode that was reached."""
    messages: tuple[str, ...] = ()
    """The texts of the OutputMessageNodes that ran, and of gates that a person answered, in order."""
    gates: tuple[Gate, ...] = ()
    """Every gate that asked a person, in order; the last one may be waiting."""
    calls: tuple[RecordedCall, ...] = ()
    """The platform and tool calls, in order; a tool's has the method `TOOL`."""
    decisions: tuple[Mapping[str, JsonValue], ...] = ()
    """The decision at each gate, also at skipped gates."""
    error: Exception | None = None
    """The error of a failed run."""

    def calls_of(self, node: str) -> list[RecordedCall]:
        """The calls of the node with this id or path."""
        return [call for call in self.calls if node in {call.node, call.path}]


def drive(
    flow: DrivableFlow,
    params: Mapping[str, Any] | None = None,
    *,
    answers: Answers | None = None,
    platform: Platform | None = None,
    stubs: Mapping[str, JsonValue] | None = None,
    context: HostContext | None = None,
    on_event: OnEvent | None = None,
) -> Result:
    """Run `flow` in memory, answering its gates.

    answers:  a list or a tuple in order; or an object by node id (one answer for every visit, or a
              list of them), or by the id that a gate of `result.gates` has; or a function of the
              gate.  None, or a gate without an answer, leaves the run waiting.  One answer is True,
              False, a `Decision`, a value to approve with, or a whole answer in the words of any
              client (see `AnswerLike`), which is read as a resumed graph reads it; a list of
              agent-inbox stands in a list of its own, `[[{"type": "accept", "args": None}]]`.
              Anything else is refused: a text or a yes alone says not which gate it is for.
    platform: answers the calls; by default a simulation.  In a simulation, inputs that only a
              caller can supply are sampled where `params` lacks them.
    stubs:    responses of the simulation, by node id, path or url suffix.

    What acts at most once is kept in a ledger in memory, unless `context` has another one.

    Raises: `InputInvalid` for parameters, `AnswerInvalid` for an answer that does not fit, for one whose
    key names no gate, and for answers of another shape.
    """
    ready = _Drive.of(flow, params, answers, platform, stubs)
    return ready.result(ready.graph, context, on_event)


async def adrive(
    flow: DrivableFlow,
    params: Mapping[str, Any] | None = None,
    *,
    answers: Answers | None = None,
    platform: Platform | None = None,
    stubs: Mapping[str, JsonValue] | None = None,
    context: HostContext | None = None,
    on_event: OnEvent | None = None,
) -> Result:
    """As `drive`, through `graph.ainvoke`: the flow's nodes and tools run on the caller's loop.

    `answers` and `on_event`, where they are functions, are called in another thread.
    """
    ready = _Drive.of(flow, params, answers, platform, stubs)
    loop = asyncio.get_running_loop()
    graph: Any = _OnLoop(ready.graph, loop)
    call = partial(copy_context().run, ready.result, graph, context, on_event)
    # A thread of its own: it waits for tools, which have the threads of the loop.
    own = ThreadPoolExecutor(1, "oasflow-drive")
    try:
        return await loop.run_in_executor(own, call)
    finally:
        own.shutdown(wait=False)


def _require_flow_and_inputs(flow: object, params: object) -> None:
    """Raise `InputInvalid` for what is neither, such as the path of a file."""
    if not hasattr(flow, "with_host"):
        raise InputInvalid(
            f"'flow' is a {type(flow).__name__}, not a flow",
            hint="compile the file first: compile_flow(…)",
        )
    if params is not None and not isinstance(params, Mapping):
        raise InputInvalid(
            f"'params' is a {type(params).__name__}, not an object",
            hint="give the inputs by name: {'topic': …}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drive:
    """One driven run, ready to begin."""

    flow: DrivableFlow
    graph: Graph
    start: Mapping[str, Any]
    run_id: str
    recorder: Recorder
    answering: Answering
    names: _Names

    @classmethod
    def of(
        cls,
        flow: DrivableFlow,
        params: Mapping[str, Any] | None,
        answers: Answers | None,
        platform: Platform | None,
        stubs: Mapping[str, JsonValue] | None,
    ) -> _Drive:
        _require_flow_and_inputs(flow, params)
        if platform is not None and stubs is not None:
            raise ValueError("give a platform or stubs, not both: stubs are for the simulation")
        if platform is None:
            params = {**sampled_inputs(flow), **(params or {})}
            platform = simulation(flow, stubs)
        recorder = Recorder(platform)
        tools = {name: recorder.tool(name, tool) for name, tool in flow.tools.items()}
        answering = Answering(answers)
        names = _Names.of(flow.plan, is_governed=getattr(flow, "governed", True))
        # The own code of tools may ask by a gate that no plan knows.
        answering.require_known_keys(names, is_sure=not tools)
        driven = flow.with_host(platform=recorder, tools=tools)
        return cls(
            flow=driven,
            graph=driven.graph(InMemorySaver(serde=STRICT_SERIALIZER)),
            start=driven.input(params),
            run_id=f"drive-{uuid.uuid4().hex[:12]}",
            recorder=recorder,
            answering=answering,
            names=names,
        )

    def result(self, graph: Graph, context: HostContext | None, on_event: OnEvent | None) -> Result:
        config = self.flow.config(run_id=self.run_id)
        try:
            stop = advance(
                graph,
                self.start,
                config,
                context=self.flow.context(run_id=self.run_id) if context is None else context,
                answer=self.answering,
                on_event=on_event,
            )
        except (AnswerInvalid, GateChanged):
            raise  # a mistake of the test, not a failure of the run
        except (FlowError, PlatformError) as error:
            return self._build_failed_result(graph.get_state(config, subgraphs=True), error)
        # A run that waits has had no answer from a function either: what it asks has a gate's own key.
        reached = {name for call in self.recorder.calls for name in (call.node, call.path)}
        reached |= self.names.functions if stop.status == "waiting" else set()
        self.answering.require_known_keys(self.names, is_sure=True, reached=reached)
        return Result(
            status=stop.status,
            outputs=stop.outputs,
            branch=stop.branch,
            messages=_read_message_texts(stop.messages),
            gates=tuple(self.answering.asked),
            calls=tuple(self.recorder.calls),
            decisions=stop.decisions,
        )

    def _build_failed_result(self, snapshot: StateSnapshot, error: Exception) -> Result:
        """The result of a run up to its failure."""
        return Result(
            status="failed",
            messages=_read_message_texts(read_records(_iterate_entries(snapshot, "messages"))),
            gates=tuple(self.answering.asked),
            calls=tuple(self.recorder.calls),
            decisions=tuple(without_seals([*_iterate_entries(snapshot, "decisions")])),
            error=error,
        )


def _iterate_entries(snapshot: StateSnapshot, key: str) -> Iterator[Any]:
    """The entries under `key`; the entries of an unfinished subflow come last."""
    yield from (snapshot.values or {}).get(key) or ()
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            yield from _iterate_entries(task.state, key)


def _read_message_texts(messages: Iterable[Mapping[str, JsonValue]]) -> tuple[str, ...]:
    """The texts that the flow's author wrote: no person's answer, and no gate's mere name."""
    return tuple(
        str(message["content"])
        for message in messages
        if message["role"] == "assistant"
        and not message.get("implied")
        and (message["content"] or not message.get("tool_calls"))
    )


@dataclass(frozen=True, slots=True)
class _OnLoop:
    """The graph methods that `advance` needs, run on an event loop while `advance` waits in a
    thread.
    """

    graph: Graph
    loop: asyncio.AbstractEventLoop

    def get_state(self, config: RunnableConfig, **options: Any) -> Any:
        return self._run_on_loop(self.graph.aget_state(config, **options))

    def invoke(self, *args: Any, **options: Any) -> Any:
        return self._run_on_loop(self.graph.ainvoke(*args, **options))

    def stream(self, *args: Any, **options: Any) -> Iterator[Any]:
        chunks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        end = object()

        async def feed() -> None:
            async for chunk in self.graph.astream(*args, **options):
                chunks.put(chunk)

        fed = asyncio.run_coroutine_threadsafe(feed(), self.loop)
        fed.add_done_callback(lambda _: chunks.put(end))
        yield from iter(chunks.get, end)
        fed.result()

    def _run_on_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()
