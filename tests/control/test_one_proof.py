"""Rules, explanations, comparisons and policies agree on which sends a gate stands before."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from oas_compiler import CompileError
from oas_compiler.checks.compile_rules import READING
from oas_compiler.control.approval import derive_approval
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.control.openings import asks_a_person, find_open_sends
from oas_compiler.explain import explain, explainer
from oas_compiler.ir import ApiNode, FlowIR, InputMessageNode, Path, walk
from oas_compiler.kinds.catch_exception import CAUGHT_BRANCH
from oas_compiler.pipeline import compile_ir, compile_prepared
from tests.effort import tries
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start

SEED = 20_261_122
FLOWS = tries(150, 300)
CONTAINERS = ("MapNode", "ParallelMapNode", "ParallelFlowNode", "CatchExceptionNode", "AgentNode")
Made = dict[str, Any]


def random_flow(dice: random.Random, depth: int, name: str = "f") -> Made:
    """A flow of a few nodes, sometimes with loops and with flows inside it."""
    nodes = [
        start(),
        *(random_node(dice, depth, f"{name}{i}") for i in range(dice.randrange(1, 6))),
    ]
    nodes.append(end())
    if dice.random() < 0.4 and name != "f":
        nodes.append(end(id_="other", branch_name="other"))
    ids = [made["id"] for made in nodes]
    routes = [
        (made["id"], branch, random_target(dice, ids, index))
        for index, made in enumerate(nodes)
        for branch in branches_of(made)
    ]
    return flow_of(*nodes, routes=routes, id_=name, agentspec_version="26.1.2")


def random_node(dice: random.Random, depth: int, name: str) -> Made:
    kind = dice.randrange(7 if depth else 4)
    if kind == 0:
        return gate(name)
    if kind == 1:
        return branching(name, port("x", default="q"), {"yes": "yes"})
    if kind == 4:
        steps = [{"name": "s", "requiresApproval": False}] if dice.random() < 0.3 else []
        return flow_node(name, random_flow(dice, depth - 1, f"{name}_"), gateSteps=steps)
    if kind > 4:
        return random_container(dice, depth, name)
    return api(name, risk="email_send")


def random_container(dice: random.Random, depth: int, name: str) -> Made:
    """A node over one flow or several; the flows of one node have nodes of the same ids."""
    kind = dice.choice(CONTAINERS)
    if kind == "ParallelFlowNode":
        names = [f"{name}_{place}" for place in range(dice.randrange(1, 4))]
        flows = [random_flow(dice, depth - 1, f"{name}_") | {"id": id_} for id_ in names]
        return node(kind, name, subflows=flows)
    flow = random_flow(dice, depth - 1, f"{name}_")
    return node(kind, name, **{"agent" if kind == "AgentNode" else "subflow": flow})


def branches_of(made: Made) -> list[str | None]:
    if made["component_type"] == "EndNode":
        return []
    if made["component_type"] in {"FlowNode", "CatchExceptionNode"}:
        inside = made["subflow"]["$referenced_components"].values()
        ends = [end for end in inside if end["component_type"] == "EndNode"]
        caught = made["component_type"] == "CatchExceptionNode"
        return sorted({end.get("branch_name", "next") for end in ends}) + [CAUGHT_BRANCH] * caught
    return list(made.get("branches", [None]))


def random_target(dice: random.Random, ids: list[str], index: int) -> str:
    if dice.random() < 0.2:
        return dice.choice(ids[1:])
    ahead = ids[index + 1 :] or ids[-1:]
    return dice.choice(ahead[:2])


@pytest.fixture(scope="module")
def flows() -> list[tuple[Made, FlowIR]]:
    """Flows that compile, as documents and as IR."""
    print("seed", SEED)
    dice = random.Random(SEED)
    made: list[tuple[Made, FlowIR]] = []
    while len(made) < FLOWS:
        one = random_flow(dice, 2)
        with suppress(CompileError):  # a loop that never ends
            made.append((one, compile_ir(one, rules=READING).ir))
    return made


def sends_in(flow: FlowIR) -> dict[Path, str]:
    """Call → pointer."""
    return {path: node.place.pointer for path, node in walk(flow) if isinstance(node, ApiNode)}


def open_by_rules(flow: FlowIR) -> set[str]:
    found = find_open_sends(flow, FlowControl(flow=flow).waived, asks_a_person)
    return {opened.node.place.pointer for opened in found}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flows with nodes that do not run yet are explained, too."""
    monkeypatch.setattr(explainer, "compile_prepared", partial(compile_prepared, rules=READING))


@pytest.mark.usefixtures("shown")
def test_a_rule_an_explanation_and_the_control_graph_find_the_same_sends_open(
    flows: list[tuple[Made, FlowIR]],
) -> None:
    some, all_guarded = 0, 0
    kinds: Counter[type] = Counter()
    for made, flow in flows:
        kinds.update(type(node) for _, node in walk(flow) if node.subflows)
        sends = sends_in(flow)
        guarding = FlowControl(flow=flow)
        is_open = {path for path in sends if guarding.is_open(path)}
        assert open_by_rules(flow) == {sends[path] for path in is_open}
        told = {send.path: send for send in explain(made).sends}
        assert {path for path, send in told.items() if not send.guarded} == {
            "/".join(path) for path in is_open
        }
        some += bool(is_open)
        all_guarded += bool(told) and not is_open
    assert some > FLOWS / 15, "the control: some sends are open"
    assert all_guarded > FLOWS / 30, "the control: in some flows none is"
    assert len(kinds) == 1 + len(CONTAINERS), "the control: all kinds of containers are there"
    assert min(kinds.values()) > FLOWS / 30


def test_every_gate_that_can_come_before_a_send_has_a_policy_step_that_guards(
    flows: list[tuple[Made, FlowIR]],
) -> None:
    compared = 0
    for _made, flow in flows:
        sends = frozenset(sends_in(flow))
        graph = FlowControl(flow=flow).graph
        approval = derive_approval(flow, send_class=sends)
        gates = [path for path, node in walk(flow) if isinstance(node, InputMessageNode)]
        before = {g for send in sends for g in gates if g in graph.sometimes_before(send)}
        guarding = {step for step, _gate, _send in approval.guards}
        assert {approval.gate(gate).step for gate in before} <= guarding
        compared += bool(before)
    assert compared > FLOWS / 7.5
