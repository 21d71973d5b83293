from __future__ import annotations

from tests.checks.context.slot_samples import AGENT, MANIFEST, about, slotted
from tests.checks.rule_case import findings, package_of

CODE = "OAS162"


def test_only_an_agent_with_slots_depends_on_the_selection_agent(tmp_path):
    (finding,) = findings(package_of(tmp_path / "a", slotted(slots=[]), MANIFEST), CODE)
    assert finding.severity == "warning"
    assert finding.file == str(tmp_path / "a" / "package.json")
    assert finding.pointer == "/cinatra/agentDependencies/@cinatra-ai~1context-selection-agent"
    assert findings(package_of(tmp_path / "b", slotted(), MANIFEST), CODE) == []


def test_both_forms_of_the_dependency_are_found(tmp_path):
    listed = {"dependencies": [{"packageName": "@x/a"}, {"packageName": AGENT}]}
    folder = package_of(tmp_path, slotted(slots=[]), {**MANIFEST, "cinatra": listed})
    assert [finding.pointer for finding in findings(folder, CODE)] == ["/cinatra/dependencies/1"]


def test_the_selection_agent_itself_is_left_alone(tmp_path):
    own = slotted(metadata=about(packageName=AGENT))
    assert findings(package_of(tmp_path, own, MANIFEST), CODE) == []
