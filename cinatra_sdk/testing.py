"""Testing a flow: driven from start to end in memory, without a database and without a network.

    result = drive(flow, {"topic": "x"}, answers={"review_gate": False})     # or: await adrive(…)
    assert result.status == "rejected"
    assert [call.node for call in result.calls] == ["draft"]

The double is `cinatra_sdk.platform.SimulatedPlatform`; give `stubs` to choose its answers.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import os
import queue
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.types import StateSnapshot
from pydantic import JsonValue

from cinatra_sdk.advancing import Graph, advance
from cinatra_sdk.contract import RUN_ID_INPUTS, Status
from cinatra_sdk.engine.checkpoints import STRICT
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.errors import AnswerInvalid, FlowError
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.secrets import redact
from cinatra_sdk.platform import (
    Platform,
    PlatformCall,
    PlatformError,
    RecordedCall,
    SimulatedPlatform,
)
from cinatra_sdk.platform.simulated import recorded_call
from cinatra_sdk.runs import OnEvent
from cinatra_sdk.values.schema_sample import sample

AnswerLike: TypeAlias = "Decision | JsonValue"
"""A Decision, True, False, or a JSON value to approve with."""
Answers: TypeAlias = "Sequence[AnswerLike] | Mapping[str, AnswerLike | list[AnswerLike]] | Callable[[Gate], AnswerLike]"


class DrivableFlow(Protocol):
    """What `drive` needs of a flow; `oas_compiler.Flow` is one."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a driven run came to."""

    status: Status
    """`waiting` when an answer was lacking, `failed` when a node failed."""
    outputs: Mapping[str, JsonValue] | None = None
    branch: str | None = None
    """The branch name of the EndNode that was reached."""
    messages: tuple[str, ...] = ()
    """The texts of the OutputMessageNodes that ran, in order."""
    gates: tuple[Gate, ...] = ()
    """Every gate that asked a person, in order; the last one may be waiting."""
    calls: tuple[RecordedCall, ...] = ()
    """The platform and tool calls, in order; a tool's has the method `TOOL`."""
    decisions: tuple[Mapping[str, JsonValue], ...] = ()
    """What was decided at each gate, the skipped ones too."""
    error: Exception | None = None
    """Why a failed run failed."""

    def calls_of(self, node: str) -> list[RecordedCall]:
        """The calls that a node made, by its id or path."""
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

    answers:  in order; or by node id (one answer for every visit, or a list of them); or a
              function of the gate.  None, or a gate without an answer, leaves the run waiting.
    platform: who answers the calls; by default a simulation, in which inputs that only a caller
              can supply are sampled where `params` lacks them.
    stubs:    answers of the simulation, by node id, path or url suffix.

    Raises: `InputInvalid` for parameters, `AnswerInvalid` for an answer that does not fit.
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
    graph: Any = _OnLoop(ready.graph, asyncio.get_running_loop())
    return await asyncio.to_thread(ready.result, graph, context, on_event)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drive:
    """One driven run, ready to begin."""

    flow: DrivableFlow
    graph: Graph
    start: Mapping[str, Any]
    run_id: str
    recorder: _Recorder
    answering: _Answering

    @classmethod
    def of(
        cls,
        flow: DrivableFlow,
        params: Mapping[str, Any] | None,
        answers: Answers | None,
        platform: Platform | None,
        stubs: Mapping[str, JsonValue] | None,
    ) -> _Drive:
        if platform is not None and stubs is not None:
            raise ValueError("give a platform or stubs, not both: stubs are for the simulation")
        if platform is None:
            params = {**sampled_inputs(flow), **(params or {})}
            platform = simulation(flow, stubs)
        recorder = _Recorder(platform)
        tools = {name: recorder.tool(name, tool) for name, tool in flow.tools.items()}
        driven = flow.with_host(platform=recorder, tools=tools)
        return cls(
            flow=driven,
            graph=driven.graph(InMemorySaver(serde=STRICT)),
            start=driven.input(params),
            run_id=f"drive-{uuid.uuid4().hex[:12]}",
            recorder=recorder,
            answering=_Answering(answers),
        )

    def result(self, graph: Graph, context: HostContext | None, on_event: OnEvent | None) -> Result:
        config = self.flow.config(run_id=self.run_id)
        try:
            stop = advance(
                graph,
                self.start,
                config,
                context=context or self.flow.context(run_id=self.run_id),
                answer=self.answering,
                on_event=on_event,
            )
        except AnswerInvalid:
            raise  # the mistake of a test, and no failure of the run
        except (FlowError, PlatformError) as error:
            return self._failed(graph.get_state(config, subgraphs=True), error)
        return Result(
            status=stop.status,
            outputs=stop.outputs,
            branch=stop.branch,
            messages=_texts(stop.messages),
            gates=tuple(self.answering.asked),
            calls=tuple(self.recorder.calls),
            decisions=stop.decisions,
        )

    def _failed(self, snapshot: StateSnapshot, error: Exception) -> Result:
        """What the run had done until it failed."""
        return Result(
            status="failed",
            messages=_texts(_kept(snapshot, "messages")),
            gates=tuple(self.answering.asked),
            calls=tuple(self.recorder.calls),
            decisions=tuple(_kept(snapshot, "decisions")),
            error=error,
        )


