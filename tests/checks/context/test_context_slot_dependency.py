from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import AGENT, MANIFEST, about, slotted
from tests.checks.rule_case import findings, package_of

CODE = "OAS153"


def packed(folder, cinatra, flow=None, **more):
    return package_of(folder, flow or slotted(), {**MANIFEST, **more, "cinatra": cinatra})


@pytest.mark.parametrize(
    "cinatra",
    [
        {"agentDependencies": {AGENT: "^0.1.1"}},
        {"dependencies": [{"packageName": AGENT, "kind": "agent", "versionConstraint": {"kind": "semver-range", "range": "^0.1.1"}}]},
        {"dependencies": [7, {"packageName": "@x/other"}], "agentDependencies": {AGENT: "*"}},
    ],
)  # fmt: skip
def test_both_forms_of_the_dependency_count(tmp_path, cinatra):
    assert findings(packed(tmp_path, cinatra), CODE) == []


@pytest.mark.parametrize(
    "cinatra",
    [{}, {"agentDependencies": {}}, {"dependencies": {}},
     {"agentDependencies": {"@cinatra-ai/context-agent": "^1.0.0"}}],
)  # fmt: skip
def test_a_flow_with_slots_depends_on_the_selection_agent(tmp_path, cinatra):
    (finding,) = findings(packed(tmp_path, cinatra), CODE)
    assert finding.file == str(tmp_path / "package.json")
    assert finding.pointer == "/cinatra/agentDependencies"
    assert "does not depend on" in finding.message
    assert AGENT in finding.hint


@pytest.mark.parametrize(
    ("cinatra", "pointer"),
    [
        ({"agentDependencies": {AGENT: ""}}, "/cinatra/agentDependencies/@cinatra-ai~1context-selection-agent"),
        ({"agentDependencies": {AGENT: None}}, "/cinatra/agentDependencies/@cinatra-ai~1context-selection-agent"),
        ({"dependencies": [{"packageName": AGENT, "versionConstraint": {}}]}, "/cinatra/dependencies/0"),
        ({"dependencies": [{"packageName": AGENT}]}, "/cinatra/dependencies/0"),
    ],
)  # fmt: skip
def test_it_does_so_with_a_range(tmp_path, cinatra, pointer):
    (finding,) = findings(packed(tmp_path, cinatra), CODE)
    assert (finding.pointer, finding.file) == (pointer, str(tmp_path / "package.json"))
    assert finding.message.endswith("has no version range")


def test_a_flow_without_slots_and_the_selection_agent_itself_need_no_entry(tmp_path):
    assert findings(packed(tmp_path / "a", {}, slotted(slots=[])), CODE) == []
    own = slotted(metadata=about({"slotId": "brand"}, packageName=AGENT))
    assert findings(packed(tmp_path / "b", {}, own), CODE) == []
    assert findings(packed(tmp_path / "c", {}, name=AGENT), CODE) == []


def test_slots_of_a_child_flow_are_the_childs_affair(tmp_path):
    from tests.flows import end, flow_node, flow_of, start

    flow = flow_of(start(), flow_node("run", slotted(id_="inner")), end())
    assert findings(packed(tmp_path, {}, flow), CODE) == []
