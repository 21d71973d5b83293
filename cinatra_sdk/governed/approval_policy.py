"""The approval policy of a run: which steps a person must approve.

In: `{"steps": [{"stepNumber": 2, "riskClass": "read_only", "requiresApproval": true}, …]}`, or
None where the host has no policy.  Out: an `ApprovalPolicy`, or `PolicyInvalid`.

A well-formed policy without an entry for a step skips that step's gate, as Cinatra's agent
development guide asks.  A malformed policy refuses to start: it never skips.  A run also refuses to
start when a node of a send class stands behind a gate without an entry; `requiresApproval: false`
is the only waiver.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cinatra_sdk.errors import PolicyInvalid

Verdict: TypeAlias = Literal["ask", "skip", "absent"]


class PolicyStep(BaseModel):
    """One entry of `approvalPolicy.steps`; keys beyond these are kept and not read."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    stepNumber: int = Field(ge=0)  # noqa: N815 - Cinatra's wire name
    requiresApproval: bool  # noqa: N815 - Cinatra's wire name
    riskClass: str = ""  # noqa: N815 - Cinatra's wire name


class ApprovalPolicy(BaseModel):
    """A well-formed policy."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    steps: tuple[PolicyStep, ...]

    def verdict(self, step: int) -> Verdict:
        """`ask` a person, `skip` because the policy says so, or `absent`: no entry."""
        for entry in self.steps:
            if entry.stepNumber == step:
                return "ask" if entry.requiresApproval else "skip"
        return "absent"


def parse_policy(value: object) -> ApprovalPolicy | None:
    """The policy, or None for null.

    Raises: `PolicyInvalid`, which names the wrong entry and the rule.
    """
    if value is None:
        return None
    try:
        policy = ApprovalPolicy.model_validate_json(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise PolicyInvalid(
            f"the approval policy is malformed: {_first_problem(error)}",
            hint='write {"steps": [{"stepNumber": 1, "requiresApproval": true}]}',
        ) from None
    seen: dict[int, PolicyStep] = {}
    for entry in policy.steps:
        other = seen.setdefault(entry.stepNumber, entry)
        if other.requiresApproval != entry.requiresApproval:
            raise PolicyInvalid(
                f"the approval policy has two entries for step {entry.stepNumber} that disagree",
                hint="keep one of them",
            )
    return policy


def policy_hash(value: object) -> str:
    """sha256 of the policy's canonical JSON, for audit rows."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def require_entries(policy: ApprovalPolicy | None, steps: Iterable[tuple[int, str, str]]) -> None:
    """Refuse a policy that leaves a send without any entry.

    `steps` are (step number, gate, send node) of every gate that stands before a node of a send
    class.  Raises: `PolicyInvalid`, which names the first gate without an entry.
    """
    for step, gate, send in steps:
        if policy is None or policy.verdict(step) == "absent":
            raise PolicyInvalid(
                f"the approval policy has no entry for step {step} (gate '{gate}'), "
                f"which guards '{send}'",
                hint=f'add {{"stepNumber": {step}, "requiresApproval": true}}',
            )


def _first_problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        detail: Any = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in detail["loc"]) or "it"
        return f"{place}: {detail['msg']}"
    return "it is not JSON"
