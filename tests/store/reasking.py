"""A hand-written graph with two gates beside each other, one of which shows something else each time
that it is asked: answering the other one asks it again.
"""

from __future__ import annotations

import itertools
from typing import Any

from langgraph.graph import END, START, StateGraph

from cinatra_sdk import GovernedState, HostContext, HostParts, build_hitl_gate, graph_flow
from cinatra_sdk.blocks.host_node import seal_host_fields, terminal_node

NUMBERS = itertools.count(1)


class State(GovernedState):
    first: str
    second: str


def build(_host: HostParts, checkpointer: Any) -> Any:
    builder = StateGraph(State, context_schema=HostContext)
    builder.add_node("host_node", seal_host_fields())
    builder.add_node("plain", _ask("plain", "first", lambda: "nothing"))
    builder.add_node("draft", _ask("draft", "second", lambda: f"draft {next(NUMBERS)}"))
    builder.add_node("terminal_node", terminal_node())
    builder.add_edge(START, "host_node")
    builder.add_edge("terminal_node", END)
    for name in ("plain", "draft"):
        builder.add_edge("host_node", name)
        builder.add_edge(name, "terminal_node")
    return builder.compile(checkpointer=checkpointer)


def _ask(node: str, output: str, text: Any) -> Any:
    return build_hitl_gate(
        step_number=1, node=node, values=lambda _state: {"text": text()}, output=output, always=True
    )


flow = graph_flow(build)


def lend() -> HostParts:
    """For `--host`."""
    return HostParts(graphs=[flow])
