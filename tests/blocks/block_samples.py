"""Small graphs around one building block, for the tests of the blocks."""

from __future__ import annotations

from typing import Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import seal_host_fields
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform

POLICY: Any = {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


class Input(TypedDict, total=False):
    goal: Any
    numbers: Any


class State(GovernedState):
    goal: Any
    numbers: Any
    input_params: Annotated[dict[str, Any], HostOnly]
    review_decision: Annotated[dict[str, Any], HostOnly]
    ask_output: dict[str, Any]
    sealed_output: Annotated[dict[str, Any], HostOnly]
    verdict: str
    note: str


class Seen(SimulatedPlatform):
    """Keeps the whole calls, with their credentials, and whether they came through `acall`."""

    def __init__(self, stubs: Any = None) -> None:
        super().__init__(stubs)
        self.seen: list[PlatformCall] = []
        self.awaited = 0

    def call(self, call: PlatformCall) -> Any:
        self.seen.append(call)
        return super().call(call)

    async def acall(self, call: PlatformCall) -> Any:
        self.awaited += 1
        return self.call(call)


def graph_of(block: Any, *, host: bool = True, name: str = "ask", saver: Any = None) -> Any:
    """host node → the block → end; `host=False` leaves the host node out."""
    builder = StateGraph(State, context_schema=HostContext, input_schema=Input)
    before = START
    if host:
        inputs: Any = {"goal": {"default": "g"}, "numbers": {"default": [1, 2]}}
        builder.add_node("host_node", seal_host_fields(POLICY, inputs=inputs))
        builder.add_edge(START, "host_node")
        before = "host_node"
    builder.add_node(name, block)
    builder.add_edge(before, name)
    builder.add_edge(name, END)
    return builder.compile(checkpointer=saver or InMemorySaver())
