"""What a lowered node does outside of its run, as an effect.

effect_of(frame, state, kind="tool", capability="lookup", arguments={"id": 7})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.effects import Effect
from cinatra_sdk.effects.effect import EffectKind
from oas_compiler.ir import AT_MOST_ONCE
from oas_compiler.lower.frame import Frame


def effect_of(
    frame: Frame,
    state: Mapping[str, Any],
    *,
    kind: EffectKind = "tool",
    capability: str = "",
    arguments: JsonValue = None,
    secrets: tuple[str, ...] = (),
) -> Effect:
    """The effect of this visit of the node.

    capability: empty: the name of the node's class, for a node that makes its effect by itself.
    """
    node = frame.node
    return Effect(
        kind=kind,
        capability=capability or type(node).__name__,
        node=node.id,
        path=frame.where,
        visit=frame.visit(state),
        arguments=arguments,
        risk=node.risk_class or node.behind.risk_class,
        key=frame.effect_key(state),
        once=node.effect == AT_MOST_ONCE,
        run_id=(state.get("run") or {}).get("run_id", ""),
        secrets=secrets,
    )
