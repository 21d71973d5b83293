"""What the nodes of the loop read from its state: the rules, the run, the gateway.

The rules come from the registry anew in each process.  They have to be those that the run was admitted
with: a pack whose content changed under the same version is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cinatra_sdk.governance.admission import Admitted, HostWord, follow_word, load_packs
from cinatra_sdk.governance.budgets import follow_budget
from cinatra_sdk.governance.contracts.compiled import CompiledContext
from cinatra_sdk.governance.contracts.decisions import DecisionSpec, Plan
from cinatra_sdk.governance.contracts.invoke import InvokeAgent
from cinatra_sdk.governance.contracts.run_context import RunBudget, RunContext
from cinatra_sdk.governance.critic import Case, list_carried, list_evidence
from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.facts import make_run_facts
from cinatra_sdk.governance.gateway import Gateway
from cinatra_sdk.governance.parts import GovernanceParts
from cinatra_sdk.governance.rulebook import Rulebook, make_rulebook
from cinatra_sdk.governance.starter import name_starter
from cinatra_sdk.governance.usage import RunUsage


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
