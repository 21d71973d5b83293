"""Processes whose clocks differ, one after the other on one run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.langgraph_threads import graph_input, lineage
from cinatra_sdk.testing import simulation
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.attacks.test_rows import FLOWS

Act = Callable[[str], str]
"""Does what a step says, and gives the run's status, or the error's words."""


def attempt(attack: Attack, place: Place) -> str:
    door, _, more = attack.door.partition(", ")
    compiled = compile_flow(json.loads(json.dumps(FLOWS["nested" if more == "nested" else "flat"])))
    platform = simulation(compiled)
    compiled = compiled.with_platform(platform)
    if door == "store":
        with RunStore.open(place.database, platform=platform) as store:
            came = _in_turn(attack.value, place, lambda act: _stored(store, compiled, act))
        if more == "ended":
            return came[-1]
    else:
        saver = InMemorySaver()
        came = _in_turn(attack.value, place, lambda act: _plain(compiled, saver, act))
    sent = [call.idempotency_key for call in platform.calls if call.node == "send"]
    if attack.harmless:
        return "sent once" if len(sent) == 1 else f"{came}, {len(sent)} sent"
    was_rejected = "rejected" in came and sent
    return f"{came}, {len(sent)} sent" if was_rejected or len(sent) > 1 else "held"


def _in_turn(steps: list[Any], place: Place, act: Act) -> list[str]:
    right = time.time_ns
    came = []
    for what, off in steps:
        with place.monkeypatch.context() as patch:
            patch.setattr(time, "time_ns", lambda off=off: right() + int(off * 1e9))
            # As in a process of its own, which has made no id before.
            patch.setattr(checkpoint_ids, "_last_v6_timestamp", None)
            try:
                came.append(act(what))
            except FlowError as error:
                came.append(str(error))
    return came


def _plain(compiled: Any, saver: Any, what: str) -> str:
    answer = {"approved": what == "approve"}
    given = {"start": compiled.input({}), "go": None}.get(what, Command(resume=answer))
    graph = compiled.graph(checkpointer=saver)
    config = compiled.config(run_id="r1")
    came = graph.invoke(given, config, context=compiled.context(run_id="r1"))
    return str((came or {}).get("status"))


def _stored(store: RunStore, compiled: Any, what: str) -> str:
    if what == "start":
        return store.start(compiled, {}, "r1").status
    if what == "go":
        return store.resume("r1").status
    decide = Decision.approve if what == "approve" else Decision.reject
    waiting = store.get("r1").waiting
    return store.answer("r1", waiting[0].id, decide(by="ann")).status if waiting else "no gate"


@contextmanager
def nobody_looks_at_clocks(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        for module in (lineage, graph_input):
            patch.setattr(module, "move_ids_beyond", lambda *_: True)
        yield


CONTROLS = {
    "a clock that is behind": Control(
        open=nobody_looks_at_clocks, row="plain_graph-rejected_behind,_then_a_further_input"
    )
}

test_attack, test_twin, test_control = tests_of("clocks", attempt, CONTROLS)
