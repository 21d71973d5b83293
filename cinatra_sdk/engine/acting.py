"""Whether a node may act on the world outside: a call, a tool, a subflow with such nodes.

In: the state and the runtime of the node, and where its graph lets nodes act.  Out: the checkpoint
up to which the thread is known to have no fork, or an error: the node stands in a fork in which the
host does not let nodes act (`cinatra_sdk.engine.lineage`).

The code of the running graph says where nodes may act, and the thread does not: clients write into
threads, and another graph of the host may have begun the thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from langgraph.config import get_config
from langgraph.graph import START
from langgraph.pregel import Pregel

from cinatra_sdk.engine.lineage import (
    ThreadPlace,
    arequire_line,
    place_of,
    refuse_copy,
    require_line,
)
from cinatra_sdk.engine.runtime_context import Effects, context_of
from cinatra_sdk.engine.tasks import own_channels
from cinatra_sdk.governed.state import seal

_N = TypeVar("_N")


def refuse_forks(
    state: Mapping[str, Any], runtime: Any, *, node: str, effects: Effects, since: str = ""
) -> str:
    """Check that the node may act where it stands.

    effects: where the node's graph lets it act, unless the host's context says otherwise.  since:
    the result of an earlier check of this thread.  Returns the `since` of the next check; empty
    where the thread was not checked.  What else is asked before an effect: `cinatra_sdk.effects`.
    Raises: `ForkRefused`.
    """
    place = _place_to_check(state, runtime, node, effects)
    return "" if place is None else require_line(place, since=since, node=node)


async def arefuse_forks(
    state: Mapping[str, Any], runtime: Any, *, node: str, effects: Effects, since: str = ""
) -> str:
    """As `refuse_forks`, for an event loop."""
    place = _place_to_check(state, runtime, node, effects)
    return "" if place is None else await arequire_line(place, since=since, node=node)


_QUIET: Final = "does_not_act"


def does_not_act(node: _N) -> _N:
    """`node`, marked as a node that changes nothing outside the run."""
    object.__setattr__(node, _QUIET, True)
    return node


def may_act(graph: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether a node of `graph`, or of a graph inside it, may act: every node without that mark
    may.
    """
    nodes = (node.bound for name, node in graph.nodes.items() if name != START)
    # The engine wraps a plain function; the mark stays on the function.
    return not all(
        getattr(node, _QUIET, False) or getattr(getattr(node, "func", None), _QUIET, False)
        for node in nodes
    )


def seen_update(seen: str) -> dict[str, Any]:
    """The update that stores how far a block of a hand-written graph has checked the thread."""
    return {"seen": seal(seen)} if seen and "seen" in own_channels() else {}


def allows_forks(runtime: Any, effects: Effects) -> bool:
    """Whether nodes may act in forks: the host's setting overrides the graph's."""
    return (context_of(runtime.context).effects or effects) == "forks"


def _place_to_check(
    state: Mapping[str, Any], runtime: Any, node: str, effects: Effects
) -> ThreadPlace | None:
    """Where the node stands; None where it may act in every place."""
    if allows_forks(runtime, effects):
        return None
    identity = state.get("run") or {}
    place = place_of(get_config(), runtime.execution_info)
    refuse_copy(identity, place, node)
    return place
