"""A model that is lent under a name that no model of the flow has is told at once."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.agents.agent_flows import TEXT, agent, agent_flow
from tests.flows import end, flow_of, start

FLOW = agent_flow(agent(outputs=TEXT), TEXT)


def test_a_misspelt_name_is_named_with_the_nearest() -> None:
    with pytest.raises(NotConfigured, match="'gptt'") as refused:
        compile_flow(FLOW, models={"gptt": ScriptedModel(["x"])})
    assert "gpt" in refused.value.hint


@pytest.mark.parametrize("name", ["gpt", "gpt-5", "*"])
def test_id_name_model_and_star_are_known(name: str) -> None:
    flow = compile_flow(FLOW, models={name: ScriptedModel(["Done."])})
    assert drive(flow, {"topic": "bees"}).outputs == {"report": "Done."}


def test_a_flow_without_models_knows_no_name() -> None:
    with pytest.raises(NotConfigured, match="its models are: none"):
        compile_flow(flow_of(start(), end()), models={"gpt": ScriptedModel(["x"])})


def test_one_record_of_a_host_may_serve_many_flows() -> None:
    models: Any = {"gpt": ScriptedModel(["Done."]), "another": ScriptedModel([])}
    flow = compile_flow(FLOW, host=HostParts(models=models))
    assert drive(flow, {"topic": "bees"}).outputs == {"report": "Done."}
