"""A node that runs one flow for each element of its lists; a node that runs several flows beside each other.

{"x": [1, 2]}, broadcast {"y": 5}    ->   rounds {"x": 1, "y": 5} and {"x": 2, "y": 5}
outputs z 3 and 4                    ->   [3, 4], or their sum, average, greatest or least
{"x": [{"a": 1}]}, unpacked by .a    ->   the round {"a": 1}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Final

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from cinatra_sdk.data.json_paths import JsonPath, PathError, parse_path, take_path
from cinatra_sdk.data.ports import ANY, ArrayType, ScalarType, Type
from cinatra_sdk.flow.branches.container import Round, Rounds, arun_rounds, run_rounds
from cinatra_sdk.flow.branches.inner_flow import (
    READS,
    FlowInside,
    InnerEntry,
    InnerResult,
    join_talk,
    leave_rejected,
    make_inside,
    scope_inside,
)
from cinatra_sdk.flow.plan.casts import CastError, cast, caster
from cinatra_sdk.flow.plan.frame import MISSING, Frame, NodeBody
from cinatra_sdk.flow.plan.plan import FlowPlan, NodeSite, NodeWork, open_plans
from cinatra_sdk.gates.gate import label_item
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass

State = Mapping[str, Any]
ITERATED: Final = "iterated_"
COLLECTED: Final = "collected_"
APPEND: Final = "append"
UNPACKED: Final = "iterated_input"
"""The input that an `UnpackedMap` goes through."""
_NUMBER: Final = ScalarType("number")


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedInput:
    """One input of the inner flow."""

    title: str
    """Of the node's input, `iterated_x`."""
    inner: str
    """Of the inner flow's input, `x`; empty: nothing goes in."""
    type: Type
    """Of the inner flow's input."""
    iterates: bool | None
    """Whether what feeds it is a list of such values; None: its value decides."""
    path: JsonPath | None = None
    """The part of an element that goes in, cast to the type; None: the element as it is."""

    def is_list(self, value: Any) -> bool:
        if self.iterates is not None or not isinstance(value, list):
            return bool(self.iterates)
        if isinstance(self.type, ArrayType):
            return bool(value) and all(isinstance(item, list) for item in value)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """One output of the node."""

    title: str
    inner: str
    """Title of the inner flow's output."""
    reducer: str
    """`append`, `sum`, `average`, `max` or `min`."""
    cast: Callable[[Any], Any] | None = None
    """To the type of the node's output; None where none is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Map(NodeWork):
    """Runs a flow once for each element, one after the other.

    The input `iterated_x` feeds the flow's `x`, and `collected_y` collects its `y`.
    """

    kind: ClassVar[str] = "MapNode"
    flow: FlowPlan
    iterates: Mapping[str, bool] = field(default_factory=dict)
    """Input of the node → whether what feeds it is gone through; where none is named, its value
    decides.
    """
    reducers: Mapping[str, str] = field(default_factory=dict)
    """Output of the flow → `append`, `sum`, `average`, `max` or `min`."""
    takes_failures: bool = False
    """Whether an element that fails gives null, and the others go on."""

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    def make_body(self, site: NodeSite) -> NodeBody:
        types = {port.title: port.type for port in self.flow.inputs}
        inputs = []
        for port in site.plan.inputs:
            inner = port.title.removeprefix(ITERATED)
            iterates = self.iterates.get(port.title)
            inputs.append(
                MappedInput(title=port.title, inner=inner, type=types[inner], iterates=iterates)
            )
        outputs = list(self._list_collected(site))
        own = {one.title for one in outputs}
        return make_each(
            site.frame,
            make_inside(site, self.flow, site.frame.path, as_graph=False, renames=True),
            inputs=inputs,
            outputs=outputs,
            takes_failures=self.takes_failures,
            # The output for what failed; there is none where the flow has one of the name.
            errors=next((one.title for one in site.plan.outputs if one.title not in own), ""),
            at_once=self._bound(site),
        )

    def _list_collected(self, site: NodeSite) -> Iterator[Collected]:
        inner = {port.title: port.type for port in self.flow.outputs}
        own = {port.title: port.type for port in site.plan.outputs}
        for title, reducer in self.reducers.items():
            # The average of integers is no integer.
            found = ArrayType(inner[title]) if reducer == APPEND else _NUMBER
            to = caster(found, own[COLLECTED + title])
            yield Collected(title=COLLECTED + title, inner=title, reducer=reducer, cast=to)

    def _bound(self, _site: NodeSite) -> int | None:
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelMap(Map):
    """A map whose rounds run at the same time."""

    kind: ClassVar[str] = "ParallelMapNode"

    def _bound(self, site: NodeSite) -> int | None:
        return site.wiring.max_parallel


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedMap(NodeWork):
    """Runs a flow once for each element of `iterated_input`, of which it takes parts."""

    kind: ClassVar[str] = "ExtendedMapNode"
    flow: FlowPlan
    unpack: Mapping[str, str] = field(default_factory=dict)
    """Input of the flow → the way from an element to its value: `.name`."""
    parallel: bool = False
    most_at_once: int | None = None
    """Rounds at a time, of a parallel map."""

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return (self.flow,)

    def make_body(self, site: NodeSite) -> NodeBody:
        outputs = [
            Collected(title=port.title, inner=port.title, reducer=APPEND)
            for port in site.plan.outputs
        ]
        return make_each(
            site.frame,
            make_inside(site, self.flow, site.frame.path, as_graph=False, renames=True),
            inputs=list(self._list_inputs(site)),
            outputs=outputs,
            at_once=self._bound(site),
        )

    def _list_inputs(self, site: NodeSite) -> Iterator[MappedInput]:
        types = {port.title: port.type for port in self.flow.inputs}
        # Also where nothing of an element is taken, there is a round for each.
        yield MappedInput(title=UNPACKED, inner="", type=ANY, iterates=True, path=JsonPath())
        for title, way in self.unpack.items():
            path = parse_path(way)
            assert path is not None  # whoever wrote the plan saw to that
            yield MappedInput(
                title=UNPACKED, inner=title, type=types[title], iterates=True, path=path
            )
        for port in site.plan.inputs:
            if port.title != UNPACKED:
                own = types[port.title]
                yield MappedInput(title=port.title, inner=port.title, type=own, iterates=False)

    def _bound(self, site: NodeSite) -> int | None:
        if not self.parallel:
            return 1
        bounds = [one for one in (self.most_at_once, site.wiring.max_parallel) if one is not None]
        return min(bounds, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedParallelMap(UnpackedMap):
    """Such a map whose rounds always run at the same time."""

    kind: ClassVar[str] = "ExtendedParallelMapNode"


def make_each(
    frame: Frame,
    inner: FlowInside,
    *,
    inputs: Sequence[MappedInput],
    outputs: Sequence[Collected],
    at_once: int | None,
    takes_failures: bool = False,
    errors: str = "",
) -> NodeBody:
    """takes_failures: an element that fails gives null, and the others go on.  errors: the output
    that lists what failed, null for an element that did not; empty: none.
    at_once: rounds at a time: 1 runs one after the other; None: the engine's bound.
    """

    def list_rounds(state: State) -> list[Round]:
        visit = frame.visit(state)
        rounds = []
        for place, values in enumerate(_spread_inputs(frame, inputs, state)):
            own = label_item(frame.id, visit, place)
            entry = InnerEntry(state=state, inputs=values, scope=scope_inside(state, own))
            told = f"{_name_item(place)} of '{frame.where}'"
            rounds.append(
                Round(inner=inner, entry=entry, label=own, item=told, takes_failures=takes_failures)
            )
        return rounds

    def leave(state: State, ended: Rounds) -> Any:
        if ended.rejected:
            return leave_rejected(frame, state, ended.results)
        out = {one.title: _reduce(frame, one, _list_values(one, ended.results)) for one in outputs}
        if errors:
            out[errors] = [result.failed or None for result in ended.results]
        return frame.finish(state, out, more=join_talk(ended.results))

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        return leave(state, run_rounds(list_rounds(state), config, runtime, at_once=at_once))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        ended = await arun_rounds(list_rounds(state), config, runtime, at_once=at_once)
        return leave(state, ended)

    return NodeBody(run=run, arun=arun, reads=READS, acts=inner.acts, contains=True, chooses=True)


def _name_item(place: int) -> str:
    """As ids of gates and paths of events number it, and saying so."""
    return f"item {place} (from 0)"


def _spread_inputs(
    frame: Frame, inputs: Sequence[MappedInput], state: State
) -> list[dict[str, Any]]:
    """The inputs of each round.

    Raises: `NodeFailed` for lists of different lengths, and where no input is a list.
    """
    plans = {plan.title: plan for plan in frame.inputs}
    lists: dict[str, list[Any]] = {}
    takers: list[MappedInput] = []
    same: dict[str, Any] = {}
    for one in inputs:
        value = frame.look_up(plans[one.title], state)
        if value is MISSING:
            continue
        if not one.is_list(value):
            same[one.inner] = value
        elif isinstance(value, list) or (one.path is not None and isinstance(value, dict)):
            lists[one.title] = value if isinstance(value, list) else _list_entries(value)
            takers.append(one)
        else:
            raise frame.failed(f"input '{one.title}' is to be a list, and is not")
    if not lists:
        raise frame.failed(
            "none of its inputs is a list, so there is nothing to go through",
            hint="feed one of its inputs by a list",
        )
    lengths = {title: len(values) for title, values in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"'{title}' has {length}" for title, length in lengths.items())
        raise frame.failed(f"its lists are of different lengths: {told}")
    count = next(iter(lengths.values()))
    return [
        {
            **same,
            **{
                one.inner: _take(frame, one, lists[one.title][place], place)
                for one in takers
                if one.inner
            },
        }
        for place in range(count)
    ]


def _list_entries(value: Mapping[str, Any]) -> list[Any]:
    """The elements of an object, for paths."""
    return [{"_key": key, "_value": one} for key, one in value.items()]


def _take(frame: Frame, one: MappedInput, element: Any, place: int) -> Any:
    if one.path is None:
        return element
    try:
        return cast(take_path(one.path, element), one.type)
    except (PathError, CastError) as error:
        raise frame.failed(f"input '{one.inner}' of {_name_item(place)}: {error}") from None


def _list_values(one: Collected, results: Sequence[InnerResult]) -> list[Any]:
    """The values of an output: null for an element that failed, which is no number of a sum."""
    if one.reducer == APPEND:
        return [None if result.failed else result.outputs[one.inner] for result in results]
    return [result.outputs[one.inner] for result in results if not result.failed]


def _reduce(frame: Frame, one: Collected, values: list[Any]) -> Any:
    reduced: Any = values
    if one.reducer != APPEND:
        numbers = [_read_number(frame, one, place, value) for place, value in enumerate(values)]
        reduced = _REDUCERS[one.reducer](numbers)
    if one.cast is None:
        return reduced
    try:
        return one.cast(reduced)
    except CastError as error:
        raise frame.failed(f"output '{one.title}': {error}") from None


def _read_number(frame: Frame, one: Collected, place: int, value: Any) -> Any:
    try:
        number = cast(value, _NUMBER)
    except CastError as error:
        raise frame.failed(f"output '{one.inner}' of {_name_item(place)}: {error}") from None
    if number is None:
        raise frame.failed(
            f"output '{one.inner}' of {_name_item(place)} is null, which is no number"
        )
    return number


_REDUCERS: Final[Mapping[str, Callable[[list[Any]], Any]]] = {
    "sum": sum,
    "average": lambda numbers: sum(numbers) / len(numbers) if numbers else None,
    "max": lambda numbers: max(numbers, default=None),
    "min": lambda numbers: min(numbers, default=None),
}
"""Of no number at all: a sum of 0, and null otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelFlows(NodeWork):
    """Runs flows at the same time; each flow gets the inputs of the node that the flow declares."""

    kind: ClassVar[str] = "ParallelFlowNode"
    flows: tuple[FlowPlan, ...]

    @property
    def subflows(self) -> tuple[FlowPlan, ...]:
        return self.flows

    def make_body(self, site: NodeSite) -> NodeBody:
        flows = [
            (
                make_inside(site, flow, around, as_graph=False),
                tuple(port.title for port in flow.inputs),
            )
            for around, flow in open_plans(site.plan, site.frame.path)
        ]
        return make_parallel_flows(site.frame, flows, at_once=site.wiring.max_parallel)


