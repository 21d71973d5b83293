"""One run: driven from stop to stop, on any checkpointer.

In: a graph, its input, and a function that answers gates.  Out: `Stop`: where the run stands now.

    advance(graph, start, config, context=…, answer=…)  ->  Stop(status="waiting", gates=(Gate(…),))

A run has ended when its own terminal node wrote a terminal status, never because the engine has
nothing left to do: after a crash at the wrong moment the engine only looks finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot
from pydantic import JsonValue

from cinatra_sdk.contract import TERMINAL
from cinatra_sdk.errors import GateUnreadable, NodeFailed
from cinatra_sdk.events import Watcher
from cinatra_sdk.gates.gate import Gate, gates_of
from cinatra_sdk.langgraph_threads.host_context import HostContext, listening
from cinatra_sdk.langgraph_threads.list_channels import read_records, without_seals
from cinatra_sdk.runs import OnEvent, Stop

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
Answerer: TypeAlias = Callable[[Gate], "Mapping[str, JsonValue] | list[Any] | None"]
"""The JSON that resumes a gate, in the words of any client, or None to leave it waiting."""
MAX_STALLS = 3
"""Steps without progress after which a run is given up."""


def advance(
    graph: Graph,
    start: Mapping[str, Any],
    config: RunnableConfig,
    *,
    context: HostContext,
    answer: Answerer,
    on_event: OnEvent | None = None,
    control: RunControl | None = None,
) -> Stop:
    """Drive the run until it ends or every waiting gate lacks an answer.

    Starts the run, continues it after a crash, or resumes it, as its thread requires.
    control: its `request_drain` stops the run before its next step.
    Raises: the errors of nodes (`FlowError`, `PlatformError`) and of the checkpointer; `GraphDrained`.
    """
    with Watcher(on_event) if on_event is not None else nullcontext() as watcher:
        host = context if watcher is None else listening(context, watcher.tell)

        def run_step(command: Any) -> None:
            if control is not None and control.drain_requested:
                raise GraphDrained(control.drain_reason or "")
            try:
                graph.invoke(command, config, context=host, durability="sync", control=control)
            finally:
                if watcher is not None:
                    watcher.flush()  # before anybody is asked, what led there has been told

        return _advance(graph, start, config, run_step, answer)


def _advance(
    graph: Graph,
    start: Mapping[str, Any],
    config: RunnableConfig,
    run_step: Callable[[Any], None],
    answer: Answerer,
) -> Stop:
    snapshot = graph.get_state(config)
    stalled = 0
    while True:
        stop = stop_of(snapshot)
        if stop.status in TERMINAL:
            return stop
        answered = [(gate, wire) for gate in stop.gates if (wire := answer(gate)) is not None]
        resume = {gate.interrupt: gate.make_resume(wire) for gate, wire in answered}
        if stop.gates and not resume:
            return stop
        run_step(_choose_command(snapshot, start, resume))
        after = graph.get_state(config)
        # The engine can silently lose a write (when a checkpointer fails in the background): try
        # once more before concluding that the run makes no progress.
        stalled = stalled + 1 if _read_standing(after) == _read_standing(snapshot) else 0
        if stalled >= MAX_STALLS:
            raise _no_progress(snapshot, stop)
        snapshot = after


def _no_progress(snapshot: StateSnapshot, stop: Stop) -> NodeFailed:
    nodes = ", ".join(snapshot.next)
    if stop.gates:
        return NodeFailed(
            f"the run makes no progress: the engine does not take the answer of {nodes}",
            node=nodes,
            hint="resume the run",
        )
    return NodeFailed(
        f"the run makes no progress: {nodes or 'a node'} paused without being a gate",
        node=nodes,
        hint="only nodes made by build_hitl_gate may pause",
    )


def _read_standing(snapshot: StateSnapshot) -> tuple[Any, set[str]]:
    """A value that changes with every step forward; inside a subflow only the waiting gates change.

    Gates count by their own ids, which include the visit: the engine's ids change with every
    checkpoint.

    The turn counts where the graph keeps a turn.  A further checkpoint alone is no progress: a
    thread with tampered rows may get a checkpoint each time and never advance.
    """
    turn = (snapshot.values or {}).get("cursor")
    place = snapshot.config if turn is None else turn
    return place, {gate.id for gate in gates_of(snapshot.interrupts)}


def _choose_command(
    snapshot: StateSnapshot, start: Mapping[str, Any], resume: dict[str, Any]
) -> Any:
    if resume:
        return Command(resume=resume)
    if snapshot.created_at is not None and (snapshot.next or snapshot.tasks):
        # A crash left work that the engine knows about.  `next` alone does not show this: between a
        # node's writes and the checkpoint after them `next` is empty, and the finished task is in
        # `tasks`. Starting again there would repeat the node's work, and its calls.
        return None
    # A thread that has not begun, or whose next task was lost: the StartNode begins the run, or
    # passes it on to the node at the cursor.
    return start


def stop_of(snapshot: StateSnapshot) -> Stop:
    """Where the run stands in a snapshot; `running` when work is left that needs no person."""
    values = snapshot.values or {}
    gates = gates_of(snapshot.interrupts)
    status: Any = values.get("status")
    if values.get("ended") is not None:
        # Sealed by the run's own end: a later write is no rejection.
        status = "completed"
    elif values.get("rejected_at"):
        status = "rejected"
    elif status == "completed" and "cursor" in values:
        # A tampered status: the run has not reached its end.
        status = "waiting" if gates else "running"
    elif status not in TERMINAL:
        status = "waiting" if gates else "running"
    return Stop(
        status=status,
        outputs=values.get("outputs") if status == "completed" else None,
        branch=values.get("branch") if status == "completed" else None,
        messages=tuple(read_records(values.get("messages") or ())),
        decisions=tuple(without_seals(values.get("decisions") or ())),
        rejected_at=(values.get("rejected_at") or "") if status == "rejected" else "",
        gates=gates if status == "waiting" else (),
    )


def find_stop_of_failure(graph: Graph, config: RunnableConfig) -> Stop:
    """Where a run stands that failed; `failed` where what it stopped at cannot be read."""
    try:
        return stop_of(graph.get_state(config))
    except GateUnreadable:
        return Stop(status="failed")
