"""Graph, thread and answers of the running node, as LangGraph's configuration has them.

In: the configuration of the running node.  Out: plain values, or `NOT_TOLD` where LangGraph gives no value
although the node runs in a graph; the caller decides whether it can go on without the value.

And the mark by which LangGraph leaves a pause open whose answer did not fit (`is_invalid_resume`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from langgraph.errors import is_invalid_resume

from cinatra_sdk.langgraph_internals.keys import (
    CHECKPOINTER,
    DURABILITY,
    MARKS,
    NODE,
    PATH,
    PUSH,
    READ,
    SCRATCHPAD,
    STEP,
)

Config: TypeAlias = Mapping[str, Any]
"""A `RunnableConfig`."""

NOT_TOLD: Final[Any] = object()
"""LangGraph does not say it, and this is a node of a graph."""


def is_in_a_graph(config: Config) -> bool:
    """Whether LangGraph made `config` for a task, by any of the marks that it leaves."""
    marks = [*(config.get("configurable") or ()), *(config.get("metadata") or ())]
    return any(mark.startswith(MARKS) for mark in marks)


def read_node_name(config: Config) -> str:
    """The name of the running node in its graph; empty outside of any graph."""
    return str(_read_metadata(config).get(NODE) or "")


def read_step(config: Config) -> int:
    """The number of LangGraph's running step, from 1; 0 outside of any graph."""
    return int(_read_metadata(config).get(STEP) or 0)


def was_sent(config: Config) -> Any:
    """Whether a `Send` started the running node, and not its place in the graph; else `NOT_TOLD`."""
    path = _read_metadata(config).get(PATH)
    if not path:
        return NOT_TOLD if is_in_a_graph(config) else False
    return path[0] == PUSH


def find_channels(config: Config) -> Mapping[str, Any]:
    """The channels of the running node's graph, by name; empty outside of any graph; else `NOT_TOLD`."""
    held: tuple[Any, ...] = getattr(_read_configurable(config).get(READ), "args", ())
    channels = held[1] if len(held) > 1 else None
    if isinstance(channels, Mapping):
        return channels
    return NOT_TOLD if is_in_a_graph(config) else {}


def read_channels(config: Config, keys: Sequence[str]) -> dict[str, Any]:
    """The values of the running task's graph for these state keys, those that it has."""
    read: Any = _read_configurable(config).get(READ)
    return {} if read is None else dict(read(list(keys)))


def find_checkpointer(config: Config) -> Any:
    """The checkpointer of the graph that runs; None where it has none; else `NOT_TOLD`."""
    configurable = _read_configurable(config)
    if CHECKPOINTER not in configurable and is_in_a_graph(config):
        return NOT_TOLD
    return configurable.get(CHECKPOINTER)


def is_stored_on_the_way(config: Config) -> bool:
    """Whether checkpoints are stored before the graph stops."""
    return bool(_read_configurable(config).get(DURABILITY) != "exit")


def list_given_answers(config: Config) -> tuple[Any, ...]:
    """The answers with which LangGraph runs this task again, in order; empty in its first run."""
    scratchpad = _read_configurable(config).get(SCRATCHPAD)
    return tuple(getattr(scratchpad, "resume", None) or ())


def _read_metadata(config: Config) -> Mapping[str, Any]:
    return config.get("metadata") or {}


def _read_configurable(config: Config) -> Mapping[str, Any]:
    return config.get("configurable") or {}


__all__ = ["copy_mark", "is_invalid_resume"]


def copy_mark(error: BaseException, onto: BaseException) -> None:
    """Let LangGraph treat `onto` as it treats `error`: the pause stays open, and what runs beside it
    goes on.
    """
    onto.__dict__.update(vars(error))
