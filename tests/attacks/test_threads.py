"""A thread that one graph began is not gone on with by another one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from cinatra_sdk.blocks import host_node
from cinatra_sdk.blocks import step as blocks
from cinatra_sdk.errors import FlowError
from cinatra_sdk.flow.plan.frame import Frame
from cinatra_sdk.gates import hitl
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from graphs import context_selection, orchestrator_v1
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start, tests_of
from tests.attacks.graphs import GRAPHS, Made, foreign
from tests.attacks.nested import CONFIG, levels

SAMPLES: Any = {**orchestrator_v1.SAMPLES, **context_selection.SAMPLES}


class Thread:
    """One thread, and the graphs that come by."""

    def __init__(self) -> None:
        self.saver = InMemorySaver()
        self.platform = SimulatedPlatform(SAMPLES)

    def made(self, name: str) -> Made:
        return GRAPHS[name](self.platform, self.saver)

    @property
    def calls(self) -> int:
        return len(self.platform.calls)


def attempt(attack: Attack, _place: Place) -> str:
    how, thread = attack.value, Thread()
    if how["first"] == "foreign":
        return after_a_stranger(how, thread)
    begin(how["first"], thread)
    before = thread.calls
    if how["by"] == "level":
        return on_another_level(how, thread)
    second = thread.made(how["second"])
    if "keeps" in how:
        move_the_turn(how, thread)
    if how["by"] == "own thread":
        return on_its_own(second, thread)
    with suppress(FlowError, InvalidUpdateError):
        ACTS[how["by"]](second)
    return "nothing done" if thread.calls == before else "done"


def begin(name: str, thread: Thread) -> None:
    """The first graph: parked at its gate, or run under a policy that waives it."""
    waives = name.startswith("waived")
    made = thread.made({"waived": "flow", "waived orchestrator": "orchestrator"}.get(name, name))
    context = None
    if waives:
        steps = [{"stepNumber": n, "requiresApproval": False} for n in (1, 2, 3, 5)]
        context = host_context(run_id="t1", approval_policy={"steps": steps})
    made.graph.invoke(made.first, CONFIG, context=context)
    require_start(waives or made.graph.get_state(CONFIG).interrupts, "it does not wait")


def waiting(graph: Any) -> Any:
    """Answers whatever waits; where the graph sees nothing, answers all the same."""
    interrupts = graph.get_state(CONFIG).interrupts
    answer = {"approved": True, "value": "x", "userResponse": "x"}
    plain = {"approved": True}
    return Command(resume={interrupts[0].id: plain} if interrupts else answer)


def approve(made: Made) -> None:
    interrupts = made.graph.get_state(CONFIG).interrupts
    if interrupts:
        answer: Any = {"approved": True}
        if interrupts[0].response_schema["x-gate"]["node"] == "context_select_gate":
            answer["value"] = interrupts[0].value["values"]["candidates"] and chosen(interrupts[0])
        made.graph.invoke(Command(resume={interrupts[0].id: answer}), CONFIG)


def chosen(interrupt: Any) -> Any:
    from cinatra_sdk.gates.gate import gate_of

    gate = gate_of(interrupt)
    assert gate is not None
    return gate.example()


def input_then_approve(made: Made) -> None:
    with suppress(FlowError):
        made.graph.invoke(made.first, CONFIG)
    approve(made)


async def aresume(made: Made) -> None:
    state = await made.graph.aget_state(CONFIG)
    answer: Any = {"approved": True}
    if state.interrupts and "selection" in str(state.interrupts[0].value.get("xRenderer", "")):
        answer["value"] = chosen(state.interrupts[0])
    command = {state.interrupts[0].id: answer} if state.interrupts else answer
    await made.graph.ainvoke(Command(resume=command), CONFIG)


ACTS: Any = {
    "input": lambda made: made.graph.invoke(made.first, CONFIG),
    "input, approve": input_then_approve,
    "resume": lambda made: (
        approve(made)
        if made.graph.get_state(CONFIG).interrupts
        else made.graph.invoke(waiting(made.graph), CONFIG)
    ),
    "aresume": lambda made: asyncio.run(aresume(made)),
    "none": lambda made: made.graph.invoke(None, CONFIG),
    "goto": lambda made: made.graph.invoke(Command(goto=made.send), CONFIG),
}


def move_the_turn(how: Any, thread: Thread) -> None:
    """A client chooses a graph whose state has plain keys of these names, and sends it a turn."""
    keys = dict.fromkeys([*how["keeps"], "cursor"])
    foreign(keys, thread.saver).invoke({"cursor": how["turn"]}, CONFIG)


def on_another_level(how: Any, thread: Thread) -> str:
    """The outer graph is run where the graph inside keeps its checkpoints."""
    made, before = thread.made(how["second"]), thread.calls
    namespace = list(levels(made.graph))[-1].config["configurable"]["checkpoint_ns"]
    config: Any = {
        "configurable": {
            "thread_id": "t1", "checkpoint_ns": namespace, "__pregel_task_id": "x",
            **({"__pregel_resuming": True} if how["resuming"] else {}),
        }
    }  # fmt: skip
    given: Any = {
        "go on": None,
        "goto": Command(goto=made.send),
        "a new input": made.first,
        "resume": Command(resume={"approved": False}),
    }[how["act"]]
    with suppress(FlowError):
        made.graph.invoke(given, config)
    return "nothing done" if thread.calls == before else "done"


def on_its_own(made: Made, thread: Thread) -> str:
    before = thread.calls
    config: Any = {"configurable": {"thread_id": "another"}}
    made.graph.invoke(made.first, config)
    interrupt = made.graph.get_state(config).interrupts[0]
    answer: Any = {"approved": True}
    if "candidates" in interrupt.value["values"]:
        answer["value"] = chosen(interrupt)
    made.graph.invoke(Command(resume={interrupt.id: answer}), config)
    return "done" if thread.calls > before else "nothing done"


def after_a_stranger(how: Any, thread: Thread) -> str:
    """A graph of somebody else, on the same server, has written keys of ours as plain ones."""
    made = thread.made(how["second"])
    plant = dict(how["plant"])
    if isinstance(plant.get("run"), dict) and plant["run"].get("digest") == "OWN":
        twin = Thread()
        begin(how["second"], twin)
        values = twin.made(how["second"]).graph.get_state(CONFIG).values
        plant["run"] = {**plant["run"], "digest": values["run"]["digest"]}
    foreign(plant, thread.saver).invoke(plant, CONFIG)
    for act in ("input", "none"):
        with suppress(FlowError):
            ACTS[act](made)
    if thread.calls:
        return "done"
    if made.graph.get_state(CONFIG).interrupts:
        return "asked first"
    return "refused"


@contextmanager
def any_run(place: Place) -> Iterator[None]:
    """Nodes that take every run for their own."""
    with place.monkeypatch.context() as patch:
        patch.setattr(Frame, "require_own_run", lambda _self, _state: None)
        for module in (blocks, host_node, hitl):
            patch.setattr(module, "require_own_graph", lambda _state, _node: None)
        patch.setattr(host_node, "_require_own_run", lambda _state, _digest: None)
        yield


@contextmanager
def any_turn(place: Place) -> Iterator[None]:
    """Nodes that believe the cursor alone, whatever the records say."""
    with place.monkeypatch.context() as patch:
        patch.setattr(Frame, "_find_passing_record", lambda _self, _state: {})
        yield


@contextmanager
def any_run_and_turn(place: Place) -> Iterator[None]:
    with any_run(place), any_turn(place):
        yield


CONTROLS = {
    "compiled after compiled": Control(
        open=any_run, row="flow_parked,_then_call_in_the_gate's_place-resume"
    ),
    "a message in the gate's place": Control(
        open=any_run, row="flow_parked,_then_message_in_the_gate's_place-go_on"
    ),
    "compiled after hand-written": Control(
        open=any_run, row="orchestrator_parked,_then_call_in_the_gate's_place-a_new_input"
    ),
    "the outer graph for the inner one": Control(
        open=any_run_and_turn, row="the_outer_graph_in_the_subflow's_namespace-go_on"
    ),
    "a moved turn": Control(
        open=any_turn,
        row="a_turn_that_a_foreign_graph_moved,_flow-flow:_run_and_cursor_only,_a_later_turn,_input",
    ),
    "hand-written after compiled": Control(
        open=any_run, row="flow_parked,_then_hand-written_sends-resume"
    ),
}

test_attack, test_twin, test_control = tests_of("threads", attempt, CONTROLS)
