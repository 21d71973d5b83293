from __future__ import annotations

import json

import pytest

from oas_compiler import CompileError, compile_flow
from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, draft_flow

HEADERS = f"{BLOCK}/write/headers"
ELSEWHERE = "https://crm.example.com/x"


def flow(headers: object, url: str = "{{CINATRA_BASE_URL}}/api/write") -> dict[str, object]:
    made = draft_flow()
    made["$referenced_components"]["write"] |= {"headers": headers, "url": url}
    return made


@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
def test_only_the_host_says_to_the_platform_who_is_calling(name):
    assert found(flow({name: "Bearer {{ topic }}"}), "OAS054") == [f"{HEADERS}/{name}"]


def test_an_authorization_for_another_host_is_fine():
    assert found(flow({"Authorization": "Bearer {{ topic }}"}, ELSEWHERE), "OAS054") == []


@pytest.mark.parametrize(
    "name", ["X-Cinatra-Run-Token", "x_cinatra_step_node", "Host", "Content_Length", "idempotency-key"]
)  # fmt: skip
@pytest.mark.parametrize("url", ["{{CINATRA_BASE_URL}}/api/write", ELSEWHERE])
def test_a_header_of_the_host_the_runtime_or_the_connection_is_an_error_anywhere(name, url):
    (finding,) = findings(flow({name: "1"}, url), "OAS054")
    assert finding.severity == "error"
    assert f'"{name}"' in finding.message


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Team": "a", "X_Team": "b", "Accept": "text/csv", "User-Agent": "mine/1"},
        {"Accept-Encoding": "identity"},
        {"Accept-Encoding": "{{ topic }}"},
        {"{{ topic }}": "known when the node runs"},
    ],
)
def test_other_headers_are_fine(headers):
    assert found(flow(headers), "OAS054") == []


def test_a_packed_answer_cannot_be_asked_for():
    assert found(flow({"Accept-Encoding": "gzip"}), "OAS054") == [f"{HEADERS}/Accept-Encoding"]


def test_one_name_in_two_spellings_of_its_case_is_an_error():
    assert found(flow({"X-Team": "a", "x-team": "b"}), "OAS054") == [f"{HEADERS}/x-team"]


def test_such_a_flow_is_not_compiled():
    source = json.dumps(flow({"Authorization": "Bearer {{ topic }}"})).encode()
    with pytest.raises(CompileError, match="only the host sets"):
        compile_flow(source)


@pytest.mark.parametrize("name", ["X-Key", "x-key"])
def test_a_header_is_sensitive_or_not(name):
    made = flow({"X-Key": "a"}, ELSEWHERE)
    made["$referenced_components"]["write"]["sensitive_headers"] = {name: "{{ topic }}"}
    (finding,) = findings(made, "OAS054")
    assert finding.place.pointer == f"{BLOCK}/write/sensitive_headers/{name}"
    assert "headers too" in finding.message


def test_a_sensitive_header_obeys_the_same_rules():
    made = flow({})
    made["$referenced_components"]["write"]["sensitive_headers"] = {"Authorization": "{{ topic }}"}
    assert found(made, "OAS054") == [f"{BLOCK}/write/sensitive_headers/Authorization"]
