"""Which visit of a block runs now, in a graph that is written by hand.

In: the node that runs.  Out: 1, 2, … and, when it has finished, the update that counts it.

    visit = visit_of("draft")          1, also after a crash, whatever the thread was given meanwhile
    return {…, **visited("draft", visit)}

The engine's own name of a task is another one after every further input, so it cannot say that a
call is being made again.  The count is kept in the thread, sealed: see `GovernedState.visits`.
"""

from __future__ import annotations

from typing import Any

from cinatra_sdk.engine.tasks import own_channels
from cinatra_sdk.governed.state import Visits, seal


def visit_of(node: str) -> int | None:
    """Which visit of `node` runs now, from 1; None in a graph whose state keeps no count."""
    # From the channel: a node may be handed a part of the state only.
    channel = own_channels().get("visits")
    if not isinstance(channel, Visits):
        return None
    finished = channel.get() if channel.is_available() else {}
    return int(finished.get(node, 0)) + 1


def visited(node: str, visit: int | None) -> dict[str, Any]:
    """The update that keeps that `visit` of `node` has finished."""
    return {} if visit is None else {"visits": seal({node: visit})}
