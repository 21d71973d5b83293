"""Where a node's state comes from: the channels of the run, or the hand of whoever sent a task.

`Command(goto=Send("node", {...}))` starts a node with a state of the caller's making: no channel
is read, so neither the seal nor the turn is asked.  No graph of this project uses `Send`, so a
node that was started by one does nothing.
"""

from __future__ import annotations

import logging

from langgraph.config import get_config

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
