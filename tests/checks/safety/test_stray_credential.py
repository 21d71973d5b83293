from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.safety.secret_samples import KNOWN, RANDOM
from tests.flows import api, end, flow_of, start

CODE = "OAS205"
SECRET = KNOWN["an API key (sk-…)"]


def configured(key):
    return flow_of(
        start(), api("call", sensitive_headers={"X-Key": key}), end(), description="A flow."
    )


def test_a_known_shape_anywhere_in_the_document_is_found_and_not_repeated():
    (finding,) = findings(configured(SECRET), CODE)
    assert finding.pointer == "/$referenced_components/call/sensitive_headers/X-Key"
    assert finding.message == '"X-Key" holds an API key (sk-…), written out'
    assert SECRET[3:8] not in finding.message + finding.hint
    assert found(configured({"$component_ref": "call.key"}), CODE) == []


def test_what_only_looks_random_is_allowed_outside_of_requests():
    assert found(configured(RANDOM), CODE) == []


def test_one_credential_is_reported_by_one_rule():
    flow = flow_of(start(), api("call", data={"key": SECRET}), end())
    assert found(flow, CODE) == []
    assert found(flow, "OAS204") == ["/$referenced_components/call/data/key"]
