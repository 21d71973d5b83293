"""What one reply of a model may ask for, and which arguments a run can keep."""

from __future__ import annotations

from typing import Any

from cinatra_sdk import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.agents.agent_flows import agent, agent_flow
from tests.agents.test_agent import asks_for
from tests.flows import port

COUNT = {
    "component_type": "ServerTool", "id": "t", "name": "count", "inputs": [port("n", "number")],
    "outputs": [port("m", "number")],
}  # fmt: skip


def run(script: Any, made: list[Any], **bounds: int) -> Any:
    def count(n: float) -> float:
        made.append(n)
        return n

    host = HostParts(tools={"count": count}, remote_bounds=RemoteBounds(**bounds))
    flow = compile_flow(agent_flow(agent(COUNT)), models={"*": ScriptedModel(script)}, host=host)
    return drive(flow, {"topic": "bees"})


def test_a_reply_with_too_many_calls_ends_before_the_first() -> None:
    made: list[Any] = []
    ran = run([asks_for(*[("count", {"n": 1})] * 4), "Done."], made, calls=3)
    assert "one reply asks for more than 3 calls of tools" in str(ran.error)
    assert "RemoteBounds(calls=…)" in str(ran.error)
    assert made == []


def test_a_reply_with_as_many_calls_as_it_may_is_taken() -> None:
    made: list[Any] = []
    ran = run([asks_for(*[("count", {"n": 1})] * 3), "Done."], made, calls=3)
    assert (ran.status, made) == ("completed", [1, 1, 1]), ran.error


def test_arguments_that_no_run_can_keep_are_told_to_the_model() -> None:
    made: list[Any] = []
    ran = run([asks_for(("count", {"n": float("nan")}), ("count", {"n": 2**70})), "Done."], made)
    assert (ran.status, made) == ("completed", []), ran.error
