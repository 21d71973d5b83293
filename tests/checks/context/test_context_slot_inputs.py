from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import INTO, NAMES, OUT, slotted
from tests.checks.rule_case import findings, found

CODE = "OAS155"


@pytest.mark.parametrize("name", NAMES)
def test_each_input_of_the_selection_is_fed(name):
    edges = [edge for edge in INTO if edge[3] != name]
    (finding,) = findings(slotted(edges=[*edges, OUT]), CODE)
    assert finding.pointer == "/$referenced_components/context_brand"
    assert finding.message.endswith(f"no data edge feeds its {name}")


def test_all_that_are_missing_are_one_finding():
    (finding,) = findings(slotted(edges=[OUT]), CODE)
    assert finding.message.endswith("parentRunId, parentPackageName, slotId, projectId")
    assert found(slotted(), CODE) == []


def test_an_input_that_must_be_fed_is_another_rules():
    flow = slotted(edges=[*(edge for edge in INTO if edge[3] != "slotId"), OUT])
    assert len(found(flow, CODE)) == 1
    subflow = flow["$referenced_components"]["context_brand-subflow"]
    for port in (*subflow["inputs"], *subflow["$referenced_components"]["start"]["inputs"]):
        if port["title"] == "slotId":
            port.pop("default", None)
    assert found(flow, CODE) == []
    assert len(found(flow, "OAS063")) == 1
