"""A crash between any two writes of the checkpointer: what is sent is what was approved.

Each draft is another one, so a subflow that ran a second time after its gate was answered would
send what nobody saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.activations import advance
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, port, start

INNER = flow_of(
    start(port("x")), api("draft", outputs=[port("d")]), gate("check", inputs=[port("d")]), end(port("d")),
    id_="inner", edges=[("draft", "d", "check", "d"), ("draft", "d", "end", "d")],
)  # fmt: skip
FLOW = flow_of(
    start(port("x", default="1")), flow_node("sub", INNER),
    api("send", inputs=[port("d")], data={"d": "{{ d }}"}, risk="email_send", outputs=[port("sent")]),
    end(port("sent")),
    edges=[("start", "x", "sub", "x"), ("sub", "d", "send", "d"), ("send", "sent", "end", "sent")],
)  # fmt: skip


class Crash(Exception):
    pass


class CrashingSaver(InMemorySaver):
    """Raises instead of its n-th write, once."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Crash

    def put(self, *args: Any, **kwargs: Any) -> Any:
        self._count()
        return super().put(*args, **kwargs)

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        self._count()
        super().put_writes(*args, **kwargs)


def drafts() -> dict[str, Any]:
    return {"draft": [{"d": f"draft {n}"} for n in range(1, 20)]}


def crash_once_at(point: int) -> tuple[bool, list[Any], list[str]]:
    """(whether it crashed, what was sent, what was approved)."""
    platform = SimulatedPlatform(drafts())
    flow = compile_flow(FLOW, platform=platform)
    saver = CrashingSaver(point)
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    approved: dict[str, str] = {}

    def answer(gate_: Gate) -> Mapping[str, Any]:
        # As the store does: the first answer of a visit stays, whatever the gate shows later.
        approved.setdefault(gate_.id, str(gate_.values["d"]))
        return {"approved": True}

    crashed = False
    while True:
        try:
            stop = advance(
                flow.graph(saver), flow.input({}), config, context=context, answer=answer
            )
            break
        except Crash:
            crashed = True
    assert stop.status == "completed"
    sent = [call.body for call in platform.calls if call.node == "send"]
    return crashed, sent, list(approved.values())


@pytest.mark.parametrize("point", range(1, 30))
def test_after_a_crash_at_any_write_the_approved_draft_is_sent_and_no_other(point: int) -> None:
    crashed, sent, approved = crash_once_at(point)
    assert {body["d"] for body in sent} == set(approved), (point, crashed)
    assert len(approved) == 1
    # Twice only when the crash fell between the call's answer and its first write.
    assert len(sent) <= 2


def test_the_points_cover_the_whole_run() -> None:
    # Control: the first points crash, the last ones come after the end of the run.
    assert crash_once_at(1)[0]
    assert crash_once_at(8)[0]
    assert not crash_once_at(200)[0]
