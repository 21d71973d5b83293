from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import PARTS, mail_agent, parts
from tests.checks.rule_case import findings, found
from tests.flows import node

BOTH = f"{PARTS}/both"


def parallel(**fields):
    """A ParallelFlowNode that is defined, and that no flow lists."""
    subflows = [{"$component_ref": "first"}, {"component_type": "Flow", "id": "second"}]
    flow = mail_agent()
    parts(flow)["both"] = node("ParallelFlowNode", "both", **{"subflows": subflows} | fields)
    return flow


def test_named_and_inline_subflows_are_taken():
    assert found(parallel(), "OAS106") == []
    assert found(parallel(inputs=None, outputs=[]), "OAS106") == []


@pytest.mark.parametrize("subflows", [[], {}, "first"])
def test_at_least_one_subflow_is_needed(subflows):
    assert found(parallel(subflows=subflows), "OAS106") == [f"{BOTH}/subflows"]


def test_missing_fields_are_reported_at_the_node():
    flow = parallel(subflows=None)
    del parts(flow)["both"]["name"]
    assert found(flow, "OAS106") == [BOTH, BOTH]
    assert [finding.message for finding in findings(flow, "OAS106")] == [
        'the ParallelFlowNode "both" needs a name',
        'the ParallelFlowNode "both" needs a list of subflows',
    ]


def test_a_subflow_is_an_object():
    flow = parallel(subflows=[{"$component_ref": "first"}, "second"])
    assert found(flow, "OAS106") == [f"{BOTH}/subflows/1"]


@pytest.mark.parametrize("field", ["name", "inputs", "outputs"])
def test_fields_of_the_wrong_kind_are_reported_there(field):
    assert found(parallel(**{field: {}}), "OAS106") == [f"{BOTH}/{field}"]


def test_of_a_node_that_is_listed_each_flaw_is_reported_once():
    both = node("ParallelFlowNode", "both", subflows={}, inputs=7)
    flow = mail_agent(both)
    every = [f.pointer for c in ("OAS022", "OAS023", "OAS106") for f in findings(flow, c)]
    assert sorted(every) == [f"{BOTH}/inputs", f"{BOTH}/subflows"]
