"""Why a governed run, or a call in one, is refused: each reason has a code for good.

    GovernanceRefused("PACK_REF_UNPINNED", "context_pack_refs/0 names no version")
        .code      "PACK_REF_UNPINNED"
        .status    400, for a host that answers over HTTP

The codes are a public contract: `docs/governance.md` lists them, and tests hold one refused and one
accepted case for each.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from cinatra_sdk.errors import FlowError
from cinatra_sdk.light_imports.records import dataclass

ToolResultStatus: TypeAlias = Literal[
    "ok", "completed", "paused", "blocked", "rejected", "failed", "error"
]


@dataclass(frozen=True, slots=True)
class Reason:
    """What a code means: for a host over HTTP, and for the result of a call."""

    status: int
    """The status of an HTTP answer."""
    result: ToolResultStatus
    """The status of the result of a call that is refused for it."""
    says: str


REASONS: Final[dict[str, Reason]] = {
    # Before anything runs.
    "INVALID_ENVELOPE": Reason(400, "rejected", "the envelope does not fit its contract"),
    "PACK_REF_UNPINNED": Reason(400, "rejected", "a pack is named without its exact version"),
    "PACK_NOT_FOUND": Reason(404, "rejected", "no registry has the pack"),
    "PACK_INCOMPATIBLE": Reason(409, "rejected", "the pack needs another version of something"),
    "PACK_TENANT_MISMATCH": Reason(403, "rejected", "the pack is another tenant's"),
    "PACK_UNVOUCHED": Reason(403, "rejected", "the host does not let a request choose the pack"),
    "PACK_INVALID": Reason(409, "rejected", "the pack contradicts itself"),
    "TENANT_MISMATCH": Reason(403, "rejected", "two parts of the request name different tenants"),
    "IDENTITY_INVALID": Reason(401, "rejected", "the agent's identity does not hold"),
    "INTENT_UNKNOWN": Reason(400, "rejected", "no catalog of the packs has the intent"),
    "USER_UNVOUCHED": Reason(403, "rejected", "the host does not vouch for the user"),
    "SESSION_REQUIRED": Reason(400, "rejected", "a long-running run needs a session"),
    "PAYLOAD_TOO_LARGE": Reason(413, "rejected", "the envelope is larger than it may be"),
    "ATTACHMENT_FORBIDDEN": Reason(403, "rejected", "the run may not read the attachment"),
    "DELEGATION_WIDENS": Reason(403, "rejected", "a child would be allowed more than its parent"),
    # Of one call.
    "CAPABILITY_UNSURFACED": Reason(403, "rejected", "the run does not offer the capability"),
    "ARGUMENTS_INVALID": Reason(400, "rejected", "the arguments do not fit the capability"),
    "MODE_EXCEEDS_DECLARED": Reason(403, "rejected", "the call is riskier than its adapter says"),
    "DELEGATION_REQUIRED": Reason(403, "rejected", "a person's delegation is missing or over"),
    "IDEMPOTENCY_KEY_REQUIRED": Reason(400, "rejected", "a writing call has no idempotency key"),
    "IDEMPOTENCY_CONFLICT": Reason(409, "rejected", "the key belongs to another request"),
    "POLICY_DENIED": Reason(403, "blocked", "a rule of the pack forbids the call"),
    "EVIDENCE_MISSING": Reason(403, "blocked", "a rule asks for evidence that is not there"),
    "MODE_EXCEEDS_SAFETY": Reason(403, "blocked", "the call is riskier than the run may be"),
    "GATE_PENDING": Reason(409, "paused", "a person has to approve the call first"),
    "GATE_REJECTED": Reason(403, "blocked", "a person said no"),
    "EVIDENCE_DRIFT": Reason(409, "blocked", "a person approved something else"),
    "BUDGET_EXCEEDED": Reason(429, "blocked", "the budget of the run is used up"),
    "TIMEOUT": Reason(504, "failed", "it took longer than it may"),
    # Of a whole run.
    "PLAN_REFUSED": Reason(409, "rejected", "the planner gave no plan that could be taken"),
    "MUST_REFUSE": Reason(403, "blocked", "a guardrail refuses the request"),
    "MUST_ESCALATE": Reason(409, "blocked", "a guardrail hands the request to a person"),
    "RECORD_INVALID": Reason(409, "rejected", "a decision record does not hold"),
}


class GovernanceRefused(FlowError, ValueError):
    """A governed run, or a call in one, that was not let through; nothing was done.

    Safe to show and to store: it names the place and the rule, and quotes no value.
    """

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.status = REASONS[code].status
        """For a host that answers over HTTP."""

    @property
    def result(self) -> ToolResultStatus:
        """The status of the result of a call that is refused for this."""
        return REASONS[self.code].result
