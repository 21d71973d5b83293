"""An agent that requires approval begins only after a person has approved it."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import Decision
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import SEND, TEXT, agent, agent_flow
from tests.flows import port

APPROVED = {"cinatra": {"requiresApproval": True}}


def approved_agent(**more: Any) -> Any:
    return agent_flow(agent(outputs=TEXT, metadata=APPROVED, **more), TEXT)


def run(flow: Any, answer: Any, model: ScriptedModel) -> Any:
    return drive(compile_flow(flow, models={"*": model}), {"topic": "bees"}, answers=[answer])


def test_approved_the_agent_works_and_its_inputs_were_shown() -> None:
    model = ScriptedModel(["Done."])
    ran = run(approved_agent(), True, model)
    assert ran.outputs == {"report": "Done."}
    (gate,) = ran.gates
    assert gate.values == {"call": "Helper", "arguments": {"topic": "bees"}}


def test_denied_the_agent_does_nothing_and_the_run_goes_on() -> None:
    model = ScriptedModel([])
    ran = run(approved_agent(), Decision.deny(by="ann", reason="not now"), model)
    assert (ran.status, ran.outputs) == ("completed", {"report": "[Denied by operator] not now"})
    assert model.asked == []


def test_rejected_the_run_ends() -> None:
    model = ScriptedModel([])
    assert run(approved_agent(), False, model).status == "rejected"
    assert model.asked == []


def test_the_node_decides_before_the_agent() -> None:
    flow = approved_agent()
    flow["$referenced_components"]["work"]["metadata"] = {"cinatra": {"requiresApproval": False}}
    model = ScriptedModel(["Done."])
    ran = drive(compile_flow(flow, models={"*": model}), {"topic": "bees"})
    assert ran.outputs == {"report": "Done."}


def test_a_gate_inside_asks_after_the_approval() -> None:
    call = {"name": "send", "args": {"to": "ann"}}
    model = ScriptedModel([ScriptedReply(tool_calls=(call,)), "Sent."])
    flow = compile_flow(
        agent_flow(agent(SEND, outputs=TEXT, metadata=APPROVED), TEXT),
        models={"*": model}, tools={"send": lambda to, copies: True},
    )  # fmt: skip
    ran = drive(flow, {"topic": "bees"}, answers=[True, True])
    assert ran.outputs == {"report": "Sent."}, ran.error
    assert [one["gate"] for one in ran.decisions] == ["work", "work/send"]


def test_an_agent_that_is_a_document_asks_too() -> None:
    model = ScriptedModel(["Hello."])
    flow = compile_flow(plain_root(), models={"*": model})
    ran = drive(flow, {"topic": "bees", "user_message": "Hi"}, answers=[True])
    assert (ran.status, ran.messages[-1]) == ("completed", "Hello.")
    assert drive(flow, {"topic": "bees"}, answers=[False]).status == "rejected"


def plain_root() -> Any:
    return {**agent(metadata=APPROVED), "agentspec_version": "26.1.0"}


@pytest.mark.parametrize("denied", [True, False])
def test_a_worker_that_requires_approval_asks_before_it_works(denied: bool) -> None:
    worker = agent(system_prompt="Find.", inputs=[], metadata=APPROVED)
    worker = {**worker, "id": "finder", "name": "Finder"}
    group = {
        "component_type": "ManagerWorkers", "id": "group", "name": "Group", "inputs": [port("topic")],
        "outputs": TEXT, "group_manager": agent(outputs=TEXT), "workers": [worker],
    }  # fmt: skip
    call = {"name": "Finder", "args": {"message": "bees?"}}
    found = [] if denied else ["Found."]
    model = ScriptedModel([ScriptedReply(tool_calls=(call,)), *found, "Ready."])
    answer = Decision.deny(by="ann", reason="") if denied else True
    ran = run(agent_flow(group, TEXT), answer, model)
    assert ran.outputs == {"report": "Ready."}, ran.error
    assert model.left == 0


def test_an_agent_of_a_swarm_that_requires_approval_is_refused() -> None:
    other = {**agent(metadata=APPROVED), "id": "other", "name": "Other"}
    swarm = {
        "component_type": "Swarm", "id": "swarm", "name": "Swarm", "inputs": [port("topic")],
        "outputs": TEXT, "first_agent": {"$component_ref": "helper"}, "handoff": "always",
        "relationships": [[{"$component_ref": "helper"}, {"$component_ref": "other"}]],
        "$referenced_components": {"helper": agent(outputs=TEXT), "other": other},
    }  # fmt: skip
    told = [one.message for one in check(agent_flow(swarm, TEXT)).errors if one.code == "OAS022"]
    assert told == [
        'the Agent "other" requires approval, and others of its Swarm hand over to it without'
    ]
