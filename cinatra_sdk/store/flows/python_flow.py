"""A Python module with a `FlowGraph` as a stored flow: any process can continue its runs.

    # shop/newsletter.py, made by `oasflow emit`
    flow = written_flow(newsletter, module=__name__, policy=POLICY)

    store.start(flow.lent(HostParts(platform=…)), {"topic": "Bees"})
    RunStore.open(host=HostParts(graphs=[flow]))      # in every process that goes on with its runs

A run is pinned to the text of the module.  A stored run holds the name of the flow.  The name is looked up
among the flows that the process lends; no module is imported by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.data.ports import describe_inputs, describe_outputs
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.flow.graph.flow_graph import FlowGraph, require_guarded_nodes
from cinatra_sdk.flow.graph.runnable_flow import MAX_STEPS, PlannedFlow
from cinatra_sdk.flow.nodes.start_and_end import Start
from cinatra_sdk.flow.nodes.tool_node import ToolCall
from cinatra_sdk.flow.plan.plan import FlowPlan, hash_plan, walk_plan, write_plan
from cinatra_sdk.governed.approval_policy import parse_policy, require_entries
from cinatra_sdk.host_parts.host_parts import NO_PARTS, HostParts
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.flows.flow_protocol import join_source
from cinatra_sdk.store.flows.graph_flow import GRAPH, find_module_file, read_module


@dataclass(frozen=True, kw_only=True, eq=False)
class WrittenFlow(PlannedFlow):
    """Implements `DurableFlow`.  Immutable; share it between threads and runs."""

    program: FlowPlan = field(repr=False)
    label: str
    """What a stored run calls the flow: `module:name`."""
    text: bytes = field(repr=False)
    """A header with the label, and the text of the module."""
    written_in: str = ""
    """The file of the module, as shown to people."""
    policy: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    guarded: tuple[tuple[int, str, str], ...] = ()
    steering: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    """Stubs that lead a simulation past the flow's gates, by node path."""
    answers: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    """Those of a simulation that nobody asked for."""

    __repr__ = PlannedFlow.__repr__

    @property
    def plan(self) -> FlowPlan:
        return self.program

    @property
    def source(self) -> bytes:
        return self.text

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.text).hexdigest()

    @property
    def file(self) -> str:
        return self.written_in

    @property
    def approval_policy(self) -> dict[str, JsonValue]:
        return dict(self.policy or {"steps": []})

    @property
    def guards(self) -> Sequence[tuple[int, str, str]]:
        return self.guarded

    @property
    def input_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the parameters; `required` are those a run cannot begin without."""
        start = self.plan.start_node.work
        assert isinstance(start, Start)
        return describe_inputs(
            self.plan.inputs,
            required=start.required,
            hidden=start.hidden,
            renderers=start.renderers,
            sources=start.data_sources.mapping(),
        )

    @property
    def output_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the outputs."""
        return describe_outputs(self.plan.outputs)

    def lent(self, host: HostParts) -> WrittenFlow:
        """The same flow with other parts; without a platform among them its HTTP calls are simulated."""
        given = host.platform is not None
        parts = host
        if host.env:
            # One record serves many flows: a run needs the variables that its own flow names.
            named = {name: value for name, value in host.env.items() if name in self._plan_text}
            parts = parts.with_parts(env=named)
        if not given:
            parts = parts.with_parts(platform=SimulatedPlatform(fallback=dict(self.answers)))
        governs = host.governance is not None and host.governance.governs_flows
        return replace(self, host=parts, platform_given=given, governed=self.governed or governs)

    @cached_property
    def _plan_text(self) -> str:
        return write_plan(self.program)

    def require_parts(self) -> None:
        """Raise `NotConfigured` where the host lends no function for a tool, or no secret."""
        for node in walk_plan(self.program):
            tool = getattr(node.work, "tool", "") if isinstance(node.work, ToolCall) else ""
            if tool and tool not in self.tools:
                raise NotConfigured(
                    f"the flow calls the tool '{tool}', which this process was not given",
                    hint="give it beside the flow: HostParts(graphs=[flow], tools={…})",
                )
        self.graph()


def written_flow(
    graph: FlowGraph,
    *,
    module: str,
    name: str = "flow",
    policy: Mapping[str, JsonValue] | None = None,
    guards: Sequence[tuple[int, str, str]] = (),
    steering: Mapping[str, JsonValue] | None = None,
    answers: Mapping[str, JsonValue] | None = None,
    slots: Mapping[str, JsonValue] | None = None,
    label: str = "",
    host: HostParts = NO_PARTS,
    max_steps: int = MAX_STEPS,
    fuse: bool = True,
    max_parallel: int | None = None,
) -> WrittenFlow:
    """The flow that a module has written.

    module:   `__name__` of the module.  name: what the flow is called there; another for each flow of
              a module.  label: what a stored run calls the flow; default `module:name`.
    policy:   the approval policy that holds where the host gives none.
    guards:   (step, gate, send) that every policy must say something about; both are nodes of the
              graph, by their paths.
    steering, answers: stubs of simulations, by node path: past the gates; and where nobody asked for
              a simulation.
    slots:    the context slots that the flow declares, as `cinatra_sdk.context.slot_declarations` writes them.
    host, max_steps, fuse, max_parallel: as at `compile_flow`.

    Only the module's own text counts for the digest, not that of the modules that it imports.

    Raises: `ValueError` for a graph that is not whole, and a module without a file; `PolicyInvalid`.
    """
    given: dict[str, Any] = dict(policy or {"steps": []})
    require_entries(parse_policy(given), tuple(guards))
    file = find_module_file(module)
    own = label or f"{module}:{name}"
    if module == "__main__" and not label:
        raise ValueError("this module is the program itself: give label=, or import the module")
    plan = graph.plan()
    require_guarded_nodes(plan, guards)
    header: dict[str, JsonValue] = {"kind": GRAPH, "name": own, "plan": hash_plan(plan)}
    if slots is not None:
        header["slots"] = dict(slots)
    made = WrittenFlow(
        program=plan,
        label=own,
        text=join_source(header, read_module(file)),
        written_in=str(file),
        policy=given,
        guarded=tuple(guards),
        steering=dict(steering or {}),
        answers=dict(answers or {}),
        host=host,
        max_steps=max_steps,
        fuse=fuse,
        max_parallel=max_parallel,
    )
    return made.lent(host)
