"""A compiled flow, for hosts.

flow = compile_flow("agents/email/cinatra/oas.json", platform=HttpPlatform(base_url="http://host"))
graph = flow.graph(checkpointer=saver)
graph.invoke(flow.input({"topic": "x"}), flow.config(run_id="r1"), context=flow.context(run_id="r1"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import JsonValue

from cinatra_sdk.contract import is_send_class
from cinatra_sdk.flow.plan import FlowPlan
from cinatra_sdk.flow.planned import PlannedFlow
from oas_compiler.control.approval import Approval, acting_nodes, derive_approval
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.steering import steering
from oas_compiler.draw.mermaid import mermaid
from oas_compiler.ir import FlowIR
from oas_compiler.lower.planning import plan_flow
from oas_compiler.pipeline import Compiled
from oas_compiler.schema.flow_schemas import input_schema, output_schema


@dataclass(frozen=True, kw_only=True, eq=False)
class Flow(PlannedFlow):
    """A compiled flow.  Immutable; share it between threads and runs."""

    compiled: Compiled = field(repr=False)

    __repr__ = PlannedFlow.__repr__

    @property
    def ir(self) -> FlowIR:
        return self.compiled.ir

    @cached_property
    def plan(self) -> FlowPlan:
        """What each node does, as plain data."""
        return plan_flow(self.ir, self.approval)

    @property
    def name(self) -> str:
        return self.ir.name

    @property
    def digest(self) -> str:
        """sha256 (hex) of exactly the bytes that were compiled; a run is pinned to it."""
        return self.compiled.digest

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

    @property
    def guards(self) -> Sequence[tuple[int, str, str]]:
        return self.approval.guards

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

    @cached_property
    def steering(self) -> dict[str, JsonValue]:
        """Stubs that lead a simulation past the flow's gates; see `oas_compiler.control.steering`."""
        return steering(self.ir)

    def mermaid(self) -> str:
        """The flow as Mermaid text: OAS names, gates, branches, loops, subflows as boxes."""
        return mermaid(self.ir)
