"""`build_hitl_gate` under the name by which Cinatra's agent development guide imports it.

    from cinatra_sdk.hitl import build_hitl_gate

The gate itself is in `cinatra_sdk.gates.hitl`.
"""

from __future__ import annotations

from cinatra_sdk.gates.hitl import build_hitl_gate

__all__ = ["build_hitl_gate"]
