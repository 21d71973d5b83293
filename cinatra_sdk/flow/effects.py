"""What a node of a flow does outside of its run, as an effect.

effect_of(frame, state, kind="tool", capability="lookup", arguments={"id": 7})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.effects import Effect
from cinatra_sdk.effects.effect import EffectKind
from cinatra_sdk.flow.frame import Frame


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

    capability: empty: the kind of the node, for a node that makes its effect by itself.
    """
    return Effect(
        kind=kind,
        capability=capability or frame.kind,
        node=frame.id,
        path=frame.where,
        place=frame.place(state),
        visit=frame.visit(state),
        arguments=arguments,
        risk=frame.risk,
        key=frame.effect_key(state),
        shown_sha256=frame.shown(state),
        once=frame.once,
        run_id=(state.get("run") or {}).get("run_id", ""),
        secrets=secrets,
    )
