"""A process that drives a run to its end and kills itself at the n-th thing that it does to the world.

Those things are: each statement that it sends, each write of the engine's checkpointer, each call of a
platform or a tool before and after it is made.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psycopg

from cinatra_sdk import Decision, HostParts, Run, RunNotFound, RunStore, SimulatedPlatform
from cinatra_sdk.outside.effects.door import current_key
from cinatra_sdk.outside.http_calls.protocol import PlatformResponseError
from cinatra_sdk.testing import sampled_inputs
from oas_compiler import Flow, compile_flow

MOST = 2_000
"""Things that a run does at most."""


BROKEN = "broken"
"""The node whose calls fail."""


class Watched(SimulatedPlatform):
    """A simulation that writes each call, with its key, into a file, and tells before and after it."""

    def __init__(self, file: str, steering: Any, tell: Callable[[], None]) -> None:
        super().__init__(None, fallback=steering)
        self._file, self._tell = Path(file), tell

    def call(self, call: Any) -> Any:
        self._tell()
        if call.node == BROKEN:
            raise PlatformResponseError("the receiver is out of order", node=call.node)
        is_of_agent = call.method == "MODEL" and "messages" in call.body
        answer = answer_for_model(call.body) if is_of_agent else super().call(call)
        note_call(self._file, call.run_id, call.idempotency_key, [call.method, call.url, call.body])
        self._tell()
        return answer


STEPS = 12
"""Questions to the model of an agent, each but the last followed by one call of a tool."""


def answer_for_model(asked: Any) -> Any:
    """What the model of an agent says: a call at each step, in the middle one that a person confirms."""
    step = (asked["messages"] - 2) // 2 + 1
    if step == STEPS:
        return {"report": "all done"}
    name, args = (
        ("send", {"to": "ada"}) if step == STEPS // 2 else ("search", {"query": f"q{step}"})
    )
    return {"tool_calls": [{"name": name, "args": args}]}


def note_call(file: Path, run_id: str, key: str, what: Any) -> None:
    line = json.dumps({"run": run_id, "key": key, "what": what}, default=str)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")


def load(source: str, calls: str, tell: Callable[[], None] = lambda: None) -> Flow:
    """The flow on a simulation, with the tools of its example."""
    package = Path(source)
    tools: dict[str, Callable[..., Any]] = {}
    if (package / "run.py").exists():
        tools = {
            name: _watch_tool(name, Path(calls), tell) for name in ("look_up_order", "refund_order")
        }
    flow = compile_flow(package, tools=tools) if tools else compile_flow(package)
    return flow.with_host(platform=Watched(calls, flow.steering, tell), tools=tools)


ANSWERS: Mapping[str, Any] = {
    "look_up_order": {"customer": "Mira Okafor", "amount_euro": 240},
    "refund_order": "receipt-A-17",
}


def _watch_tool(name: str, calls: Path, tell: Callable[[], None]) -> Callable[..., Any]:
    def look_up_order(order_id: str) -> Any:
        return made({"order_id": order_id})

    def refund_order(order_id: str, amount_euro: int, note: str) -> Any:
        return made({"order_id": order_id, "amount_euro": amount_euro, "note": note})

    def made(given: Any) -> Any:
        tell()
        note_call(calls, "", current_key() or "", [name, given])
        tell()
        return ANSWERS[name]

    return {"look_up_order": look_up_order, "refund_order": refund_order}[name]


def drive_until_killed(
    point: int, dsn: str, calls: str, run_id: str, source: str, rejects: str
) -> None:
    """Ends with 0 where the run ended before the n-th thing."""
    remaining = [point]

    def tell() -> None:
        remaining[0] -= 1
        if remaining[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    flow = load(source, calls, tell)
    tap_store(tell)
    with store_of(dsn, flow) as store:
        go_to_the_end(store, flow, run_id, rejects)


def tap_store(tell: Callable[[], None]) -> None:
    from cinatra_sdk.store.work.saver import RunSaver

    def tapped(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def tap(self: Any, *args: Any, **kwargs: Any) -> Any:
            tell()
            return original(self, *args, **kwargs)

        setattr(owner, name, tap)

    tapped(psycopg.Cursor, "execute")
    tapped(RunSaver, "put")
    tapped(RunSaver, "put_writes")


def store_of(dsn: str, flow: Flow) -> RunStore:
    return RunStore.open(dsn, host=HostParts(platform=flow.platform, tools=flow.host.tools))


def go_to_the_end(store: RunStore, flow: Flow, run_id: str, rejects: str) -> Run:
    """Begin the run, or go on with it; approve every gate but the one whose id is `rejects`."""
    try:
        run = store.get(run_id)
    except RunNotFound:
        run = store.start(flow, sampled_inputs(flow), run_id=run_id)
    if not run.waiting and run.status not in {"completed", "rejected"}:
        run = store.resume(run_id)
    while run.waiting:
        gate = run.waiting[0]
        if gate.id == rejects:
            begun = _count_effects(store, run_id)
            run = store.answer(run_id, gate.id, Decision.reject(by="ann"))
            assert _count_effects(store, run_id) == begun, "a call was begun after the reject"
        else:
            run = store.answer(run_id, gate.id, Decision.approve(by="ann", value=gate.example()))
    return run


def _count_effects(store: RunStore, run_id: str) -> int:
    return sum(event.kind == "effect" and event.name == "begun" for event in store.events(run_id))
