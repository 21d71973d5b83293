from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, flow_of, gate, start

CODE = "OAS135"
ASK = "/$referenced_components/ask/metadata/cinatra"
RUN = "/$referenced_components/run/metadata/cinatra"


def asking(**block):
    made = flow_of(start(), gate("ask"), end())
    made["$referenced_components"]["ask"]["metadata"]["cinatra"] |= block
    return made


def running(step):
    inner = flow_of(start(), gate("inside"), end())
    return flow_of(start(), flow_node("run", inner, gateSteps=[step]), end())


@pytest.mark.parametrize(
    ("key", "wrong", "hint", "right"),
    [
        ("requiresApproval", "true", "write true without quotes", False),
        ("surfaceGateInputs", "yes", "write true without quotes", True),
        ("surfaceGateInputs", 1, 'quote it: "1"', None),
        ("a2uiSurfaceId", 5, 'quote it: "5"', "a:b"),
        ("description", ["x"], "correct it, or leave it out", "x"),
    ],
)
def test_a_value_is_of_the_kind_that_a_host_reads(key, wrong, hint, right):
    (finding,) = findings(asking(**{key: wrong}), CODE)
    assert (finding.pointer, finding.hint, finding.fix) == (f"{ASK}/{key}", hint, ())
    assert found(asking(**{key: right}), CODE) == []


def test_an_entry_of_gate_steps_has_known_keys_and_words():
    (finding,) = findings(running({"name": "a", "gateCout": 1}), CODE)
    assert finding.hint == 'did you mean "gateCount"?'
    assert [edit.key for edit in finding.fix] == ["gateCount"]
    assert found(running({"hitlOwnedBy": "slef"}), CODE) == [f"{RUN}/gateSteps/0/hitlOwnedBy"]
    assert found(running({"gateCount": "2"}), CODE) == [f"{RUN}/gateSteps/0/gateCount"]
    assert found(running({"gateCount": 1, "hitlOwnedBy": "self", "mine": 7}), CODE) == []


@pytest.mark.parametrize("block", ["read_only", ["read_only"], 7])
def test_a_block_that_is_no_object_is_one_finding(block):
    made = flow_of(start(), gate("ask"), end())
    made["$referenced_components"]["ask"]["metadata"]["cinatra"] = block
    assert found(made, CODE) == [ASK]
    assert found(made, "OAS176") == []
