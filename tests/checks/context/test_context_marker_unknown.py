from __future__ import annotations

from tests.checks.context.slot_samples import selecting, slotted, writing
from tests.checks.rule_case import findings, found

CODE = "OAS164"


def marked(purpose, **more):
    return slotted(selecting(purpose=purpose), writing(), **more)


def test_the_mark_names_a_declared_slot():
    (finding,) = findings(marked("author-placed-context-resolution-for-brnad"), CODE)
    assert finding.pointer == "/$referenced_components/context_brand/metadata/cinatra/purpose"
    assert finding.hint == 'did you mean "brand"?'
    assert finding.severity == "warning"
    assert found(marked("author-placed-context-resolution-for-brand"), CODE) == []


def test_other_purposes_and_flows_without_slots_are_left_alone():
    assert found(marked("something-else-for-brnad"), CODE) == []
    assert found(marked(7), CODE) == []
    assert found(marked("loader-injected-context-resolution-for-brnad", slots=[]), CODE) == []


def test_without_a_near_one_the_declared_slots_are_named():
    (finding,) = findings(marked("author-placed-context-resolution-for-quite-different"), CODE)
    assert finding.hint == 'declared here: "brand"'
