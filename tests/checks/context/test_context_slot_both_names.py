from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import INTO, OUT, SLOT, selecting, slotted
from tests.checks.rule_case import findings, found
from tests.flows import api, port

CODE = "OAS166"
PLAIN, OWN = "contextSlotBindings", "brandContextSlotBindings"
AT = "/$referenced_components/write/inputs"


def consumer(*names, slots=(SLOT,)):
    write = api("write", inputs=[port(name, "array", default=[]) for name in names])
    edge = (*OUT[:3], names[0])
    return slotted(selecting(), write, slots=slots, edges=[*INTO, edge])


def test_a_consumer_has_one_of_the_two_names():
    (finding,) = findings(consumer(PLAIN, OWN), CODE)
    assert finding.pointer == f"{AT}/1"
    assert finding.hint == f"keep {PLAIN}"
    assert found(consumer(PLAIN), CODE) == []
    assert found(consumer(OWN), CODE) == []


def test_with_several_slots_the_plain_name_is_the_one_too_many():
    slots = (SLOT, {**SLOT, "slotId": "voice"})
    (finding,) = findings(consumer(PLAIN, OWN, slots=slots), CODE)
    assert finding.pointer == f"{AT}/0"
    assert finding.hint == f"keep {OWN}"
    assert found(consumer(OWN, "voiceContextSlotBindings", slots=slots), CODE) == []


@pytest.mark.parametrize("other", ["voiceContextSlotBindings", "contextRefs"])
def test_the_name_of_a_slot_that_the_flow_does_not_declare_is_any_name(other):
    assert found(consumer(PLAIN, other), CODE) == []
