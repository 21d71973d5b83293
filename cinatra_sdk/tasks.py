"""Where a node's state comes from: the channels of its own graph, another graph's, or a caller's hand.

`Command(goto=Send("node", {...}))` starts a node with a state of the caller's making: no channel
is read, so neither the seal nor the turn is asked.  No graph of this project uses `Send`, so a
node that was started by one does nothing.

A thread may have been written by another graph, whose keys have the same names.  The first node of
a hand-written graph seals the graph's shape into the run's identity, and every later one compares
it with the graph that it runs in (`require_own_graph`); compiled flows compare the file's digest.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.config import get_config

from cinatra_sdk.errors import FlowChanged

log = logging.getLogger("oasflow.state")


def was_sent() -> bool:
    """Whether the node that runs now was started by a `Send`, and not by its place in the graph."""
    try:
        metadata = get_config().get("metadata") or {}
    except RuntimeError:
        return False  # called as a plain function, outside any graph
    path = metadata.get("langgraph_path") or ("",)
    if path[0] != "__pregel_push":
        return False
    log.warning("R01_IGNORED: %r was started by a Send", metadata.get("langgraph_node"))
    return True


def shape_of(channels: Iterable[str]) -> str:
    """What tells one graph from another: sha256 (hex) over its state keys and nodes.

    channels: the names of its channels; each node has one, `branch:to:<node>`.
    """
    names = sorted(name for name in channels if not name.startswith("__"))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def own_channels() -> Mapping[str, Any]:
    """The channels of the graph that the running node belongs to, by name; none outside of any."""
    try:
        configurable = get_config().get("configurable") or {}
    except RuntimeError:
        return {}  # called as a plain function
    # The engine's own function for reading state, which holds the graph's channels.  Not public:
    # tests/sdk/test_own_graph.py fails when it changes.
    read = configurable.get("__pregel_read")
    channels: Mapping[str, Any] = {} if read is None else read.args[1]
    return channels


def own_shape() -> str:
    """The shape of the graph that the running node belongs to; empty outside of any graph."""
    channels = own_channels()
    return shape_of(channels) if channels else ""


def require_own_graph(state: Mapping[str, Any], node: str) -> None:
    """Raise `FlowChanged` where the state's run was begun by another graph on the same thread."""
    identity = state.get("run")
    if identity is None:
        return  # nothing says whose it is: a graph that keeps no identity
    shape = own_shape()
    if shape and identity.get("graph") != shape:
        raise FlowChanged(
            f"node '{node}' runs on a thread that another graph began",
            hint="go on with the graph that began it, or start a new thread",
        )
