"""What an outcome claims: calls that were carried out, and calls that were not.

    {"approved": {"requires": ["adp_payments.issue_refund"]},
     "declined": {"forbids": ["adp_payments.issue_refund"]}}

    find_outcome_problem(decision, "declined", [CarriedCall("adp_payments.issue_refund", "completed")])
        ->  "the outcome 'declined' claims no call of 'adp_payments.issue_refund', and there is one"

The critic asks before a decision stands, and the record once more.  A call whose end nobody knows counts
against both: nobody can say that it was carried out, nor that it was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from cinatra_sdk.governance.contracts.decisions import DecisionSpec

_DONE: Final = ("ok", "completed")
_NOT_MADE: Final = ("paused", "blocked", "rejected")


@dataclass(frozen=True, slots=True)
class CarriedCall:
    """A call of the run, and what came of it."""

    capability: str
    status: str
    """Of its result; `error` where nobody knows."""
    changes: bool = False
    """Whether it may change something outside of the run."""

    @classmethod
    def of(cls, capability: str, result: Mapping[str, Any] | None, *, changes: bool) -> Self:
        """result: a `ToolResultEnvelope` as JSON; None while nobody knows what came of the call."""
        told = result or {}
        error = told.get("error") or {}
        status = str(told.get("status", "error"))
        # The transport failed, and nothing had left the process.
        reached = error.get("may_have_happened", error.get("reached", True))
        unmade = status == "failed" and reached is False
        return cls(capability, "blocked" if unmade else status, changes=changes)

    @property
    def is_done(self) -> bool:
        return self.status in _DONE

    @property
    def may_have_happened(self) -> bool:
        return self.status not in _NOT_MADE


def find_outcome_problem(
    decision: DecisionSpec | None, outcome: str | None, calls: Iterable[CarriedCall]
) -> str:
    """Why the calls do not carry the outcome; empty where they do, or where nothing is said of it."""
    claimed = None if decision is None or outcome is None else decision.outcomes.get(outcome)
    if claimed is None:
        return ""
    known = list(calls)
    for name in claimed.requires:
        if not any(one.is_done and one.capability == name for one in known):
            return f"the outcome '{outcome}' claims a call of '{name}', and none was carried out"
    for name in claimed.forbids:
        for one in known:
            if one.may_have_happened and (one.capability == name or (name == "*" and one.changes)):
                return f"the outcome '{outcome}' claims no call of '{name}', and there is one"
    return ""
