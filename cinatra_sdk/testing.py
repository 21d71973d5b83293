"""Testing a flow: driven from start to end in memory, without a database and without a network.

    result = drive(flow, {"topic": "x"}, answers={"review_gate": False})
    assert result.status == "rejected"
    assert [call.node for call in result.calls] == ["draft"]

The double is `cinatra_sdk.platform.SimulatedPlatform`; give `stubs` to choose its answers.
"""

from __future__ import annotations

import functools
import inspect
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from pydantic import JsonValue

from cinatra_sdk.context import HostContext
from cinatra_sdk.decisions import Decision
from cinatra_sdk.errors import AnswerInvalid, FlowError
from cinatra_sdk.gates import Gate
from cinatra_sdk.platform import (
    Platform,
    PlatformCall,
    PlatformError,
    RecordedCall,
    SimulatedPlatform,
)
from cinatra_sdk.platform.simulated import recorded_call
from cinatra_sdk.runs import Graph, OnEvent, advance
from cinatra_sdk.schema_sample import sample
from cinatra_sdk.state import Status

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
    if platform is not None and stubs is not None:
        raise ValueError("give a platform or stubs, not both: stubs are for the simulation")
    if platform is None:
        params = {**sampled_inputs(flow), **(params or {})}
        platform = simulation(flow, stubs)
    recorder = _Recorder(platform)
    tools = {name: recorder.tool(name, tool) for name, tool in flow.tools.items()}
    driven = flow.with_host(platform=recorder, tools=tools)
    run_id = f"drive-{uuid.uuid4().hex[:12]}"
    asked: list[Gate] = []
    answer = _Answering(answers, asked)
    graph = driven.graph(InMemorySaver())
    config = driven.config(run_id=run_id)
    given = driven.input(params)
    try:
        stop = advance(
            graph,
            given,
            config,
            context=context or driven.context(run_id=run_id),
            answer=answer,
            on_event=on_event,
        )
    except AnswerInvalid:
        raise
    except (FlowError, PlatformError) as error:
        return Result(status="failed", gates=tuple(asked), calls=tuple(recorder.calls), error=error)
    return Result(
        status=stop.status,
        outputs=stop.outputs,
        branch=stop.branch,
        messages=tuple(str(message["content"]) for message in stop.messages),
        gates=tuple(asked),
        calls=tuple(recorder.calls),
        decisions=stop.decisions,
    )


def simulation(
    flow: DrivableFlow,
    stubs: Mapping[str, JsonValue] | None = None,
    *,
    record: str | os.PathLike[str] | None = None,
) -> SimulatedPlatform:
    """A simulation of `flow`: every call answered, and led past the gates where it can choose.

    `stubs` win: one for a node, by path, id or url suffix, replaces what would be chosen for it.
    """
    given = dict(stubs or {})
    urls = [key for key in given if key.startswith("/")]
    steered = {
        path: answers
        for path, answers in flow.steering.items()
        if path not in given and path.rsplit("/", 1)[-1] not in given and not urls
    }
    return SimulatedPlatform({**steered, **given}, record=record)


def sampled_inputs(flow: DrivableFlow) -> dict[str, JsonValue]:
    """Made-up values for inputs without a default that no person would be asked for."""
    schema: Any = flow.input_schema
    return {
        title: sample(part, name=title)
        for title, part in schema["properties"].items()
        if "default" not in part and (part.get("x-hidden") or title not in schema["required"])
    }


class _Answering:
    """The answers given to `drive`, one per gate."""

    def __init__(self, answers: Answers | None, asked: list[Gate]) -> None:
        self._answers = answers
        self._asked = asked
        self._used: dict[str, int] = {}

    def __call__(self, gate: Gate) -> Mapping[str, JsonValue] | None:
        if not self._asked or self._asked[-1].id != gate.id:
            self._asked.append(gate)
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
        def keep(values: dict[str, Any]) -> None:
            node = str(get_config().get("metadata", {}).get("oas_id", name))
            self.calls.append(
                RecordedCall(node=node, path=node, method="TOOL", url=name, body=values)
            )

        if inspect.iscoroutinefunction(tool):

            @functools.wraps(tool)
            async def arecorded(**values: Any) -> Any:
                keep(values)
                return await tool(**values)

            return arecorded

        @functools.wraps(tool)
        def recorded(**values: Any) -> Any:
            keep(values)
            return tool(**values)

        return recorded


def _failed_call(call: PlatformCall, error: PlatformError) -> RecordedCall:
    told: dict[str, JsonValue] = {
        "status": error.status,
        "code": error.code,
        "message": str(error),
    }
    return recorded_call(call, error=told)
