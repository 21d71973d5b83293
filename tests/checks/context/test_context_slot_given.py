from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checks.rule_case import findings, found

CODE = "OAS243"
EXAMPLE = (
    Path(__file__).resolve().parents[3] / "examples" / "product-text-agent" / "cinatra" / "oas.json"
)


def given(title, value):
    made = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    for port in made["$referenced_components"]["start"]["inputs"]:
        if port["title"] == title:
            port["default"] = value
    return made


@pytest.mark.parametrize(
    ("title", "value", "meant"),
    [
        ("brandSlotId", "brnad", 'write "brand"'),
        ("brandParentPackageName", "@oasflow-examples/other", "product-text-agent"),
    ],
)
def test_a_selection_for_another_slot_or_package_is_found(title, value, meant):
    (finding,) = findings(given(title, value), CODE)
    assert finding.pointer.endswith("/default")
    assert value in finding.message
    assert meant in finding.hint


@pytest.mark.parametrize(
    ("title", "value"),
    [
        ("brandSlotId", "brand"), ("brandSlotId", ""), ("projectId", "anything"),
        ("brandParentPackageName", "@oasflow-examples/product-text-agent"),
    ],
)  # fmt: skip
def test_the_names_of_the_slot_and_the_package_are_fine(title, value):
    assert found(given(title, value), CODE) == []