def _kept(snapshot: StateSnapshot, key: str) -> Iterator[Mapping[str, JsonValue]]:
    """The entries under `key`, those of a subflow that has not ended last."""
    yield from (snapshot.values or {}).get(key) or ()
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            yield from _kept(task.state, key)


def _texts(messages: Iterable[Mapping[str, JsonValue]]) -> tuple[str, ...]:
    return tuple(str(message["content"]) for message in messages)


@dataclass(frozen=True, slots=True)
class _OnLoop:
    """What `advance` needs of a graph, run on an event loop while `advance` waits in a thread."""

    graph: Graph
    loop: asyncio.AbstractEventLoop

    def get_state(self, config: RunnableConfig, **options: Any) -> Any:
        return self._wait(self.graph.aget_state(config, **options))

    def invoke(self, *args: Any, **options: Any) -> Any:
        return self._wait(self.graph.ainvoke(*args, **options))

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

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


def simulation(
    flow: DrivableFlow,
    stubs: Mapping[str, JsonValue] | None = None,
    *,
    record: str | os.PathLike[str] | None = None,
) -> SimulatedPlatform:
    """A simulation of `flow`: every call answered, and led past the gates where it can choose.

    `stubs` win: one that matches a call, by path, id or url suffix, replaces what would be
    chosen for it; for every other call the choice stands.
    """
    return SimulatedPlatform(stubs, record=record, fallback=flow.steering)


def sampled_inputs(flow: DrivableFlow) -> dict[str, JsonValue]:
    """Made-up values for inputs without a default that no person would be asked for.

    The run's own id is the host's to set, and is never made up.
    """
    schema: Any = flow.input_schema
    return {
        title: sample(part, name=title)
        for title, part in schema["properties"].items()
        if title not in RUN_ID_INPUTS
        and "default" not in part
        and (part.get("x-hidden") or title not in schema["required"])
    }


class _Answering:
    """The answers given to `drive`, one per gate."""

    def __init__(self, answers: Answers | None) -> None:
        self._answers = answers
        self._used: dict[str, int] = {}
        self.asked: list[Gate] = []
        """Every gate, in order."""

    def __call__(self, gate: Gate) -> Mapping[str, JsonValue] | None:
        if not self.asked or self.asked[-1].id != gate.id:
            self.asked.append(gate)
        found, answer = self._find(gate)
        if not found:
            return None
        decision = Decision.of(answer, by="drive")
        gate.check(decision)
        return decision.wire()

    def _find(self, gate: Gate) -> tuple[bool, Any]:
        answers = self._answers
        if answers is None:
            return False, None
        if callable(answers):
            return True, answers(gate)
        if not isinstance(answers, Mapping):
            return self._next("", answers)
        if gate.node not in answers:
            return False, None
        mine = answers[gate.node]
        return self._next(gate.node, mine) if isinstance(mine, list) else (True, mine)

    def _next(self, key: str, answers: Sequence[Any]) -> tuple[bool, Any]:
        position = self._used.get(key, 0)
        if position >= len(answers):
            return False, None
        self._used[key] = position + 1
        return True, answers[position]


