"""The state of the loop between two of its nodes.

One sealed JSON object (`loop`) goes from node to node.  Its member `next` names the node that has the
turn, so that a jump into the middle of the loop does nothing.  `admitted` and `compiled` are written once
and never change.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict, field
from functools import cached_property
from typing import Annotated, Any, Final

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict

from cinatra_sdk.errors import ChildWaits, EffectUnknown, RunBusy, RunEnded
from cinatra_sdk.governance.contracts.context_pack import CompiledContext
from cinatra_sdk.governance.contracts.invocation import InvokeAgent, RunBudget, RunContext
from cinatra_sdk.governance.contracts.plans import DecisionSpec, Plan
from cinatra_sdk.governance.gateway.admission import Admitted, HostWord, follow_word, load_packs
from cinatra_sdk.governance.gateway.critic import Case, list_carried, list_evidence
from cinatra_sdk.governance.gateway.facts import make_run_facts
from cinatra_sdk.governance.gateway.gateway import GateApproval, Gateway
from cinatra_sdk.governance.gateway.host_record import GovernanceParts
from cinatra_sdk.governance.packs.rulebook import Rulebook, make_rulebook
from cinatra_sdk.governance.records.story import NAMED
from cinatra_sdk.governance.run.budgets import RunUsage, Used, follow_budget
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly, Latest, seal
from cinatra_sdk.light_imports.records import dataclass

NODES: Final = (
    "admit",
    "compile",
    "plan",
    "verify",
    "step",
    "gate",
    "score",
    "consolidate",
    "record",
    "escalated",
)
GATE: Final = "gate"
"""The node that asks a person."""
WAITING: Final = "call"
"""Member of `pending`: the call that a person is asked about, as a record tells it."""
REQUEST: Final = "request"
"""The one input: the invokeAgent envelope."""
RUN_STOPS: Final = (GraphBubbleUp, ChildWaits, EffectUnknown, RunBusy, RunEnded)
"""What is no result of a call and no answer of a planner: the run itself stops."""


class LoopInput(TypedDict):
    """What a caller sends."""

    request: dict[str, Any]


class LoopOutput(TypedDict, total=False):
    """What a caller receives."""

    status: str
    outputs: dict[str, Any]


class LoopState(GovernedState):
    request: dict[str, Any]
    input_params: Annotated[dict[str, Any], HostOnly]
    admitted: Annotated[dict[str, Any], HostOnly]
    """`{"envelope", "run", "book", "attachments", "at"}`."""
    compiled: Annotated[dict[str, Any], HostOnly]
    loop: Annotated[dict[str, Any], Latest]
    outputs: Annotated[dict[str, Any], HostOnly]


def begin_loop() -> dict[str, Any]:
    """The loop before its first node."""
    return {
        "seq": 0,
        "version": NAMED,
        "next": "admit",
        "attempt": 0,
        "findings": [],
        "plan": None,
        "cursor": 0,
        "pending": None,
        "calls": [],
        "done": {},
        "approvals": [],
        "retries": {},
        "verify": None,
        "score": None,
        "status": "",
        "outcome": None,
        "outputs": {},
        "reason": "",
        "proposals": [],
        "gate_visits": 0,
        "used": asdict(Used()),
    }


def go_to(loop: Mapping[str, Any], node: str, **changed: Any) -> dict[str, Any]:
    """The update that passes the turn on."""
    made = {**copy.deepcopy(dict(loop)), **changed, "next": node, "seq": loop["seq"] + 1}
    return {"loop": seal(made)}


def read_usage(loop: Mapping[str, Any]) -> RunUsage:
    return RunUsage(Used(**loop["used"]))


def list_approvals(loop: Mapping[str, Any]) -> list[GateApproval]:
    return [
        GateApproval(
            gate_id=one["gate_id"], approver=one["approver"], snapshot_hash=one["snapshot_hash"]
        )
        for one in loop["approvals"]
        if one["decision"] == "approved"
    ]


def list_recorded(loop: Mapping[str, Any]) -> dict[str, Evidence]:
    """Results of calls, as evidence for the next ones: the oldest first."""
    return {
        one["ref"]: Evidence(one["ref"], one["sha256"])
        for one in loop["calls"]
        if one["result"]["status"] in ("ok", "completed")
    }


# ----------------------------------------------------------------------------
# Whoever started a run, as the host says it: a store by the run's row, a plain graph by its context.
#
# name_starter({"run_id": "r1", "tenant": "acme"})     ->  the same with `started_by`
#
# In: the identity of a run.  Out: the identity with the name, where the host gives one.


def name_starter(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """A context that a client made names nobody: `context_of` knows the host's."""
    if run.get("started_by"):
        return run
    try:
        runtime = get_runtime(HostContext)
    except (RuntimeError, KeyError):
        return run  # outside of a node: whoever asks has the name, or there is none
    said = context_of(runtime.context).started_by
    return {**run, "started_by": said} if said else run


