from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import SLOT, SLOTS_AT, about, slotted
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, flow_of, start

CODE = "OAS150"
AT = f"{SLOTS_AT}/0"


def without(key):
    return {name: value for name, value in SLOT.items() if name != key}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"minItems": 0, "maxItems": 5, "readableOnly": True},
        {"minItems": 2, "maxItems": 2},
        {"selectionMode": "interactive", "resolutionMode": "accumulate"},
    ],
)
def test_a_slot_as_the_host_reads_it_is_accepted(more):
    assert found(slotted(slots=[{**SLOT, **more}]), CODE) == []


@pytest.mark.parametrize(
    ("more", "below", "words"),
    [
        ({"selectionmode": "autonomous"}, "/selectionmode", 'unknown key "selectionmode"'),
        ({"slotId": ""}, "/slotId", "not empty"),
        ({"slotId": "  "}, "/slotId", "not empty"),
        ({"slotId": 7}, "/slotId", "not empty"),
        ({"acceptedArtifactExtensions": []}, "/acceptedArtifactExtensions", "at least one"),
        ({"acceptedArtifactExtensions": "@x/a"}, "/acceptedArtifactExtensions", "a list"),
        ({"acceptedArtifactExtensions": ["@x/a", ""]}, "/acceptedArtifactExtensions/1", "package names"),
        ({"acceptedArtifactExtensions": [None]}, "/acceptedArtifactExtensions/0", "package names"),
        ({"selectionMode": "auto"}, "/selectionMode", '"interactive" or "autonomous"'),
        ({"selectionMode": ["autonomous"]}, "/selectionMode", '"interactive" or "autonomous"'),
        ({"resolutionMode": None}, "/resolutionMode", '"override" or "accumulate"'),
        ({"minItems": -1}, "/minItems", "from 0"),
        ({"minItems": True}, "/minItems", "from 0"),
        ({"minItems": 1.0}, "/minItems", "from 0"),
        ({"minItems": None}, "/minItems", "from 0"),
        ({"maxItems": 0}, "/maxItems", "from 1"),
        ({"maxItems": "5"}, "/maxItems", "from 1"),
        ({"minItems": 3, "maxItems": 2}, "/minItems", "above its maxItems"),
        ({"readableOnly": "yes"}, "/readableOnly", "true or false"),
        ({"readableOnly": None}, "/readableOnly", "true or false"),
        ({"a/b~": 1}, "/a~1b~0", "unknown key"),
    ],
)  # fmt: skip
def test_each_flaw_is_one_finding_at_the_value(more, below, words):
    (finding,) = findings(slotted(slots=[{**SLOT, **more}]), CODE)
    assert finding.pointer == AT + below
    assert words in finding.message
    assert finding.hint


@pytest.mark.parametrize("key", SLOT)
def test_a_missing_member_is_found_at_the_slot(key):
    (finding,) = findings(slotted(slots=[without(key)]), CODE)
    assert finding.pointer == AT
    assert finding.message.endswith(f"has no {key}")
    assert finding.hint.startswith(f'add "{key}": ')


def test_all_flaws_of_a_slot_are_found_together():
    assert found(slotted(slots=[{"slotId": "", "maxItems": 0, "x": 1}]), CODE) == [
        AT, AT, AT, f"{AT}/slotId", f"{AT}/maxItems", f"{AT}/x",
    ]  # fmt: skip


def test_the_nearest_key_and_mode_are_in_the_hint():
    (finding,) = findings(slotted(slots=[{**SLOT, "readableonly": True}]), CODE)
    assert finding.hint == 'did you mean "readableOnly"?'
    (finding,) = findings(slotted(slots=[{**SLOT, "resolutionMode": "overide"}]), CODE)
    assert finding.hint == 'did you mean "override"?'


@pytest.mark.parametrize(("slots", "count"), [({}, 1), ("brand", 1), (0, 1), (None, 0), ([], 0)])
def test_the_slots_are_a_list(slots, count):
    metadata = about()
    metadata["cinatra"]["contextSlots"] = slots
    assert found(slotted(metadata=metadata), CODE) == [SLOTS_AT] * count


@pytest.mark.parametrize("odd", [None, "brand", 7, []])
def test_a_slot_is_an_object(odd):
    assert found(slotted(slots=[odd]), CODE) == [AT]


def test_the_slots_of_a_subflow_are_read_too():
    inner = slotted(slots=[{**SLOT, "minItems": -1}], id_="inner")
    assert found(flow_of(start(), flow_node("run", inner), end()), CODE) == [
        f"/$referenced_components/inner{AT}/minItems"
    ]


def test_a_misspelt_key_is_one_finding_and_what_it_means_is_not_called_missing():
    slot = {**SLOT}
    slot["selectonMode"] = slot.pop("selectionMode")
    (finding,) = findings(slotted(slots=[slot]), CODE)
    assert finding.message == 'the context slot "brand" has an unknown key "selectonMode"'
    assert finding.hint == 'did you mean "selectionMode"?'
    assert finding.pointer == f"{SLOTS_AT}/0/selectonMode"
    slot["colour"] = slot.pop("selectonMode")
    messages = [finding.message for finding in findings(slotted(slots=[slot]), CODE)]
    assert messages == [
        'the context slot "brand" has no selectionMode',
        'the context slot "brand" has an unknown key "colour"',
    ]
    assert findings(slotted(), CODE) == []
