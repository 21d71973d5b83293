from __future__ import annotations

from tests.checks.context.slot_samples import SLOT, SLOTS_AT, slotted
from tests.checks.rule_case import findings, found

CODE = "OAS151"


def test_two_slots_have_two_ids():
    other = {**SLOT, "slotId": "voice"}
    (finding,) = findings(slotted(slots=[other, SLOT, SLOT]), CODE)
    assert finding.pointer == f"{SLOTS_AT}/2/slotId"
    assert finding.message == 'the slotId "brand" is taken by the slot at position 2'
    assert found(slotted(slots=[other, SLOT]), CODE) == []


def test_slots_without_an_id_are_no_twins():
    assert found(slotted(slots=[{}, {}, 7, 7, {"slotId": []}, {"slotId": []}]), CODE) == []
