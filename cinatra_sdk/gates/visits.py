"""The identity of a gate in a hand-written graph: the name of its node, and its visit.

In: the node that runs now, and the state of its graph.  Out: its name and its visit, from 1.

    while not good:  draft → review     ->  gates "review", "review#2", "review#3"

Two gates of a graph have two nodes, so no two gates share an id, and an answer to an earlier visit
never fits a later question.  Compiled flows count visits themselves (`cinatra_sdk.flow.frame`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.config import get_config
from langgraph.types import Command

from cinatra_sdk.engine.tasks import own_channels
from cinatra_sdk.engine.visits import visit_of, visited
from cinatra_sdk.errors import NodeFailed


def own_name() -> str:
    """The name of the running node in its graph; "gate" outside of any graph."""
    return str(_read_run_metadata().get("langgraph_node") or "gate")


def gate_visit(node: str) -> int:
    """How often the gate `node` was reached, this time included.

    A graph whose state does not inherit from `GovernedState` keeps no count.  There the number of
    the engine's step is returned: it differs between visits, and stays the same when the gate runs
    again to take its answer.
    """
    visit = visit_of(node)
    return max(1, int(_read_run_metadata().get("langgraph_step") or 1)) if visit is None else visit


def with_visit(update: Any, node: str) -> Any:
    """The update of an answered gate, with its visit counted."""
    counted = visited(node, visit_of(node))
    if isinstance(update, Mapping):
        return {**update, **counted}
    if isinstance(update, Command) and (update.update is None or isinstance(update.update, dict)):
        return replace(update, update={**(update.update or {}), **counted})
    return update


def require_rejectable(node: str) -> None:
    """Raise `NodeFailed` where the running graph has no state key for a rejection."""
    channels = own_channels()
    if channels and "rejected_at" not in channels:
        raise NodeFailed(
            f"gate '{node}' stands in a graph whose state has no key 'rejected_at': "
            "a rejection would be lost, and the next node would run",
            node=node,
            hint="let the state inherit from cinatra_sdk.governed.state.GovernedState",
        )


def _read_run_metadata() -> Mapping[str, Any]:
    try:
        return get_config().get("metadata") or {}
    except RuntimeError:
        return {}  # called as a plain function
