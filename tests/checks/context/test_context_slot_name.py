from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import SLOT, SLOTS_AT, slotted
from tests.checks.rule_case import found

CODE = "OAS152"


@pytest.mark.parametrize(
    ("slot_id", "count"),
    [("brandVoice", 0), ("brand_voice2", 0), ("2brand", 0), ("brand voice", 1), ("brand-voice", 1),
     ("brand.voice", 1), ("", 0), (7, 0)],
)  # fmt: skip
def test_the_id_of_a_slot_can_stand_in_a_name(slot_id, count):
    flow = slotted(slots=[{**SLOT, "slotId": slot_id}])
    assert found(flow, CODE) == [f"{SLOTS_AT}/0/slotId"] * count
