"""Two versions of flows with nodes that run flows."""

from __future__ import annotations

from typing import Any

from oas_compiler.checks.compile_rules import READING
from oas_compiler.diff import Difference, diff
from oas_compiler.pipeline import compile_ir
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

SEND = api("send", risk="email_send")


def inner(id_: str, *nodes: Any) -> Any:
    return flow_of(start(), *nodes, end(), id_=id_)


def parallel(*flows: Any) -> Any:
    return flow_of(start(), node("ParallelFlowNode", "both", subflows=list(flows)), end())


def mapped(*nodes: Any, after: Any = ()) -> Any:
    each = node("MapNode", "each", subflow=inner("one", *nodes))
    return flow_of(start(), each, *after, end())


def compare(first: Any, second: Any) -> Difference:
    one, other = (compile_ir(made, rules=READING).ir for made in (first, second))
    return diff(one, other)


def told(found: Difference) -> list[tuple[str, str, str]]:
    return [(change.sign, change.code, change.message) for change in found]


def test_flows_of_one_node_are_the_same_flow_by_their_ids() -> None:
    mail, post = inner("mail", gate("review"), SEND), inner("post", gate("review"), api("log"))
    assert compare(parallel(mail, post), parallel(mail, post)).equal
    assert told(compare(parallel(mail, post), parallel(post, mail))) == [
        ("~", "flow_changed", 'the flows of "both" (The both) have another order'),
    ]


def test_a_renamed_flow_is_compared_with_the_one_in_its_place() -> None:
    mail, post = inner("mail", gate("review"), SEND), inner("post", api("log"))
    renamed = inner("letters", gate("review"), SEND)
    changes = told(compare(parallel(mail, post), parallel(renamed, post)))
    assert {code for _, code, _ in changes} == {"flow_changed"}
    assert "id of the flow changed" in {message for _, _, message in changes}


def test_a_flow_that_is_gone_or_new_is_one_change_of_its_node() -> None:
    mail, post, chat = (inner(name, api("log")) for name in ("mail", "post", "chat"))
    assert told(compare(parallel(mail, post, chat), parallel(post, chat))) == [
        ("-", "flow_changed", 'the flow "mail" of "both" (The both) is gone, with 3 nodes inside'),
    ]
    (change,) = compare(parallel(post), parallel(post, mail))
    assert change.message == 'the flow "mail" of "both" (The both) is new, with 3 nodes inside'
    assert (change.sign, change.node) == ("+", ("both",))


def test_a_gate_that_leaves_a_flow_beside_others_is_a_gate_that_is_gone() -> None:
    mail, post = inner("mail", gate("review"), SEND), inner("post", gate("review"))
    found = compare(parallel(mail, post), parallel(inner("mail", SEND), post))
    assert [(change.code, change.node) for change in found.weakened] == [
        ("gate_removed", ("both", "[0]", "review")),
        ("send_unguarded", ("both", "[0]", "send")),
        ("node_unguarded", ("both",)),  # one of its flows can run whole without a gate
    ]


def test_a_gate_that_moves_into_a_flow_beside_the_send_guards_it_no_more() -> None:
    first = parallel(inner("mail", gate("ask"), SEND), inner("post", api("log")))
    second = parallel(inner("mail", SEND), inner("post", gate("ask"), api("log")))
    assert {(change.code, change.node) for change in compare(first, second).weakened} == {
        ("gate_bypassed", ("both", "[1]", "ask")),
        ("send_unguarded", ("both", "[0]", "send")),
    }


def test_a_gate_that_moves_into_a_map_guards_nothing_behind_the_map() -> None:
    first = flow_of(
        start(), gate("ask"), node("MapNode", "each", subflow=inner("one")), SEND, end()
    )
    second = mapped(gate("ask"), after=[SEND])
    codes = {change.code for change in compare(first, second).weakened}
    assert codes == {"gate_bypassed", "send_unguarded"}


def test_a_send_that_moves_into_a_map_behind_its_gate_sends_again_without_a_gate() -> None:
    first = flow_of(start(), gate("ask"), flow_node("each", inner("one", SEND)), end())
    second = flow_of(
        start(), gate("ask"), node("MapNode", "each", subflow=inner("one", SEND)), end()
    )
    assert [(change.code, change.node) for change in compare(first, second).weakened] == [
        ("send_repeats", ("each", "send")),
    ]
    gated = mapped(gate("item"), SEND)
    assert compare(gated, gated).equal


def test_ports_that_follow_from_the_flows_are_compared_there_only() -> None:
    def made(type_: str) -> Any:
        flow = flow_of(start(port("x", type_, default=None)), end(), id_="one")
        other = flow_of(start(port("x", type_, default=None)), end(), id_="two")
        return parallel(flow, other)

    found = compare(made("string"), made("integer"))
    assert {change.flow for change in found} == {("both", "[0]"), ("both", "[1]")}
