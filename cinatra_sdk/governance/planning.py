"""Who makes the plans of a governed run: a port, with two planners behind it.

    ScriptedPlanner([plan, better_plan])(request)      the first plan, then the next; for tests, and offline
    ChatPlanner(model)(request)                        a chat model of LangChain's, with structured output

A planner proposes; it decides nothing.  Whatever it returns is read strictly and verified.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cinatra_sdk.governance.contracts.compiled import CompiledContext
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.decisions import DecisionSpec, Plan
from cinatra_sdk.governance.contracts.run_context import RunContext


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a planner is told.  Holds no token."""

    run: RunContext
    compiled: CompiledContext = field(repr=False)
    decision: DecisionSpec | None
    attempt: int
    """From 1."""
    findings: tuple[str, ...] = ()
    """Why the plan before was not taken."""
    results: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """Results of calls so far: `{"step", "capability", "status", "output", "evidence_ref"}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan, and what it cost to make."""

    plan: Plan
    tokens: int = 0


Planner: TypeAlias = Callable[[PlanRequest], "Plan | Planned"]


class ScriptedPlanner:
    """Plans that stand ready, one for each attempt; the last for every later one."""

    def __init__(self, plans: Sequence[Plan | Mapping[str, Any]]) -> None:
        if not plans:
            raise ValueError("a scripted planner needs a plan")
        self._plans = [one if isinstance(one, Plan) else Plan.read(one) for one in plans]

    def __call__(self, request: PlanRequest) -> Planned:
        return Planned(plan=self._plans[min(request.attempt, len(self._plans)) - 1])


class ChatPlanner:
    """Asks a chat model for a `Plan`; the context is the compiled one and nothing else."""

    def __init__(self, model: Any) -> None:
        """model: a chat model of LangChain's that has `with_structured_output`."""
        self._model = model

    def __call__(self, request: PlanRequest) -> Planned:
        schema = Plan.model_json_schema(by_alias=True)
        asked = self._model.with_structured_output(
            {"title": "Plan", "description": "The calls that lead to the decision.", **schema},
            include_raw=True,
        ).invoke(make_planner_messages(request))
        raw, parsed = asked.get("raw"), asked.get("parsed")
        used = getattr(raw, "usage_metadata", None) or {}
        return Planned(plan=Plan.read(parsed), tokens=int(used.get("total_tokens") or 0))


def make_planner_messages(request: PlanRequest) -> list[tuple[str, str]]:
    """The messages for a model: what the pack says, then what is asked, then what went wrong."""
    prompt = request.compiled.compiled_prompt
    blocks = "\n\n".join(
        f"[{one.bucket}/{one.block_id}]\n{one.content}" for one in prompt.context_blocks
    )
    system = "\n\n".join(part for part in (prompt.system, prompt.developer, blocks) if part)
    decision = request.decision
    task = [prompt.task]
    if decision is not None:
        task.append(
            f"Decide '{decision.decision_key}'; outcomes: {', '.join(decision.allowed_outcomes) or 'any'}."
        )
    if request.results:
        task.append("Results so far: " + json.dumps([thaw(one) for one in request.results]))
    if request.findings:
        task.append("The plan before was not taken: " + "; ".join(request.findings))
    return [("system", system), ("human", "\n\n".join(task))]
