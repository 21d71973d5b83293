"""What a node of a flow does, and what the graph around it has to know of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

NodeFunction: TypeAlias = Callable[..., Any]
AsyncNodeFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBody:
    """What one LangGraph node does."""

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
    """Whether its function goes through `cinatra_sdk.effects.perform` itself; else the host is asked
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
