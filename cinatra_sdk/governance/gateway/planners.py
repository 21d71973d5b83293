"""Planners: the port through which a governed run gets its plans, and two planners for it.

    ScriptedPlanner([plan, better_plan])(request)      the first plan, then the next; for tests, and offline
    ChatPlanner(model)(request)                        a chat model of LangChain's, with structured output

A planner proposes and decides nothing.  Its plan is read strictly and verified; where the returned value
is no plan, the planner is asked again, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from cinatra_sdk.governance.contracts.context_pack import CompiledContext
from cinatra_sdk.governance.contracts.invocation import RunContext
from cinatra_sdk.governance.contracts.plans import DecisionSpec, Plan
from cinatra_sdk.governance.contracts.record_format import thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.light_imports.records import dataclass

MOST_TOKENS: Final = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """The input of a planner.  Holds no token."""

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

    plan: Plan | Mapping[str, Any] | None
    """A plan as JSON is read strictly; None: there is none."""
    tokens: int = 0


Planner: TypeAlias = Callable[[PlanRequest], "Plan | Planned | Mapping[str, Any]"]
"""May be asynchronous."""


def read_planned(made: Any) -> tuple[Plan, int]:
    """The plan that a planner gave, and its tokens.

    Raises: `NoPlan` for everything else, with what it cost.
    """
    planned = made if isinstance(made, Planned) else Planned(plan=made)
    tokens: Any = planned.tokens
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= MOST_TOKENS:
        raise NoPlan("its number of tokens is no whole number from 0")
    given = planned.plan
    if not isinstance(given, (Plan, Mapping)):
        raise NoPlan(f"it is a {type(given).__name__}, no plan", tokens)
    try:
        # Also a plan that was made without being checked.
        return Plan.read(given.to_json() if isinstance(given, Plan) else thaw(given)), tokens
    except GovernanceRefused as refused:
        problem = refused.message
    except Exception as error:  # noqa: BLE001 - a mapping, or a record made by `model_construct`
        problem = f"{type(error).__name__} while it is read"
    raise NoPlan(problem, tokens)


class NoPlan(Exception):
    """What a planner gave is no plan; says why, and quotes no value."""

    def __init__(self, why: str, tokens: int = 0) -> None:
        super().__init__(why)
        self.tokens = tokens


class ScriptedPlanner:
    """Plans that are ready, one for each attempt; the last plan serves all later attempts.  Each is read when the
    run asks for it, like the plan of any planner.
    """

    def __init__(self, plans: Sequence[Plan | Mapping[str, Any]]) -> None:
        if not plans:
            raise ValueError("a scripted planner needs a plan")
        self._plans = list(plans)

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
        # What the parser says of an answer that it could not read may quote the answer: it stays here.
        used = getattr(raw, "usage_metadata", None) or {}
        return Planned(plan=parsed, tokens=int(used.get("total_tokens") or 0))


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
