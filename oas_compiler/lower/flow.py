"""A compiled flow, for hosts.

flow = compile_flow("agents/email/cinatra/oas.json", platform=HttpPlatform(base_url="http://host"))
graph = flow.graph(checkpointer=saver)
graph.invoke(flow.input({"topic": "x"}), flow.config(run_id="r1"), context=flow.context(run_id="r1"))
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import JsonValue

from cinatra_sdk.contract import RUN_ID_INPUTS, is_send_class
from cinatra_sdk.engine.answering import answering_by_id
from cinatra_sdk.engine.checkpoints import with_strict_serializer
from cinatra_sdk.engine.lineage import Effects, require_known
from cinatra_sdk.engine.runtime_context import DERIVED, HostContext, host_context
from cinatra_sdk.events.event import RunEvent
from cinatra_sdk.flow.drawn import drawn_as
from cinatra_sdk.flow.frame import LAYOUT, pin_of
from cinatra_sdk.flow.inputs import accepted_inputs, require_hidden
from cinatra_sdk.flow.names import INPUTS
from cinatra_sdk.flow.streaming import astream_events, stream_events
from cinatra_sdk.governed.policy import parse_policy, require_entries
from cinatra_sdk.lending.host_parts import HostParts, RunIdentity
from cinatra_sdk.lending.lent_context import lend_context
from cinatra_sdk.platform.protocol import Platform
from oas_compiler.control.approval import Approval, acting_nodes, derive_approval
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.steering import steering
from oas_compiler.draw.mermaid import mermaid
from oas_compiler.ir import FlowIR, Port
from oas_compiler.lower.graph import lower_flow
from oas_compiler.lower.nodes.start import list_setup_inputs
from oas_compiler.lower.places import find_node
from oas_compiler.lower.registry import Wiring
from oas_compiler.pipeline import Compiled
from oas_compiler.schema.flow_schemas import input_schema, output_schema

log = logging.getLogger("oasflow.flow")

MAX_STEPS = 10_000
"""Steps (visits of nodes) of one run on one level of subflows."""


@dataclass(frozen=True, eq=False)
class Flow:
    """A compiled flow.  Immutable; share it between threads and runs."""

    compiled: Compiled = field(repr=False)
    host: HostParts
    """What the host lends; with a platform, which `compile_flow` simulates where there is none."""
    max_steps: int = MAX_STEPS
    fuse: bool = True
    """Whether nodes that only compute run in the superstep of the node before them."""
    max_parallel: int | None = None
    """How many branches of one node run at a time; None: as many as the engine lets."""
    platform_given: bool = True
    """Whether the host named a platform; without one, calls are simulated."""

    def __repr__(self) -> str:
        return f"Flow({self.name!r}, digest={self.digest[:12]!r}, platform={self.platform!r})"

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
    def ir(self) -> FlowIR:
        return self.compiled.ir

    @property
    def id(self) -> str:
        """The flow's OAS id."""
        return self.ir.id

    @property
    def name(self) -> str:
        return self.ir.name

    @property
    def digest(self) -> str:
        """sha256 (hex) of exactly the bytes that were compiled; a run is pinned to it."""
        return self.compiled.digest

    @property
    def lowering(self) -> int:
        """Version of the graph's layout: a parked run resumes on the same one only."""
        return LAYOUT

    @property
    def is_repeatable(self) -> bool:
        """Whatever a node does beside computing goes through the door for effects."""
        return True

    @property
    def source(self) -> bytes:
        """The bytes that were compiled."""
        return self.compiled.source_bytes

    @property
    def file(self) -> str:
        """The file as the caller named it; empty for bytes and dicts."""
        return self.compiled.file

    @cached_property
    def approval(self) -> Approval:
        sends = frozenset(
            path for path, node in acting_nodes(self.ir) if is_send_class(node.risk_class)
        )
        return derive_approval(self.ir, send_class=sends)

    @property
    def approval_policy(self) -> dict[str, JsonValue]:
        """The policy that the file implies: `{"steps": [{"stepNumber": 1, …}]}`."""
        return self.approval.policy()

    def check_policy(self, policy: Any) -> None:
        """Raise `PolicyInvalid` when a run of this flow may not start under `policy`."""
        require_entries(parse_policy(policy), self.approval.guards)

    @property
    def gates(self) -> tuple[GateSpec, ...]:
        """Every gate at any depth, in the order of the policy's steps."""
        return self.approval.gates

    @property
    def input_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the parameters; `required` are those a run cannot begin without."""
        return input_schema(self.ir)

    @property
    def output_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the outputs."""
        return output_schema(self.ir)

    def outputs_of(self, path: str) -> Sequence[Port] | None:
        """The declared outputs of the node at a path of events; None where there is no such node."""
        node = find_node(self.ir, path)
        return None if node is None else node.outputs

    @property
    def pin(self) -> str:
        """The part of a run's sealed identity that names the file and the layout of the compiled
        graph.
        """
        return pin_of(self.digest, ())

    @cached_property
    def steering(self) -> dict[str, JsonValue]:
        """Stubs that lead a simulation past the flow's gates; see `oas_compiler.control.steering`."""
        return steering(self.ir)

    def with_platform(self, platform: Platform) -> Flow:
        """The same flow talking to another platform."""
        return replace(self, host=self.host.with_parts(platform=platform), platform_given=True)

    def with_host(self, *, platform: Platform, tools: Mapping[str, Callable[..., Any]]) -> Flow:
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
                 cannot say so: a graph server.  See `cinatra_sdk.engine.lineage`.
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
            approval=self.approval,
            digest=self.digest,
            max_steps=self.max_steps,
            effects=effects,
            fuse=fuse,
            max_parallel=self.max_parallel,
        )
        made = lower_flow(self.ir, wiring).compile(name=self.id)
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

    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The input of `graph.invoke`: the declared inputs in `params`.

        Undeclared keys are dropped with a warning in the log, and so are authoritative ones and
        the ids of the run: the run itself knows its id.
        Raises: `InputInvalid` also for a required input that only the caller can supply and
        that is missing; `ValueRefused`.
        """
        accepted = accepted_inputs(self.ir.inputs, params or {}, ids_of_run=RUN_ID_INPUTS)
        require_hidden(list_setup_inputs(self.ir.start_node()), accepted.values)
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
        context_id: str = "",
        approval_policy: Any = DERIVED,
        run_token: str = "",
        bearer_token: str = "",
        effects: Effects | None = None,
    ) -> HostContext:
        """The host's context, passed as `context=` at every activation.

        See `cinatra_sdk.engine.runtime_context.host_context`; the policy, the budget and the ledger
        are those of `host`.
        """
        context = host_context(
            run_id=run_id,
            tenant=tenant,
            context_id=context_id,
            approval_policy=approval_policy,
            run_token=run_token,
            bearer_token=bearer_token,
            effects=effects,
        )
        run = RunIdentity(id=run_id, tenant=tenant, flow=self.name, digest=self.digest)
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

    def mermaid(self) -> str:
        """The flow as Mermaid text: OAS names, gates, branches, loops, subflows as boxes."""
        return mermaid(self.ir)
