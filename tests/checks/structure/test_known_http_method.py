from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, draft_flow


def flow(method: object) -> dict[str, object]:
    made = draft_flow()
    made["$referenced_components"]["write"]["http_method"] = method
    return made


@pytest.mark.parametrize("method", ["GET", "post", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_a_usual_method_is_fine_in_either_case(method):
    assert found(flow(method), "OAS053") == []


def test_a_misspelt_method_is_a_warning_with_the_nearest_one():
    (finding,) = findings(flow("PSOT"), "OAS053")
    assert finding.pointer == f"{BLOCK}/write/http_method"
    assert (finding.severity, finding.hint) == ("warning", 'did you mean "POST"?')


def test_a_method_like_no_other_gets_the_list():
    (finding,) = findings(flow("FETCHALL"), "OAS053")
    assert finding.hint == "one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"


def test_a_method_that_is_a_template_is_known_when_the_node_runs():
    assert found(flow("{{ topic }}"), "OAS053") == []


@pytest.mark.parametrize("method", [None, 7, ["GET"]])
def test_a_method_that_is_no_text_is_the_finding_of_another_rule(method):
    assert found(flow(method), "OAS053") == []