def make_parallel_flows(
    frame: Frame, flows: Sequence[tuple[FlowInside, Sequence[str]]], *, at_once: int | None
) -> NodeBody:
    """flows: each with the titles of the inputs that it takes.  at_once: None: the engine's bound.

    Two flows never have an output of one title.
    """

    def list_rounds(state: State) -> list[Round]:
        given = {plan.title: frame.look_up(plan, state) for plan in frame.inputs}
        visit = frame.visit(state)
        rounds = []
        for place, (inner, titles) in enumerate(flows):
            own = label_item(frame.id, visit, place)
            inputs = {title: given[title] for title in titles if given.get(title) is not MISSING}
            entry = InnerEntry(state=state, inputs=inputs, scope=scope_inside(state, own))
            rounds.append(Round(inner=inner, entry=entry, label=own))
        return rounds

    def leave(state: State, ended: Rounds) -> Any:
        if ended.rejected:
            return leave_rejected(frame, state, ended.results)
        outputs = {title: value for one in ended.results for title, value in one.outputs.items()}
        return frame.finish(state, outputs, more=join_talk(ended.results))

    def run(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        return leave(state, run_rounds(list_rounds(state), config, runtime, at_once=at_once))

    async def arun(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        ended = await arun_rounds(list_rounds(state), config, runtime, at_once=at_once)
        return leave(state, ended)

    acts = any(inner.acts for inner, _titles in flows)
    return NodeBody(run=run, arun=arun, reads=READS, acts=acts, contains=True, chooses=True)
