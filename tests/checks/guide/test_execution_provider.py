from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, flow, only, told
from tests.checks.rule_case import found
from tests.flows import api, end, start

CODE = "OAS172"


def provided(value):
    return flow(about={"executionProvider": value})


def test_wayflow_is_the_only_provider():
    assert found(provided("wayflow"), CODE) == []
    assert found(provided("langgraph"), CODE) == ["/metadata/cinatra/executionProvider"]
    assert found(provided("default"), CODE) == ["/metadata/cinatra/executionProvider"]


@pytest.mark.parametrize("value", [7, ["wayflow"], {"name": "wayflow"}, False])
def test_a_provider_that_is_no_text_is_none(value):
    assert found(provided(value), CODE) == ["/metadata/cinatra/executionProvider"]


def test_the_body_of_a_request_is_looked_at_and_a_template_in_it_is_left_alone():
    def saving(provider):
        return flow(start(), api("save", data={"input": {"executionProvider": provider}}), end())

    at = "/$referenced_components/save/data/input/executionProvider"
    assert found(saving("langgraph"), CODE) == [at]
    assert found(saving("wayflow"), CODE) == []
    assert found(saving("{{ provider }}"), CODE) == []


def test_package_json_is_looked_at(tmp_path):
    finding = only(agent(tmp_path, cinatra={"executionProvider": "langgraph"}), CODE)
    assert finding.pointer == "/cinatra/executionProvider"
    assert finding.file.endswith("package.json")
    assert told(agent(tmp_path, cinatra={"executionProvider": "wayflow"}), CODE) == []
