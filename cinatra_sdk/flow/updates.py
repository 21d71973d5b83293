"""What a node's function returned, checked: an update that passes the turn on.

    {"node.a": {"seq": 4, "next": "b", …}, "cursor": …}    ->  itself
    None, {"length": 4}                                    ->  NodeFailed

The outputs of a node that an installed package adds are compared with its declaration, too: nobody
else tests its function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.types import Command

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import CURSOR
from cinatra_sdk.governed.state import has_ended

Completion = Callable[[Mapping[str, Any], Any], Any]
CompareOutputs = Callable[[Frame, dict[str, Any]], None]
"""Compares the outputs in a node's record with its declaration; raises `NodeFailed`."""


def make_completion(frame: Frame, body: NodeBody, compare: CompareOutputs | None) -> Completion:
    """The function from a node's state and update to the same update, checked.

    It raises `NodeFailed` for an update that does not pass the turn on.
    """
    channel, takes_turns = frame.channel, body.takes_turns

    def complete(state: Mapping[str, Any], update: Any) -> Any:
        if type(update) is dict and CURSOR in update and channel in update:
            if compare is not None:
                compare(frame, update[channel])
            return update
        if isinstance(update, Command) or not takes_turns or has_ended(state):
            return update
        raise frame.failed(
            "its function returned no update of frame.finish",
            hint="end it with `return frame.finish(state, {…})`",
        )

    return complete
