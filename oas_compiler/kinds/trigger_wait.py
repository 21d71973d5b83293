"""TriggerWaitNode: a run that waits for an event; only its name is known, and it does not run yet."""

from __future__ import annotations

from oas_compiler.ir import UnknownNode
from oas_compiler.kinds.kind import NodeKind, build_unknown

TRIGGER_WAIT = NodeKind(
    component_type="TriggerWaitNode",
    # Agent Spec publishes no fields of it: there is nothing that a class of its own could hold.
    node=UnknownNode,
    build=build_unknown,
    words="Waits for an event.",
    fields=None,
    shows_screens=True,
)
