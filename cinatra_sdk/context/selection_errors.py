"""The ways in which context selection fails: each with the platform's status and code.

    ContextError("slot_missing", 'the agent declares no slot "voice"')    .status 404  .code slot_missing
    .body()  ->  {"error": "slot_missing", "message": "the agent declares no slot …"}

Source of codes and statuses: Cinatra's platform, routes context-resolve and context-finalize.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cinatra_sdk.errors import FlowError

STATUS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "invalid_body": 400,
        "forbidden": 403,
        "context_unresolved": 403,
        "run_mismatch": 403,
        "run_unscoped": 403,
        "package_unresolved": 403,
        "package_mismatch": 403,
        "actor_unresolved": 403,
        "attestation_context_required": 403,
        "attestation_unconfigured": 403,
        "attestation_missing": 403,
        "attestation_invalid": 403,
        "attestation_node_unrecognized": 403,
        "attestation_slot_mismatch": 403,
        "attestation_kind_mismatch": 403,
        "run_missing": 404,
        "oas_missing": 404,
        "slot_missing": 404,
        "slot_ambiguous": 404,
        "selection_incoherent": 409,
        "selection_mode_mismatch": 422,
        "slot_mismatch": 422,
        "resolution_mode_mismatch": 422,
        "bad_envelope": 422,
        "ref_not_in_candidates": 422,
        "below_min_items": 422,
        "above_max_items": 422,
        "override_multi_select": 422,
        "inherited_selection_mismatch": 422,
    }
)
"""Every code with its HTTP status; no other code leaves this package."""


class ContextError(FlowError):
    """A context slot cannot be resolved, or a selection cannot be kept; nothing was written."""

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.status = STATUS[code]

    def body(self) -> dict[str, str]:
        """The body that the platform answers with."""
        return {"error": self.code, "message": str(self)}
