from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, flow, gated, only, told
from tests.checks.rule_case import found
from tests.flows import end, port, start

CODE = "OAS174"


def test_setup_steps_in_a_schema_are_read_by_nobody(tmp_path):
    old = {"type": "object", "x-setup-steps": []}
    at = "/$referenced_components/review/metadata/cinatra/formSchema/x-setup-steps"
    assert found(gated(formSchema=old), CODE) == [at]
    assert found(gated(formSchema={"type": "object"}), CODE) == []
    finding = only(agent(tmp_path, cinatra={"inputSchema": old}), CODE)
    assert finding.pointer == "/cinatra/inputSchema/x-setup-steps"
    assert told(agent(tmp_path, cinatra={"inputSchema": {}}), CODE) == []


@pytest.mark.parametrize(
    ("title", "is_old"),
    [
        ("__setup_nonce", True),
        ("__step_2_done", True),
        ("__agent_run_name", True),
        ("setup_nonce", False),
        ("step_done", False),
    ],
)
def test_inputs_of_the_old_wizard_are_told(title, is_old):
    at = ["/$referenced_components/start/inputs/0/title"] if is_old else []
    assert found(flow(start(port(title)), end()), CODE) == at
