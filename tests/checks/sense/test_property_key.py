from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, port, start

CODE = "OAS245"


def having(**more):
    return flow_of(start(), gate("ask", inputs=[port("note", **more)]), end())


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("defualt", "default"), ("Default", "default"), ("descripton", "description"),
        ("json_shema", "json_schema"), ("jsonSchema", "json_schema"), ("item", "items"), ("enums", "enum"),
    ],
)  # fmt: skip
def test_a_misspelt_key_is_found(key, meant):
    (finding,) = findings(having(**{key: ""}), CODE)
    assert finding.pointer == f"/$referenced_components/ask/inputs/0/{key}"
    assert (finding.severity, finding.hint) == ("warning", f'did you mean "{meant}"?')


@pytest.mark.parametrize(
    "more",
    [
        {"x-order": 2}, {"default": "", "defaults": [1]}, {"unit": "km"}, {"examples": ["a"]},
        {"minLength": 1}, {"maxItems": 2}, {"pattern": "a"}, {"enum": ["a"]}, {"const": 1},
        {"readOnly": True}, {"deprecated": True}, {"prefixItems": []}, {"uniqueItems": True},
    ],
)  # fmt: skip
def test_other_keys_are_fine(more):
    assert found(having(**more), CODE) == []
