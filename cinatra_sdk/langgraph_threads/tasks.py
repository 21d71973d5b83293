"""The origin of a node's state: the channels of its own graph, another graph, or a caller.

`Command(goto=Send("node", {...}))` starts a node with a state that the caller made: no channel is
read, so neither the seal nor the turn is checked.  No graph of this project uses `Send`, so a node
that was started by a `Send` does nothing.

Another graph may have written the thread, with keys of the same names.  The first node of a hand-written
graph seals the graph's shape into the run's identity, and every later node compares this shape with that
of its own graph (`require_own_graph`).  Compiled flows compare the digest of the file.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Final

from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp, GraphDrained
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.errors import EngineUnsupported, FlowChanged, FlowError
from cinatra_sdk.events import RunEvent, Tell, tell_event, tell_node
from cinatra_sdk.langgraph_internals import task_facts
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.state_channels import Visits, seal
from cinatra_sdk.outside.http_calls.protocol import PlatformError

log = logging.getLogger("oasflow.state")

ENGINE: Final = ">=1.2.22,<1.3"
"""The supported versions of LangGraph, as in pyproject.toml."""


def was_sent() -> bool:
    """Whether a `Send` started the running node, and not its place in the graph.

    Raises: `EngineUnsupported` where the engine does not tell.
    """
    try:
        config = get_config()
    except RuntimeError:
        return False  # called as a plain function, outside any graph
    found = task_facts.was_sent(config)
    if found is task_facts.NOT_TOLD:
        raise unsupported("how a node was started, so no Send can be told from a step")
    if found:
        log.warning("R01_IGNORED: %r was started by a Send", task_facts.read_node_name(config))
    return bool(found)


def shape_of(channels: Iterable[str]) -> str:
    """The identity of a graph: sha256 (hex) over its state keys and nodes.

    channels: the names of its channels; each node has one, `branch:to:<node>`.
    """
    return _hash_channel_names(tuple(channels))


@functools.lru_cache(maxsize=256)
def _hash_channel_names(channels: tuple[str, ...]) -> str:
    """Cached, because every node of a hand-written graph needs this hash."""
    names = sorted(name for name in channels if not name.startswith("__"))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def own_channels() -> Mapping[str, Any]:
    """The channels of the running node's graph, by name; empty outside of any graph.

    Raises: `EngineUnsupported` where the engine does not give them.
    """
    try:
        config = get_config()
    except RuntimeError:
        return {}  # called as a plain function
    channels = task_facts.find_channels(config)
    if channels is task_facts.NOT_TOLD:
        raise unsupported(
            "to which graph a node belongs, so no thread can be told from another graph's"
        )
    return channels


def unsupported(what: str) -> EngineUnsupported:
    """The error for an engine that does not tell `what`."""
    message = f"LangGraph {version('langgraph')} does not say {what}"
    return EngineUnsupported(message, hint=f"install langgraph{ENGINE}")


def own_shape() -> str:
    """The shape of the graph that the running node belongs to; empty outside of any graph."""
    channels = own_channels()
    return shape_of(channels) if channels else ""


def require_own_graph(state: Mapping[str, Any], node: str) -> None:
    """Raise `FlowChanged` where another graph began the state's run on the same thread."""
    identity = state.get("run")
    if identity is None:
        return  # a graph that keeps no identity of its run
    shape = own_shape()
    if shape and identity.get("graph") != shape:
        raise FlowChanged(
            f"node '{node}' runs on a thread that another graph began",
            hint="go on with the graph that began it, or start a new thread",
        )


# ----------------------------------------------------------------------------
# The number of a block's running visit, in a graph that is written by hand.
#
# In: the node that runs.  Out: 1, 2, … and, when it has finished, the update that counts it.
#
#     visit = visit_of("draft")          1, also after a crash or a further input
#     return {…, **visited("draft", visit)}
#
# The engine's name of a task changes after every further input, so it cannot show that a call is
# repeated.  So the thread keeps a sealed count: see `GovernedState.visits`.


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


# ----------------------------------------------------------------------------
# Tells the host what a node of a graph that is written by hand does.
#
# with telling_node(path="outer/review", visit=2) as data:      # node started
#     data["decision"] = …
#                                                               # node finished, paused or failed


LONGEST = 2000
"""Characters of an error's text that are told."""


@contextmanager
def telling_node(*, path: str, visit: int) -> Iterator[dict[str, Any]]:
    """Around one visit of a node; gives the data of its end, to be filled in."""
    data: dict[str, Any] = {}
    tell = find_listener()
    if tell is None:
        yield data
        return
    tell_node(tell, "started", path=path, visit=visit)
    try:
        yield data
    except GraphDrained:
        raise  # as after a crash: it begins again when the run goes on
    except GraphBubbleUp:
        tell_node(tell, "paused", path=path, visit=visit)
        raise
    except BaseException as error:
        tell_node(tell, "failed", path=path, visit=visit, data=_describe(error))
        raise
    tell_node(tell, "finished", path=path, visit=visit, data=data)


def tell_skip(decided: Mapping[str, Any], *, path: str) -> None:
    """Tell that the policy asked nobody: a store keeps that as a decision of the policy.

    decided: the record of the decision, with `gate`, `node`, `visit` and `step`.
    """
    tell = find_listener()
    if tell is None:
        return
    data = {key: decided[key] for key in ("gate", "node", "step")}
    event = RunEvent(
        kind="decision", name="auto_skipped", path=path, visit=decided["visit"], data=data
    )
    tell_event(tell, event)


def find_listener() -> Tell | None:
    """Who listens to the run in which this is called; None without a run or a listener."""
    try:
        runtime = get_runtime(HostContext)
    except (RuntimeError, KeyError):
        return None
    return context_of(runtime.context).tell


def _describe(error: BaseException) -> dict[str, JsonValue]:
    """An error as it may be told: its text only where that is made to be shown."""
    name = type(error).__name__
    if not isinstance(error, (FlowError, PlatformError)):
        return {"error": name, "code": ""}
    return {"error": str(error)[:LONGEST], "code": str(getattr(error, "code", ""))}
