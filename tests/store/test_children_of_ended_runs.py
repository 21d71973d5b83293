"""A run that another run began makes no call once the run above was rejected or stopped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import Flow, compile_flow
from tests.flows import api, end, flow_of, gate, port, start


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def asking(platform: SimulatedPlatform) -> Flow:
    flow = flow_of(
        start(), gate("look"), api("send", outputs=[port("id")]), end(port("id")),
        edges=[("send", "id", "end", "id")],
    )  # fmt: skip
    return compile_flow(flow, platform=platform)


@pytest.mark.parametrize("how", ["rejected", "stopped", "alive"])
@pytest.mark.parametrize("deep", [1, 3])
def test_a_child_goes_on_only_while_the_runs_above_do(store: RunStore, how: str, deep: int) -> None:
    platform = SimulatedPlatform()
    above = ""
    for number in range(deep + 1):
        more = {"parent": above} if above else {}
        above = store.start(asking(platform), run_id=f"r{number}", **more).id  # type: ignore[arg-type]
    if how == "rejected":
        store.answer("r0", "look", Decision.reject(by="ann"))
    elif how == "stopped":
        store.stop("r0", by="ann")
    child = f"r{deep}"
    if how == "alive":
        assert store.answer(child, "look", Decision.approve(by="ben")).status == "completed"
        assert [call.node for call in platform.calls] == ["send"]
        return
    with pytest.raises(FlowError):
        store.answer(child, "look", Decision.approve(by="ben"))
    assert platform.calls == []
    assert store.decisions(child) == []


def test_a_call_in_the_middle_of_a_child_is_refused_when_the_run_above_ends(
    store: RunStore,
) -> None:
    calls: list[str] = []

    class Ending(SimulatedPlatform):
        def call(self, call):  # type: ignore[no-untyped-def]
            calls.append(call.node)
            store.stop("r0", by="ann")  # while the first call of the child is made
            return super().call(call)

    store.start(asking(SimulatedPlatform()), run_id="r0")
    flow = flow_of(
        start(), api("first", outputs=[port("a")]), api("second", outputs=[port("id")]),
        end(port("id")), edges=[("second", "id", "end", "id")],
    )  # fmt: skip
    ran = store.start(compile_flow(flow, platform=Ending()), run_id="r1", parent="r0")
    assert calls == ["first"]
    assert ran.status != "completed"
