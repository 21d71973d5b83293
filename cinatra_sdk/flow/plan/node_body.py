"""The function of a node, and the facts about it that the graph around it needs.

NodeBody(run=…, arun=…)      run(state, runtime, config) -> an update that passes the turn on
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.types import Command

from cinatra_sdk.engine.state_channels import has_ended
from cinatra_sdk.flow.plan.channel_names import CURSOR
from cinatra_sdk.flow.plan.frame import Frame

NodeFunction: TypeAlias = Callable[..., Any]
AsyncNodeFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBody:
    """The function of one LangGraph node, and facts about it."""

    run: NodeFunction
    """`(state, runtime) -> update`."""
    arun: AsyncNodeFunction | None = None
    """The asynchronous form; None where the node only computes."""
    reads: tuple[str, ...] = ()
    """State keys that the node reads beyond its frame's."""
    takes_turns: bool = True
    """Whether it runs in its turn only; a StartNode decides for itself."""
    acts: bool = False
    """Whether it, or a node inside it, does something outside the run: the host is asked before."""
    performs: bool = False
    """Whether its function goes through `cinatra_sdk.outside.effects.perform` itself; else the host is asked
    before the function runs, and nothing of it can be replayed.
    """
    computes: bool = False
    """Whether it only computes, in little time: then it can run in another node's superstep."""
    in_process: bool = False
    """Whether all it does outside the run is to call a function of this process, once."""
    asks: bool = False
    """Whether it is a gate of `build_hitl_gate` itself, which reads its own answers."""
    contains: bool = False
    """Whether it runs flows; its function then takes `(state, config, runtime)`."""
    subgraph: Any = None
    """The one graph that it runs itself, for pictures and for whoever looks into its state."""
    chooses: bool = False
    """Whether it can go on elsewhere than its one branch leads: a gate that ends the run, for one.

    A node with other branches than `next` alone chooses in any case.
    """


# ----------------------------------------------------------------------------
# What a node's function returned, checked: an update that passes the turn on.
#
#     {"node.a": {"seq": 4, "next": "b", …}, "cursor": …}    ->  itself
#     None, {"length": 4}                                    ->  NodeFailed
#
# The outputs of a node that an installed package adds are compared with its declaration, too: nobody
# else tests its function.


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
