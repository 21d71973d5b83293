"""A small pack over the calls of small flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cinatra_sdk.governance.contracts.context_pack import ContextPack

SEND = "POST {{CINATRA_BASE_URL}}/api/send"


def make_small_pack(
    rules: Sequence[dict[str, Any]] = (),
    *,
    mode: str = "network",
    safety: str = "network",
    kind: str = "http",
    binds_to: str = SEND,
    gates: Sequence[str] = ("G",),
    **about: Any,
) -> ContextPack:
    """One adapter with one capability, which is permitted."""
    capability = {"binds_to": binds_to, **about}
    return ContextPack.read(
        {
            "contract_meta": {
                "contract_name": "contextos.pack", "contract_version": "2.0.0", "issuer": "test",
                "created_at": "2026-05-01T00:00:00Z",
            },
            "pack_meta": {
                "pack_id": "ctxpack.small", "pack_version": "1.0.0", "tenant": "*",
                "environment_defaults": {"safety_mode": safety},
            },
            "intelligence_refs": {},
            "business_context": {},
            "policy_layer": {
                "bundles": [
                    {"bundle_id": "B", "policy_dsl": {"language": "jsonlogic", "rules": list(rules)}}
                ],
                "permissions": [
                    {"permission_id": "P", "adapter_id": "mail", "capability": "*", "allow": True}
                ],
                "approval_gates": [{"gate_id": name} for name in gates],
            },
            "tooling_layer": {
                "adapters": [
                    {
                        "adapter_id": "mail", "type": kind, "capabilities": ["send"],
                        "approval_mode": mode, "capability_metadata": {"send": capability},
                    }
                ]
            },
            "decision_layer": {"catalog": "none"},
            "memory_layer": {},
            "evaluation_layer": {},
            "tone_and_comms": {},
        },
        code="PACK_INVALID",
    )  # fmt: skip
