"""The number of a block's running visit, in a graph that is written by hand.

In: the node that runs.  Out: 1, 2, … and, when it has finished, the update that counts it.

    visit = visit_of("draft")          1, also after a crash or a further input
    return {…, **visited("draft", visit)}

The engine's name of a task changes after every further input, so it cannot show that a call is
repeated.  So the thread keeps a sealed count: see `GovernedState.visits`.
"""

from __future__ import annotations

from typing import Any

from cinatra_sdk.engine.tasks import own_channels
from cinatra_sdk.governed.state import Visits, seal


def visit_of(node: str) -> int | None:
    """The number of the running visit of `node`, from 1; None in a graph whose state keeps no
    count.
    """
    # From the channel: a node may get only a part of the state.
    channel = own_channels().get("visits")
    if not isinstance(channel, Visits):
        return None
    finished = channel.get() if channel.is_available() else {}
    return int(finished.get(node, 0)) + 1


def visited(node: str, visit: int | None) -> dict[str, Any]:
    """The update that records that `visit` of `node` has finished."""
    return {} if visit is None else {"visits": seal({node: visit})}