@dataclass(slots=True)
class _Recorder:
    """A platform that keeps every call, and wraps tools so that theirs are kept too."""

    inner: Platform
    calls: list[RecordedCall] = field(default_factory=list)

    def call(self, call: PlatformCall) -> JsonValue:
        try:
            answer = self.inner.call(call)
        except PlatformError as error:
            self.calls.append(_failed_call(call, error))
            raise
        self.calls.append(recorded_call(call, answer=answer))
        return answer

    async def acall(self, call: PlatformCall) -> JsonValue:
        try:
            answer = await self.inner.acall(call)
        except PlatformError as error:
            self.calls.append(_failed_call(call, error))
            raise
        self.calls.append(recorded_call(call, answer=answer))
        return answer

    def describe(self) -> dict[str, JsonValue]:
        return self.inner.describe()

    def tool(self, name: str, tool: Callable[..., Any]) -> Callable[..., Any]:
        """`tool`, with every call of it kept once it has ended."""
        if inspect.iscoroutinefunction(tool):

            @functools.wraps(tool)
            async def arecorded(**values: Any) -> Any:
                call = _tool_call(name, values)
                return await self._ended(call, tool(**values))

            return arecorded

        @functools.wraps(tool, updated=())
        def recorded(**values: Any) -> Any:
            call = _tool_call(name, values)
            try:
                result = tool(**values)
            except Exception as error:
                self._keep(call, raised=error)
                raise
            if inspect.isawaitable(result):
                return self._ended(call, result)
            self._keep(call, result)
            return result

        return recorded

    async def _ended(self, call: RecordedCall, pending: Awaitable[Any]) -> Any:
        try:
            result = await pending
        except Exception as error:
            self._keep(call, raised=error)
            raise
        self._keep(call, result)
        return result

    def _keep(
        self, call: RecordedCall, result: Any = None, *, raised: Exception | None = None
    ) -> None:
        told: dict[str, JsonValue] | None = None
        if raised is not None and not isinstance(raised, GraphBubbleUp):  # a pause is no failure
            code, message = type(raised).__name__, redact(str(raised))[:500]
            told = {"status": None, "code": code, "message": message}
        self.calls.append(replace(call, answer=_json_copy(result), error=told))


def _tool_call(name: str, values: dict[str, Any]) -> RecordedCall:
    """The call that begins now; its values are copied, because the tool may change them."""
    metadata = get_config().get("metadata", {})
    # LangGraph's namespace of the node: "outer:task|inner:task", each part the name in its graph,
    # where `:` and `|` are written as %3A and %7C; a part without a task only counts.
    parts = str(metadata.get("langgraph_checkpoint_ns", "")).split("|")
    path = "/".join(unquote(part.partition(":")[0]) for part in parts if ":" in part)
    node = unquote(str(metadata.get("oas_id", name)))
    return RecordedCall(
        node=node, path=path or node, method="TOOL", url=name, body=copy.deepcopy(values)
    )


def _json_copy(result: Any) -> JsonValue:
    """What a tool returned, as JSON; `None` where it is none, which then fails the node."""
    try:
        copied: JsonValue = json.loads(json.dumps(result, allow_nan=False, default=dict))
    except (TypeError, ValueError, RecursionError):
        return None
    return copied


def _failed_call(call: PlatformCall, error: PlatformError) -> RecordedCall:
    told: dict[str, JsonValue] = {
        "status": error.status,
        "code": error.code,
        "message": str(error),
    }
    return recorded_call(call, error=told)
