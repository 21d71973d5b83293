"""What is derived from a flow before a run starts takes work in proportion to the flow's size.

Work is counted in executed lines of the compiler, never in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

import oas_compiler
from oas_compiler import compile_flow
from oas_compiler.control.approval import derive_approval
from oas_compiler.control.flow_control import FlowControl
from tests.flows import api, branching, end, flow_node, flow_of, gate, port, start

T = TypeVar("T")
PACKAGE = str(Path(oas_compiler.__file__).parent)
UNITS = 1000
"""Each is a call, a branch, a gate and a send: 2,000 gates and sends in all."""
LINES_PER_UNIT = 1000
"""More than twice of what is needed; a visit of every route per unit would take thousands."""


def within(lines: int, work: Callable[[], T]) -> T:
    """What `work` returns; fails as soon as the compiler has run more than `lines` lines for it."""
    left = lines

    def count(_frame: Any, event: str, _arg: Any) -> Any:
        nonlocal left
        left -= event == "line"
        assert left >= 0, f"more than {lines} lines were executed"
        return count

    def trace(frame: Any, _event: str, _arg: Any) -> Any:
        return count if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(before)


def chain(units: int, *, then: str | None = None) -> Any:
    """`call → branch → gate → send`, or past both, `units` times; `then` closes a loop at the end."""
    nodes: list[Any] = [start()]
    routes: list[tuple[str, str | None, str]] = [("start", None, "call0")]
    edges = []
    for i in range(units):
        nodes += [
            api(f"call{i}", outputs=[port("x")]),
            branching(f"branch{i}", port("x"), {"skip": "skip"}),
            gate(f"gate{i}"),
            api(f"send{i}", risk="email_send"),
        ]
        following = f"call{i + 1}" if i + 1 < units else "last"
        routes += [
            (f"call{i}", None, f"branch{i}"),
            (f"branch{i}", "default", f"gate{i}"),
            (f"branch{i}", "skip", following),
            (f"gate{i}", None, f"send{i}"),
            (f"send{i}", None, following),
        ]
        edges.append((f"call{i}", "x", f"branch{i}", "x"))
    nodes += [api("last", outputs=[port("x")]), branching("again", port("x"), {"y": "yes"}), end()]
    routes += [
        ("last", None, "again"),
        ("again", "default", "end"),
        ("again", "yes", then or "end"),
    ]
    edges.append(("last", "x", "again", "x"))
    return flow_of(*nodes, routes=routes, edges=edges)


def test_a_long_chain_of_gates_and_sends_is_derived_in_work_linear_in_its_length() -> None:
    flow = compile_flow(chain(UNITS))
    approval = within(UNITS * LINES_PER_UNIT, lambda: flow.approval)
    assert approval.guards == tuple(
        (i + 1, f"gate{i}", f"send{i}") for i in range(UNITS)
    )  # one entry per step, with the nearest send: not one for each pair
    stubs = within(UNITS * LINES_PER_UNIT, lambda: flow.steering)
    # The last call decides nothing: no gate lies behind either of its branches.
    assert list(stubs) == [f"call{i}" for i in range(UNITS)]
    assert stubs["call0"] == [{"x": "simulated x"}]


@pytest.mark.long
def test_one_loop_around_a_long_chain_is_derived_in_work_linear_in_its_length() -> None:
    flow = compile_flow(chain(UNITS, then="call0"))
    approval = within(UNITS * LINES_PER_UNIT, lambda: flow.approval)
    assert len(approval.guards) == UNITS
    # Within the loop every branch has every gate behind it; only the last one leads out.
    stubs = within(UNITS * LINES_PER_UNIT, lambda: flow.steering)
    assert stubs == {"last": [{"x": "y"}, {"x": "simulated x"}]}


@pytest.mark.long
def test_many_gates_of_one_flow_node_are_derived_in_work_linear_in_their_number() -> None:
    entries = [{"name": f"Step {i}", "gateCount": 1} for i in range(UNITS)]
    flow = compile_flow(flow_of(start(), flow_node("sub", chain(UNITS), gateSteps=entries), end()))
    approval = within(UNITS * LINES_PER_UNIT, lambda: flow.approval)
    assert len(approval.steps) == UNITS
    assert approval.guards[-1] == (UNITS, f"sub/gate{UNITS - 1}", f"sub/send{UNITS - 1}")
    gates = within(
        UNITS * LINES_PER_UNIT, lambda: [approval.gate(gate.path) for gate in approval.gates]
    )
    assert gates == list(approval.gates)


def test_finding_nodes_and_routes_does_not_walk_the_flow_again() -> None:
    flow = compile_flow(chain(UNITS)).ir

    def look_up() -> None:
        for node in flow.nodes:
            assert flow.node(node.id) is node
            assert len(flow.routes_of(node.id)) == len(node.branches)

    within(UNITS * LINES_PER_UNIT, look_up)


def test_a_gate_count_of_any_size_costs_nothing() -> None:
    inner = flow_of(start(), gate("a"), gate("b"), end(), id_="i")
    entries = [{"name": "All", "gateCount": 10**15}, {"name": "None left"}]
    flow = compile_flow(flow_of(start(), flow_node("sub", inner, gateSteps=entries), end()))
    approval = within(10_000, lambda: derive_approval(flow.ir))
    assert [(spec.node, spec.step, spec.name) for spec in approval.gates] == [
        ("a", 1, "All"), ("b", 1, "All"),
    ]  # fmt: skip


def test_the_measure_of_work_fails_when_there_is_too_much_of_it() -> None:
    flow = compile_flow(chain(3))
    with pytest.raises(AssertionError, match="more than 50 lines"):
        within(50, lambda: FlowControl(flow=flow.ir).steering)
