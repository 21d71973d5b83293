from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("value", ["", None, 7, {"a": 1}])
def test_a_credential_that_is_the_name_of_a_member_is_found_at_its_object(value):
    flow = flow_of(start(), api("call", headers={SECRET: value}), end())
    (finding,) = findings(flow, CODE)
    assert finding.pointer == "/$referenced_components/call/headers"
    assert finding.message == "the name of a member is an API key (sk-…), written out"
    assert SECRET[3:8] not in finding.message + finding.hint + finding.pointer
    flow = flow_of(start(), api("call", headers={"X-Key": value}), end())
    assert found(flow, CODE) == []


def test_words_that_begin_like_a_credential_are_names():
    flow = flow_of(start(), api("call", data={"sk-prefixed-component-name": ""}), end())
    assert found(flow, CODE) == []


def test_names_are_looked_at_however_deep_they_stand():
    flow = flow_of(start(), api("call", data=[[{"a": [{SECRET: []}]}]]), end())
    assert found(flow, CODE) == ["/$referenced_components/call/data/0/0/a/0"]
