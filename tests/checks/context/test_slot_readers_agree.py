"""What the rule, the contract of the runtime and the dialect for editors take for a slot is one."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cinatra_sdk.context import ContextError, read_slots
from oas_compiler.schema.dialect import context_slot
from tests.checks.rule_case import found
from tests.flows import end, flow_of, start

SLOT = {
    "slotId": "brand",
    "acceptedArtifactExtensions": ["@x/brand-artifact"],
    "selectionMode": "autonomous",
    "resolutionMode": "override",
}
GOOD: list[dict[str, Any]] = [
    {},
    {"minItems": 0, "maxItems": 1},
    {"minItems": 2, "maxItems": 2, "readableOnly": True},
    {"selectionMode": "interactive", "resolutionMode": "accumulate"},
]
BAD: list[dict[str, Any]] = [
    {"slotId": ""}, {"slotId": 7}, {"slotId": None},
    {"acceptedArtifactExtensions": []}, {"acceptedArtifactExtensions": [""]},
    {"acceptedArtifactExtensions": "@x/a"}, {"acceptedArtifactExtensions": [1]},
    {"selectionMode": "auto"}, {"resolutionMode": "merge"}, {"selectionMode": None},
    {"minItems": -1}, {"minItems": "1"}, {"minItems": True}, {"maxItems": 0},
    {"readableOnly": "yes"}, {"readableOnly": 1}, {"installedExtensions": []},
]  # fmt: skip


def verdicts(slot: Any) -> dict[str, bool]:
    """Who takes the slot."""
    flow = flow_of(start(), end())
    flow["metadata"]["cinatra"]["contextSlots"] = [slot]
    try:
        read_slots([slot])
        contract = True
    except ContextError:
        contract = False
    return {
        "rule": found(flow, "OAS150") == [],
        "contract": contract,
        "dialect": Draft202012Validator(context_slot()).is_valid(slot),
    }


@pytest.mark.parametrize("change", GOOD, ids=str)
def test_all_take_what_is_a_slot(change):
    assert verdicts(SLOT | change) == {"rule": True, "contract": True, "dialect": True}


@pytest.mark.parametrize("change", BAD, ids=str)
def test_none_takes_what_is_none(change):
    assert verdicts(SLOT | change) == {"rule": False, "contract": False, "dialect": False}


@pytest.mark.parametrize("key", SLOT)
def test_none_takes_a_slot_that_lacks_a_key(key):
    lacking = {name: value for name, value in SLOT.items() if name != key}
    assert set(verdicts(lacking).values()) == {False}


def test_a_minimum_above_the_maximum_is_refused_where_two_keys_can_be_compared():
    assert verdicts(SLOT | {"minItems": 3, "maxItems": 2}) == {
        "rule": False, "contract": False, "dialect": True,
    }  # fmt: skip