# ----------------------------------------------------------------------------
# What the nodes of the loop read from its state: the rules, the run, the gateway.
#
# The rules come from the registry anew in each process.  They have to be those that the run was admitted
# with: a pack whose content changed under the same version is refused.


@dataclass(frozen=True)
class LoopCase:
    """The state of the loop, read."""

    governance: GovernanceParts
    state: Mapping[str, Any] = field(repr=False)
    usage: RunUsage

    @property
    def loop(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.state["loop"]
        return found

    @cached_property
    def envelope(self) -> InvokeAgent:
        return InvokeAgent.read(self.state["admitted"]["envelope"])

    @cached_property
    def run(self) -> RunContext:
        """As the host's word is now: less where it gives less, and more of the budget where it has raised
        its limit since.  Raises: `GovernanceRefused` where it vouches for another user, or tenant.
        """
        admitted = self.state["admitted"]
        run, limit = RunContext.read(admitted["run"]), admitted.get("host_budget")
        word = self.word
        budget = follow_budget(
            run.run_budget,
            then=None if limit is None else RunBudget.read(limit),
            now=word.budget,
        )
        followed = follow_word(run, self.envelope.user, word, self.governance.ports)
        return followed.model_copy(update={"run_budget": budget})

    @cached_property
    def word(self) -> HostWord:
        return self.governance.read_word(name_starter(self.state["run"]))

    @cached_property
    def book(self) -> Rulebook:
        """Raises: `FlowChanged`, `GovernanceRefused`."""
        packs = load_packs(
            self.envelope.context_pack_refs, self.governance.registry, self.run.tenant_id
        )
        book = make_rulebook(packs)
        book.require_unchanged(self.state["admitted"]["book"])
        return book

    @cached_property
    def compiled(self) -> CompiledContext:
        return CompiledContext.read(self.state["compiled"])

    @cached_property
    def facts(self) -> dict[str, Any]:
        return make_run_facts(self.run, self.envelope.input, mode=self.envelope.mode)

    @property
    def decision(self) -> DecisionSpec | None:
        return self.book.decision_for(self.envelope.input.intent)

    @property
    def admitted(self) -> Admitted:
        attachments = tuple(
            Evidence(one["ref"], one["sha256"], self.run.tenant_id)
            for one in self.state["admitted"]["attachments"]
        )
        return Admitted(
            envelope=self.envelope, run=self.run, book=self.book, attachments=attachments
        )

    @property
    def gateway(self) -> Gateway:
        return Gateway(
            self.book, self.run, self.facts, ports=self.governance.ports, usage=self.usage
        )

    @property
    def plan(self) -> Plan:
        return Plan.read(self.loop["plan"])

    @property
    def case(self) -> Case:
        """For the critic."""
        return Case(
            book=self.book,
            decision=self.decision,
            run_facts=self.facts,
            budget=self.run.run_budget,
            used=self.usage.read(),
            done=self.loop["done"],
            evidence=self.list_evidence(),
            carried=list_carried(self.loop["calls"], self.book),
        )

    def list_evidence(self) -> tuple[str, ...]:
        return list_evidence(self.loop["calls"])
