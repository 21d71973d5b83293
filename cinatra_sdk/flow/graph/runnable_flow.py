"""A plan as a flow for hosts: its graph, its input, its context, its events.

The compiler's `Flow` is such a flow, made from a file; `WrittenFlow` (`cinatra_sdk/store/flows/python_flow.py`)
is made from a Python module.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import queue
import threading
import uuid
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Any, Final, Self, TypeAlias, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import JsonValue

from cinatra_sdk import contract
from cinatra_sdk.contract import RUN_ID_INPUTS
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.events import RunEvent
from cinatra_sdk.flow.nodes.start_and_end import Start
from cinatra_sdk.flow.plan.caller_inputs import SetupInputs, accepted_inputs, require_hidden
from cinatra_sdk.flow.plan.channel_names import INPUTS
from cinatra_sdk.flow.plan.frame import pin_of
from cinatra_sdk.flow.plan.plan import FlowPlan, Wiring, find_node
from cinatra_sdk.flow.visit.state_graph import make_graph
from cinatra_sdk.governed.approval_policy import parse_policy, require_entries
from cinatra_sdk.host_parts.host_parts import HostParts, RunIdentity, lend_context
from cinatra_sdk.langgraph_threads.graph_input import AnswersById, answering_by_id
from cinatra_sdk.langgraph_threads.host_context import (
    DERIVED,
    Effects,
    HostContext,
    host_context,
    listening,
)
from cinatra_sdk.langgraph_threads.lineage import require_known
from cinatra_sdk.langgraph_threads.serializer import with_strict_serializer
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import Platform

# ----------------------------------------------------------------------------
# A graph that is drawn as another graph with the same nodes.
#
#     `drawn_as(fused, lambda: plain)`
#
# Nodes that run others in their own superstep name the next node themselves, so that the engine knows
# no edges between them.  The picture comes from the same flow with a superstep for each node.


AnyGraph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
_G = TypeVar("_G", bound=AnyGraph)


def drawn_as(graph: _G, picture: Callable[[], AnyGraph]) -> _G:
    """`graph`, whose pictures are those of the graph that `picture` makes."""
    drawn: _G = _DrawnAs(picture=picture, **graph.copy().__dict__)  # type: ignore[assignment]  # the class mixes in the graph's own
    return drawn


class _DrawnAs(AnswersById):
    def __init__(self, *, picture: Callable[[], AnyGraph], **graph: Any) -> None:
        super().__init__(**graph)
        self.picture = picture

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        return self.picture().get_graph(config, xray=xray)

    async def aget_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Graph:
        return await self.picture().aget_graph(config, xray=xray)


# ----------------------------------------------------------------------------
# The events of one activation of a graph, as an iterator; no store is needed.
#
#     for event in stream_events(graph, start, config, context):
#         event                        RunEvent(seq=1, kind="node", name="started", …)
#     the last one                     RunEvent(kind="run", name="completed", data={"outputs": {…}})
#
# The graph runs in a thread (or task) of its own.  A reader that stops changes nothing: the activation goes
# on to its end.


CompiledGraph = CompiledStateGraph[Any, Any, Any, Any]
_TASKS: Final[set[asyncio.Task[None]]] = set()
"""Activations whose readers may have gone away; the loop itself keeps no task alive."""


def stream_events(
    graph: CompiledGraph, start: Any, config: RunnableConfig, context: HostContext
) -> Generator[RunEvent]:
    """start: the input, or LangGraph's `Command(resume=…)`.

    Raises: what the graph raises, after the events that led there.
    """
    told: queue.SimpleQueue[RunEvent | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            host = listening(context, told.put)
            result = graph.invoke(start, config, context=host, durability=_choose_durability(graph))
            told.put(_tell_stop(result))
        except BaseException as error:  # noqa: BLE001 - raised where the events are read
            told.put(error)
        else:
            told.put(None)

    inside = contextvars.copy_context()
    threading.Thread(target=inside.run, args=(work,), name="oasflow-stream", daemon=True).start()
    number = _make_numbering(context)
    while (event := told.get()) is not None:
        if isinstance(event, BaseException):
            raise event
        yield number(event)


async def astream_events(
    graph: CompiledGraph, start: Any, config: RunnableConfig, context: HostContext
) -> AsyncGenerator[RunEvent]:
    """As `stream_events`, on the running event loop."""
    told: asyncio.Queue[RunEvent | BaseException | None] = asyncio.Queue()
    tell = _make_threadsafe(told)

    async def work() -> None:
        try:
            host = listening(context, tell)
            result = await graph.ainvoke(
                start, config, context=host, durability=_choose_durability(graph)
            )
            tell(_tell_stop(result))
        except BaseException as error:  # noqa: BLE001 - raised where the events are read
            tell(error)
        else:
            tell(None)

    task = asyncio.create_task(work())
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)
    number = _make_numbering(context)
    while (event := await told.get()) is not None:
        if isinstance(event, BaseException):
            raise event
        yield number(event)


def _make_threadsafe(told: asyncio.Queue[Any]) -> Callable[[Any], None]:
    loop = asyncio.get_running_loop()

    def tell(event: Any) -> None:
        loop.call_soon_threadsafe(told.put_nowait, event)

    return tell


def _make_numbering(context: HostContext) -> Callable[[RunEvent], RunEvent]:
    numbers = count(1)

    def number(event: RunEvent) -> RunEvent:
        return replace(event, run_id=context.run_id, seq=next(numbers))

    return number


def _choose_durability(graph: CompiledGraph) -> Any:
    # Each step is stored before the next begins; without a checkpointer there is nothing to say.
    return "sync" if graph.checkpointer else None


def _tell_stop(result: Mapping[str, Any] | None) -> RunEvent:
    """Where the run stands: ended, or waiting at its gates."""
    values = result or {}
    if values.get("__interrupt__"):
        return RunEvent(kind="run", name="waiting")
    status = str(values.get("status") or "stopped")
    data = {"outputs": values.get("outputs")} if status == "completed" else {}
    return RunEvent(kind="run", name=status, data=data)


log = logging.getLogger("oasflow.flow")

MAX_STEPS: Final = 10_000
"""Steps (visits of nodes) of one run on one level of subflows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedFlow:
    """A flow that can run.  Immutable; share it between threads and runs."""

    host: HostParts
    """What the host lends; with a platform, which is a simulation where the host lends none."""
    max_steps: int = MAX_STEPS
    fuse: bool = True
    """Whether nodes that only compute run in the superstep of the node before them."""
    max_parallel: int | None = None
    """How many branches of one node run at a time; None: as many as the engine lets."""
    platform_given: bool = True
    """Whether the host named a platform; without one, calls are simulated."""
    governed: bool = False
    """Whether its acting nodes stand under the rules of the host's packs."""

    def __repr__(self) -> str:
        return f"Flow({self.name!r}, digest={self.digest[:12]!r}, platform={self.platform!r})"

    # What each kind of flow gives by itself.

    @property
    def plan(self) -> FlowPlan:
        raise NotImplementedError

    @property
    def digest(self) -> str:
        """sha256 (hex) of `source`; a run is pinned to it."""
        raise NotImplementedError

    @property
    def source(self) -> bytes:
        """The bytes that are stored with a run."""
        raise NotImplementedError

    @property
    def file(self) -> str:
        """The file, as shown to people; empty where there is none."""
        raise NotImplementedError

    @property
    def approval_policy(self) -> dict[str, JsonValue]:
        """The policy that holds where the host gives none: `{"steps": [{"stepNumber": 1, …}]}`."""
        raise NotImplementedError

    @property
    def guards(self) -> Sequence[tuple[int, str, str]]:
        """(step, gate, send) that every policy must say something about."""
        raise NotImplementedError

    @cached_property
    def rules(self) -> Any:
        """The rules of a governed flow; None: none govern it.  Raises: `NotConfigured`."""
        if not self.governed:
            return None
        if self.host.governance is None:
            raise NotConfigured(
                f"flow '{self.name}' is governed, and this process lends no packs",
                hint="HostParts(governance=Governance(registry=…, pack_refs=…))",
            )
        return self.host.governance.make_rules(self.name)

    @cached_property
    def recorder(self) -> Any:
        """Writes the decision records of a governed flow; None: it has none."""
        return None if self.rules is None else self.rules.make_recorder()

    def ruled(self, governance: Any = None) -> Self:
        """The same flow under the rules of its host's packs, or of `governance` where that has none."""
        host, own = self.host, self.host.governance
        if governance is not None and not (own and own.governs_flows):
            host = host.with_parts(governance=governance)
        return (
            self if self.governed and host is self.host else replace(self, host=host, governed=True)
        )

    def under(self, governance: Any) -> Self:
        """The same flow under rules that are made anew, by `governance`."""
        return replace(self, host=self.host.with_parts(governance=governance))

    # What follows from that.

    @property
    def platform(self) -> Platform:
        assert self.host.platform is not None  # see `host`
        return self.host.platform

    @property
    def tools(self) -> Mapping[str, Callable[..., Any]]:
        return self.host.tools

    @property
    def env(self) -> Mapping[str, str]:
        return self.host.env

    @property
    def id(self) -> str:
        """The flow's OAS id."""
        return self.plan.id

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def lowering(self) -> int:
        """Version of the graph's layout: a parked run resumes on the same one only."""
        return contract.LAYOUT

    @property
    def is_repeatable(self) -> bool:
        """Whatever a node does beside computing goes through the door for effects."""
        return True

    @property
    def pin(self) -> str:
        """The part of a run's sealed identity that names the flow's bytes and the layout of its
        graph.
        """
        return pin_of(self.digest, ())

    def outputs_of(self, path: str) -> Sequence[TypedPort] | None:
        """The declared outputs of the node at a path of events; None where there is no such node."""
        node = find_node(self.plan, path)
        return None if node is None else node.outputs

    def check_policy(self, policy: Any) -> None:
        """Raise `PolicyInvalid` when a run of this flow may not start under `policy`."""
        require_entries(parse_policy(policy), self.guards)

    def with_platform(self, platform: Platform) -> Self:
        """The same flow talking to another platform."""
        return replace(self, host=self.host.with_parts(platform=platform), platform_given=True)

    def with_host(self, *, platform: Platform, tools: Mapping[str, Callable[..., Any]]) -> Self:
        """The same flow on another platform and other tools."""
        host = self.host.with_parts(platform=platform, tools=tools)
        return replace(self, host=host, platform_given=True)

    def graph(
        self,
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        *,
        effects: Effects = "line",
        fuse: bool | None = None,
    ) -> CompiledStateGraph[Any, HostContext, Any, Any]:
        """A plain LangGraph graph; a flow with gates needs a checkpointer to be resumed.

        effects: "forks" lets its nodes act in forks of a thread too, for hosts whose context
                 cannot say so: a graph server.  See `cinatra_sdk.langgraph_threads.lineage`.
        fuse:    as in `compile_flow`; None: as the flow was compiled.  A run may be begun with one
                 and resumed with the other.

        The graph reads its checkpoints with a serializer that makes no classes by name.
        Raises: `ValueError` for a checkpointer with a serializer that cannot promise that.
        """
        require_known(effects)
        saver = None if checkpointer is None else with_strict_serializer(checkpointer)
        known = self._compile_graph(effects, self.fuse if fuse is None else fuse)
        return known.copy({"checkpointer": saver})

    def _compile_graph(
        self, effects: Effects, fuse: bool
    ) -> CompiledStateGraph[Any, HostContext, Any, Any]:
        """The graph, compiled once: a store needs it for each activation, each time with another
        checkpointer.
        """
        known = self._graphs.get((effects, fuse))
        if known is not None:
            return known
        wiring = Wiring(
            host=self.host,
            policy=lambda: self.approval_policy,
            guards=self.guards,
            digest=self.digest,
            max_steps=self.max_steps,
            effects=effects,
            fuse=fuse,
            max_parallel=self.max_parallel,
            rules=self.rules,
        )
        made = make_graph(self.plan, wiring).compile(name=self.id)
        if fuse:
            made = drawn_as(made, lambda: self._compile_graph(effects, False))
        else:
            made = answering_by_id(made)
        # The flow's own bound on steps must come first, because its error names the node; the
        # engine's does not.
        bound = made.with_config(recursion_limit=10 * self.max_steps)
        self._graphs[effects, fuse] = bound
        return bound

    @cached_property
    def _graphs(self) -> dict[tuple[str, bool], CompiledStateGraph[Any, HostContext, Any, Any]]:
        return {}

    def _list_setup(self) -> SetupInputs:
        start = self.plan.start_node
        assert isinstance(start.work, Start)
        return start.work.list_setup(start.inputs)

    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The input of `graph.invoke`: the declared inputs in `params`.

        Undeclared keys are dropped with a warning in the log, and so are authoritative ones and
        the ids of the run: the run itself knows its id.
        Raises: `InputInvalid` also for a required input that only the caller can supply and
        that is missing; `ValueRefused`.
        """
        setup = self._list_setup()
        accepted = accepted_inputs(
            setup.inputs, {} if params is None else params, ids_of_run=RUN_ID_INPUTS
        )
        require_hidden(setup, accepted.values)
        for sentence in accepted.ignored:
            log.warning("input ignored: %s", sentence)
        return {INPUTS: accepted.values}

    def config(self, *, run_id: str) -> RunnableConfig:
        """The config of one run: `run_id` is LangGraph's thread id."""
        return {"configurable": {"thread_id": run_id}}

    def context(
        self,
        *,
        run_id: str = "",
        tenant: str = "",
        started_by: str = "",
        context_id: str = "",
        approval_policy: Any = DERIVED,
        run_token: str = "",
        bearer_token: str = "",
        effects: Effects | None = None,
    ) -> HostContext:
        """The host's context, passed as `context=` at every activation.

        See `cinatra_sdk.langgraph_threads.host_context.host_context`; the policy, the budget and the ledger
        are those of `host`.
        """
        context = host_context(
            run_id=run_id,
            tenant=tenant,
            started_by=started_by,
            context_id=context_id,
            approval_policy=approval_policy,
            run_token=run_token,
            bearer_token=bearer_token,
            effects=effects,
        )
        run = RunIdentity(
            id=run_id, tenant=tenant, flow=self.name, digest=self.digest, started_by=started_by
        )
        return lend_context(context, run, self.host)

    def stream(
        self,
        params: Mapping[str, Any] | Command[Any] | None = None,
        *,
        run_id: str = "",
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        context: HostContext | None = None,
    ) -> Iterator[RunEvent]:
        """Run the flow without a store, and give what happens in it, to its end or its first gate.

        params:  the inputs, or LangGraph's `Command(resume={gate.interrupt: answer})` for a run that
                 waits, which needs its `run_id` and `checkpointer`.
        context: of the host; None makes one for `run_id`.

        The events have numbers and no time; the last is the run's, `completed` with its `outputs`.
        Raises: as `input`, and what a node raises, after the events that led there.
        """
        return stream_events(*self._prepare_stream(params, run_id, checkpointer, context))

    def astream(
        self,
        params: Mapping[str, Any] | Command[Any] | None = None,
        *,
        run_id: str = "",
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        context: HostContext | None = None,
    ) -> AsyncIterator[RunEvent]:
        """As `stream`: `async for event in flow.astream({"topic": "x"})`."""
        return astream_events(*self._prepare_stream(params, run_id, checkpointer, context))

    def _prepare_stream(
        self,
        params: Mapping[str, Any] | Command[Any] | None,
        run_id: str,
        checkpointer: BaseCheckpointSaver[Any] | None,
        context: HostContext | None,
    ) -> tuple[Any, Any, RunnableConfig, HostContext]:
        host = self.context(run_id=run_id) if context is None else context
        name = run_id or host.run_id or uuid.uuid4().hex
        start = params if isinstance(params, Command) else self.input(params)
        return self.graph(checkpointer), start, self.config(run_id=name), host
