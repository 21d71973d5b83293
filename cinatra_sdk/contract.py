"""Words that both packages obey, and that a host reads in data: one place for each.

Standard library only: checking a file imports this module and nothing else of the SDK.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

# ------------------------------------------------------------------ runs

Status: TypeAlias = Literal["running", "waiting", "completed", "rejected", "failed", "stopped"]
"""Where a run can stand."""
TERMINAL: Final[tuple[str, ...]] = ("completed", "rejected", "failed", "stopped")
"""No activation works on the run any more; a failed run can be tried again."""
ENDED: Final[tuple[str, ...]] = ("completed", "rejected", "stopped")
"""For good: nothing is called any more, and nothing of the run changes."""

RUN_ID_INPUTS: Final = ("cinatra_run_id", "agent_run_id")
"""Inputs of a flow that carry the run's own id: the host's wins over whatever anybody sends."""

# ------------------------------------------------------------------ gates

SETUP_STEP: Final = 0
"""Number of the policy step of the gate that asks for inputs of the run which nobody has given."""
FALLBACK_RENDERER: Final = "@cinatra-ai/agent-builder:schema-field-fallback"
"""The host's screen for a gate whose author named none."""
MAX_GATE_VISITS: Final = 100
"""How often one run may come to a gate whose author named no number, and the highest number."""

# ------------------------------------------------------------------ classes of risk

SEND_SUFFIXES: Final = ("_send", "_publish", "_post", "_delete")
SEND_CLASSES: Final = ("send_external_message", "send", "publish", "post", "delete")


def is_send_class(risk_class: str) -> bool:
    """Whether a node of this risk class acts on the world outside and cannot be undone."""
    return risk_class in SEND_CLASSES or risk_class.endswith(SEND_SUFFIXES)
