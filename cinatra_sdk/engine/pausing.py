"""Pauses that a node's code makes by itself, with LangGraph's `interrupt`.

A pause of `build_hitl_gate` carries a gate; any other one (a tool of LangChain that asks a person, a
node of an installed package) is given one by the node around it (`cinatra_sdk.flow.foreign`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt


def read_interrupts(pause: GraphInterrupt) -> tuple[Interrupt, ...]:
    """The interrupts of a pause."""
    return tuple(pause.args[0]) if pause.args else ()


def list_given_answers() -> Sequence[Any]:
    """The answers with which the engine runs this task again, in order; empty in its first run.

    Not public: tests/engine/test_pausing.py fails when it changes.
    """
    try:
        configurable = get_config().get("configurable") or {}
    except RuntimeError:
        return ()  # called as a plain function
    return tuple(getattr(configurable.get("__pregel_scratchpad"), "resume", None) or ())
