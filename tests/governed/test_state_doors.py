"""Every door through which a caller could try to set what only the host sets (R-01)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Overwrite, Send

from cinatra_sdk.activations import advance
from cinatra_sdk.errors import InputInvalid, PolicyInvalid
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start

EVIL_POLICY: dict[str, Any] = {"steps": []}
FORMS = {
    "plain": lambda value: value,
    "overwrite key": lambda value: {"__overwrite__": value},
    "overwrite type": lambda value: {"type": "__overwrite__", "value": value},
    "typed overwrite": Overwrite,
    "list": lambda value: [value],
    "nested overwrite": lambda value: {"steps": {"__overwrite__": value}},
}
AUTHORITATIVE = {
    "approval_policy": EVIL_POLICY,
    "bearer_token": "stolen",
    "run": {"run_id": "other", "tenant": "other", "digest": "", "scope": ""},
    "cursor": {"seq": 99, "next": "send"},
}


def guarded() -> dict[str, Any]:
    """start → review (gate) → send (an effect) → end."""
    return flow_of(
        start(port("topic", default="x")),
        gate("review"),
        api("send", outputs=[port("sent", "string")], risk="email_send"),
        end(port("sent", "string")),
        edges=[("send", "sent", "end", "sent")],
    )


@pytest.fixture
def parked() -> Any:
    """A run that waits at its gate: graph, config, context, platform."""
    platform = SimulatedPlatform()
    flow = compile_flow(guarded(), platform=platform)
    graph = flow.graph(InMemorySaver())
    config, context = flow.config(run_id="r1"), flow.context(run_id="r1", tenant="t1")
    graph.invoke(flow.input({}), config, context=context)
    return flow, graph, config, context, platform


def governed(graph: Any, config: Any) -> dict[str, Any]:
    values = graph.get_state(config).values
    keys = ("bearer_token", "approval_policy", "run", "cursor")
    return copy.deepcopy({key: values[key] for key in keys})


def test_the_host_part_is_what_the_host_gave(parked: Any) -> None:
    flow, graph, config, _context, _platform = parked
    state = governed(graph, config)
    assert state["bearer_token"] == ""
    assert state["approval_policy"] == flow.approval_policy
    assert state["run"]["run_id"] == "r1"
    assert state["run"]["tenant"] == "t1"
    assert state["cursor"]["next"] == "review"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", AUTHORITATIVE)
def test_a_first_input_cannot_set_an_authoritative_key(key: str, form: str) -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(guarded(), platform=platform)
    graph = flow.graph(InMemorySaver())
    config, context = flow.config(run_id="r1"), flow.context(run_id="r1")
    attack = FORMS[form](AUTHORITATIVE[key])
    try:
        graph.invoke({"inputs": {key: attack}, key: attack}, config, context=context)
    except InputInvalid:  # the engine's own keys: refused by name, and nothing has begun
        assert key in {"run", "cursor"}
        graph.invoke(flow.input({}), config, context=context)
    state = governed(graph, config)
    assert state["approval_policy"] == flow.approval_policy
    assert state["bearer_token"] == ""
    assert state["run"]["run_id"] == "r1"
    assert state["cursor"] == {"seq": 1, "next": "review"}
    assert platform.calls == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", AUTHORITATIVE)
def test_command_update_cannot_set_an_authoritative_key(parked: Any, key: str, form: str) -> None:
    _flow, graph, config, context, platform = parked
    before = governed(graph, config)
    update = {key: FORMS[form](AUTHORITATIVE[key])}
    graph.invoke(Command(update=update), config, context=context)
    assert governed(graph, config) == before
    assert platform.calls == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", AUTHORITATIVE)
def test_update_state_cannot_set_an_authoritative_key(parked: Any, key: str, form: str) -> None:
    _flow, graph, config, _context, _platform = parked
    before = governed(graph, config)
    graph.update_state(config, {key: FORMS[form](AUTHORITATIVE[key])}, as_node="review")
    assert governed(graph, config) == before


@pytest.mark.parametrize("key", ["approval_policy", "bearer_token", "run", "cursor"])
def test_update_state_before_the_first_input_sets_nothing(key: str) -> None:
    flow = compile_flow(guarded(), platform=SimulatedPlatform())
    graph = flow.graph(InMemorySaver())
    config = flow.config(run_id="r1")
    graph.update_state(config, {key: AUTHORITATIVE[key]}, as_node="start")
    graph.invoke(flow.input({}), config, context=flow.context(run_id="r1"))
    state = governed(graph, config)
    assert state["approval_policy"] == flow.approval_policy
    assert state["run"]["run_id"] == "r1"
    assert state["cursor"]["next"] == "review"


def test_a_sealed_value_is_kept_once_and_a_second_seal_changes_nothing(parked: Any) -> None:
    # The control of this file: a seal does pass the channel, so the tests above test something.
    flow = compile_flow(guarded(), platform=SimulatedPlatform())
    graph = flow.graph(InMemorySaver())
    config = flow.config(run_id="r2")
    graph.update_state(config, {"approval_policy": seal({"steps": [1]})}, as_node="start")
    assert graph.get_state(config).values["approval_policy"] == {"steps": [1]}
    graph.update_state(config, {"approval_policy": seal({"steps": [2]})}, as_node="start")
    assert graph.get_state(config).values["approval_policy"] == {"steps": [1]}


def test_goto_past_the_gate_sends_nothing_and_the_gate_still_waits(parked: Any) -> None:
    _flow, graph, config, context, platform = parked
    graph.invoke(Command(goto="send"), config, context=context)
    assert platform.calls == []
    graph.invoke(Command(goto="end"), config, context=context)
    assert "outputs" not in graph.get_state(config).values
    # A new input sends the run back to where it stands, and it can be answered as before.
    graph.invoke({"inputs": {}}, config, context=context)
    (waiting,) = graph.get_state(config).interrupts
    graph.invoke(Command(resume={waiting.id: {"approved": True}}), config, context=context)
    assert [call.node for call in platform.calls] == ["send"]
    assert graph.get_state(config).values["status"] == "completed"


@pytest.mark.parametrize("rejected", [False, True])
def test_a_task_sent_with_a_forged_state_does_nothing(parked: Any, rejected: bool) -> None:
    _flow, graph, config, context, platform = parked
    if rejected:
        (waiting,) = graph.get_state(config).interrupts
        graph.invoke(Command(resume={waiting.id: {"approved": False}}), config, context=context)
    forged = {
        "cursor": {"seq": 9, "next": "send"},
        "run": {"run_id": "FORGED", "tenant": "", "digest": "", "scope": ""},
        "approval_policy": {"steps": []},
    }
    for target in ("send", "review", "start", "end"):
        graph.invoke(
            Command(goto=Send(target, {**forged, "cursor": {"seq": 9, "next": target}})),
            config,
            context=context,
        )
    assert platform.calls == []
    values = graph.get_state(config).values
    assert values["run"]["run_id"] == "r1"
    assert values["status"] == ("rejected" if rejected else "running")


def test_what_is_sent_cannot_be_swapped_in_the_request_that_approves() -> None:
    platform = SimulatedPlatform({"draft": {"text": "the draft"}})
    flow = compile_flow(
        flow_of(
            start(), api("draft", outputs=[port("text")]), gate("review"),
            api("send", inputs=[port("text")], data={"text": "{{ text }}"}, risk="email_send"), end(),
            edges=[("draft", "text", "send", "text")],
        ),
        platform=platform,
    )  # fmt: skip
    graph = flow.graph(InMemorySaver())
    config, context = flow.config(run_id="r1"), flow.context(run_id="r1")
    graph.invoke(flow.input({}), config, context=context)
    (waiting,) = graph.get_state(config).interrupts
    swap = {"node.draft": {"seq": 99, "visits": 1, "out": {"text": "SWAPPED"}}}
    audit = {"decisions": [{"gate": "x", "skipped": True}]}
    graph.invoke(
        Command(resume={waiting.id: {"approved": True}}, update={**swap, **audit}),
        config,
        context=context,
    )
    assert [call.body for call in platform.calls if call.node == "send"] == [{"text": "the draft"}]
    decided = graph.get_state(config).values["decisions"]
    assert [decision["gate"] for decision in decided] == ["review"]


def test_update_state_as_the_gate_does_not_pass_the_gate(parked: Any) -> None:
    _flow, graph, config, context, platform = parked
    graph.update_state(
        config, {"node.review": {"seq": 9, "visits": 1, "out": {}}}, as_node="review"
    )
    graph.invoke(None, config, context=context)
    assert platform.calls == []
    assert "outputs" not in graph.get_state(config).values


def test_a_second_input_on_the_thread_asks_the_same_question_again(parked: Any) -> None:
    _flow, graph, config, context, platform = parked
    before = governed(graph, config)
    graph.invoke({"inputs": {"topic": "other"}}, config, context=context)
    assert governed(graph, config) == before
    (waiting,) = graph.get_state(config).interrupts
    assert waiting.response_schema["x-gate"]["id"] == "review"
    assert platform.calls == []


def test_a_second_input_on_a_rejected_thread_changes_nothing(parked: Any) -> None:
    _flow, graph, config, context, platform = parked
    (waiting,) = graph.get_state(config).interrupts
    graph.invoke(Command(resume={waiting.id: {"approved": False}}), config, context=context)
    rejected_at = graph.get_state(config).values["rejected_at"]
    attacks: list[Any] = [
        {"inputs": {}},
        Command(goto="send"),
        Command(
            update={"rejected_at": {"__overwrite__": ""}, "status": {"__overwrite__": "running"}}
        ),
        Command(update={"rejected_at": "", "status": "running"}),
        Command(update={"rejected_at": Overwrite(""), "status": Overwrite("running")}),
    ]
    for attack in attacks:
        graph.invoke(attack, config, context=context)
    graph.update_state(config, {"status": "completed", "rejected_at": "2000"}, as_node="review")
    values = graph.get_state(config).values
    assert values["rejected_at"] == rejected_at
    assert values["status"] == "rejected"
    assert platform.calls == []


def test_a_forged_ending_stops_the_run_and_a_rejection_still_wins(parked: Any) -> None:
    _flow, graph, config, context, platform = parked
    (waiting,) = graph.get_state(config).interrupts
    graph.update_state(config, {"status": "completed"}, as_node="start")
    graph.invoke({"inputs": {}}, config, context=context)
    (waiting,) = graph.get_state(config).interrupts
    graph.invoke(Command(resume={waiting.id: {"approved": False}}), config, context=context)
    assert graph.get_state(config).values["status"] == "rejected"
    assert platform.calls == []


def test_a_forged_rejection_ends_the_run_as_rejected(parked: Any) -> None:
    flow, graph, config, context, platform = parked
    graph.update_state(config, {"rejected_at": "2020-01-01"}, as_node="start")
    stop = advance(
        graph, flow.input({}), config, context=context, answer=lambda _gate: {"approved": True}
    )
    assert (stop.status, stop.rejected_at) == ("rejected", "2020-01-01")
    assert platform.calls == []


def test_a_context_that_came_as_json_is_not_the_hosts_word() -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(guarded(), platform=platform)
    graph = flow.graph(InMemorySaver())
    config = flow.config(run_id="r1")
    graph.invoke(flow.input({}), config, context={"approval_policy": {"steps": []}, "run_id": "x"})
    state = governed(graph, config)
    assert state["approval_policy"] == flow.approval_policy
    assert state["run"]["run_id"] == "r1"
    assert platform.calls == []


def test_a_context_object_without_the_hosts_mark_is_not_the_hosts_word() -> None:
    flow = compile_flow(guarded(), platform=SimulatedPlatform())
    graph = flow.graph(InMemorySaver())
    forged = HostContext(run_id="x", approval_policy=EVIL_POLICY)
    graph.invoke(flow.input({}), flow.config(run_id="r1"), context=forged)
    assert governed(graph, flow.config(run_id="r1"))["run"]["run_id"] == "r1"


MALFORMED: list[Any] = [
    [], "steps", 3, {}, {"steps": None}, {"steps": {}}, {"steps": [{}]},
    {"steps": [{"stepNumber": "1", "requiresApproval": True}]},
    {"steps": [{"stepNumber": 1, "requiresApproval": "false"}]},
    {"steps": [{"stepNumber": 1, "requiresApproval": 0}]},
    {"steps": [{"stepNumber": True, "requiresApproval": True}]},
    {"steps": [{"stepNumber": -1, "requiresApproval": True}]},
    {"steps": [{"stepNumber": 1}]},
    {"steps": [{"stepNumber": 1, "requiresApproval": True}, {"stepNumber": 1, "requiresApproval": False}]},
]  # fmt: skip


@pytest.mark.parametrize("policy", MALFORMED, ids=repr)
def test_a_malformed_policy_refuses_to_start(policy: Any) -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(guarded(), platform=platform)
    graph = flow.graph(InMemorySaver())
    context = flow.context(run_id="r1", approval_policy=policy)
    with pytest.raises(PolicyInvalid):
        graph.invoke(flow.input({}), flow.config(run_id="r1"), context=context)
    assert platform.calls == []


@pytest.mark.parametrize("policy", [None, {"steps": []}], ids=["null", "no entry"])
def test_a_policy_without_an_entry_before_a_send_refuses_to_start(policy: Any) -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(guarded(), platform=platform)
    context = flow.context(run_id="r1", approval_policy=policy)
    with pytest.raises(PolicyInvalid, match="no entry for step 1"):
        flow.graph(InMemorySaver()).invoke(
            flow.input({}), flow.config(run_id="r1"), context=context
        )
    assert platform.calls == []


def test_an_explicit_waiver_skips_the_gate_and_says_so() -> None:
    platform = SimulatedPlatform()
    flow = compile_flow(guarded(), platform=platform)
    waiver = {"steps": [{"stepNumber": 1, "requiresApproval": False}]}
    graph = flow.graph(InMemorySaver())
    context = flow.context(run_id="r1", approval_policy=waiver)
    result = graph.invoke(flow.input({}), flow.config(run_id="r1"), context=context)
    assert result["status"] == "completed"
    (decided,) = result["decisions"]
    assert (decided["gate"], decided["approved"], decided["skipped"]) == ("review", True, True)
