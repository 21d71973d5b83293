"""A durable flow over a graph written by hand: gates side by side, work behind each.

    flow = Branches(("a", "b"), does=lambda name: …)     # called by branch `name` once it is approved
    store.start(flow, run_id="r1")                       # waits at a and b at once

The run store needs no more of a flow than `DurableFlow`, and of a gate than its interrupt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import interrupt
from pydantic import JsonValue

from cinatra_sdk import HostContext, SimulatedPlatform
from cinatra_sdk.gates.answers import APPROVAL_SCHEMA
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.langgraph_threads.host_context import context_of
from cinatra_sdk.outside.effects.effect import Effect
from cinatra_sdk.outside.effects.permits import admit


def both(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(left or {}), **(right or {})}


class State(TypedDict, total=False):
    goal: str
    outputs: Annotated[dict[str, Any], both]
    rejections: Annotated[dict[str, Any], both]
    rejected_at: str
    status: str


class Branches:
    """Implements `DurableFlow`."""

    name = "branches"
    file = ""
    lowering = 1
    is_repeatable = False
    platform_given = True
    host = HostParts()

    def __init__(self, names: Sequence[str], does: Callable[[str], Any] | None = None) -> None:
        self.names = tuple(names)
        self.does = does or (lambda name: name)
        self.env: Mapping[str, str] = {}
        self.platform = SimulatedPlatform()
        self.approval_policy: dict[str, JsonValue] = {"steps": []}
        self.source = json.dumps(self.names).encode()
        self.digest = hashlib.sha256(self.source).hexdigest()

    def with_platform(self, _platform: Any) -> Branches:
        return self

    def outputs_of(self, _path: str) -> None:
        return

    def check_policy(self, policy: Any) -> None:
        return

    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {"goal": "x", **(params or {})}

    def config(self, *, run_id: str) -> RunnableConfig:
        return {"configurable": {"thread_id": run_id}, "recursion_limit": 100}

    def graph(self, checkpointer: Any = None) -> Any:
        builder: Any = StateGraph(State, context_schema=HostContext)
        for place, name in enumerate(self.names, start=1):
            builder.add_node(name, self._branch(name, place))
            builder.add_edge(START, name)
        builder.add_node("last", finish)
        builder.add_edge(list(self.names), "last")
        builder.add_edge("last", END)
        return builder.compile(checkpointer=checkpointer)

    def _branch(self, name: str, place: int) -> Callable[[Any], Any]:
        payload = {"xRenderer": "x", "schema": APPROVAL_SCHEMA, "values": {"name": name}}

        def decide_and_act(state: State) -> Any:
            answer = interrupt(payload, response_schema=_ask(name, place))
            if not answer["approved"]:
                return {"rejections": {name: answer.get("by", "")}}
            admit(effect_of(name), context_of(get_runtime(HostContext).context).door)
            return {"outputs": {name: self.does(name)}}

        return decide_and_act


def _ask(name: str, place: int) -> dict[str, Any]:
    about = {
        "id": name, "node": name, "visit": 1, "step": place, "risk": "read_only", "name": name,
        "output": "", "textOutput": False, "answerSchema": None, "outputSchema": None,
        "innerSchema": None,
    }  # fmt: skip
    return {**APPROVAL_SCHEMA, "x-gate": about}


def effect_of(name: str) -> Effect:
    return Effect(kind="tool", capability=name, node=name, path=name, key=name)


def finish(state: State) -> dict[str, Any]:
    if state.get("rejections"):
        return {"status": "rejected", "rejected_at": ", ".join(state["rejections"])}
    return {"status": "completed"}
