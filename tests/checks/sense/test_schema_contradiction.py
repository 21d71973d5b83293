from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, port, start

CODE = "OAS251"
AT = "/$referenced_components/ask/metadata/cinatra/inputMessageSchema"


def asking(schema):
    return flow_of(start(), gate("ask", inputMessageSchema=schema), end())


@pytest.mark.parametrize(
    ("wrong", "at", "hint", "right"),
    [
        ({"minimum": 9, "maximum": 3}, "minimum", "not above maximum", {"minimum": 3, "maximum": 3}),
        ({"minItems": 2, "maxItems": 1}, "minItems", "not above maxItems", {"minItems": 2}),
        ({"type": "string", "enum": [1]}, "enum", "agree", {"type": "string", "enum": [1, "1"]}),
        ({"type": "integer", "enum": [True]}, "enum", "agree", {"type": "boolean", "enum": [True]}),
        ({"enum": ["staff"], "default": "stuff"}, "default", 'did you mean "staff"?',
         {"enum": ["staff"], "default": ""}),
        ({"propertys": {}}, "propertys", 'did you mean "properties"?', {"x-propertys": {}}),
        ({"additionalproperties": True}, "additionalproperties", "additionalProperties",
         {"widget": "textarea"}),
    ],
)  # fmt: skip
def test_a_schema_that_no_value_fits_is_found_at_any_depth(wrong, at, hint, right):
    for around, way in (("properties", "a"), ("$defs", "b")):
        schema = {"type": "object", around: {way: {"type": ["string", "integer"], **wrong}}}
        (finding,) = findings(asking(schema), CODE)
        assert finding.pointer == f"{AT}/{around}/{way}/{at}"
        assert hint in finding.hint
        schema[around][way] = {"type": ["string", "integer"], **right}
        assert found(asking(schema), CODE) == []


def test_names_of_properties_are_no_keywords():
    assert found(asking({"type": "object", "properties": {"propertys": {}}}), CODE) == []


def test_a_port_of_two_types_or_with_an_enum_that_is_no_list_is_found_once():
    made = flow_of(start(port("a", "array", json_schema={"type": "object"})), end())
    assert found(made, CODE) == ["/inputs/0/json_schema/type"]
    assert found(flow_of(start(port("a", enum="x,y")), end()), CODE) == ["/inputs/0/enum"]
    assert found(flow_of(start(port("a", enum=["x", "y"])), end()), CODE) == []


@pytest.mark.parametrize(
    ("wrong", "meant"), [({"typ": "string"}, "type"), ({"tpye": "string"}, "type"), ({"enm": ["a"]}, "enum")]
)  # fmt: skip
def test_a_short_keyword_with_a_slip_is_found_where_its_value_fits(wrong, meant):
    (finding,) = findings(asking({"type": "object", "properties": {"a": wrong}}), CODE)
    assert finding.hint == f'did you mean "{meant}"?'


@pytest.mark.parametrize("fine", [{"typ": "invoice"}, {"typ": {"a": 1}}, {"enm": 3}, {"num": 1}])
def test_a_short_key_of_the_authors_own_is_fine(fine):
    assert found(asking({"type": "object", "properties": {"a": fine}}), CODE) == []


def test_a_list_of_types_has_some_and_each_once():
    made = flow_of(start(port("a", ["string", "string"])), end())
    assert found(made, CODE) == ["/inputs/0/type/1"]
    assert found(flow_of(start(port("a", [])), end()), CODE) == ["/inputs/0/type"]
    assert found(flow_of(start(port("a", ["string", "null"])), end()), CODE) == []


def test_a_list_of_types_is_shown_as_it_is_written():
    (finding,) = findings(asking({"type": ["string", "null"], "enum": [1]}), CODE)
    assert finding.message.endswith('of the type ["string", "null"]')


@pytest.mark.parametrize(
    ("wrong", "at", "hint", "right"),
    [
        ({"exclusiveMinimum": 5, "maximum": 5}, "exclusiveMinimum", "below maximum",
         {"exclusiveMinimum": 4, "maximum": 5}),
        ({"minimum": 5, "exclusiveMaximum": 5}, "minimum", "below", {"minimum": 5, "maximum": 5}),
        ({"enum": []}, "enum", "add the values", {"enum": ["a"]}),
        ({"enum": ["a", "b", "a"]}, "enum/2", "remove one", {"enum": ["a", "A"]}),
        ({"enum": ["a"], "const": "b"}, "const", "one of the values", {"enum": ["a"], "const": "a"}),
        ({"type": "string", "default": 3}, "default", "agree", {"type": "string", "default": "3"}),
        ({"type": "integer", "default": True}, "default", "agree", {"type": "integer", "default": 1}),
        ({"type": "array", "properties": {"a": {}}}, "properties", "object",
         {"type": ["object", "null"], "properties": {"a": {}}}),
        ({"format": "e-mail"}, "format", '"email"', {"format": "color"}),
        ({"format": "datetime"}, "format", '"date-time"', {"format": "date-time"}),
    ],
)  # fmt: skip
def test_parts_of_a_form_that_do_not_agree_are_found_and_their_twins_are_fine(
    wrong, at, hint, right
):
    (finding,) = findings(asking({"type": "object", "properties": {"a": wrong}}), CODE)
    assert finding.pointer == f"{AT}/properties/a/{at}"
    assert hint in finding.hint
    assert found(asking({"type": "object", "properties": {"a": right}}), CODE) == []


def test_a_form_without_its_keywords_is_found_whole():
    (finding,) = findings(asking({"verdict": {"type": "string"}, "note": {"type": "string"}}), CODE)
    assert (finding.pointer, finding.severity) == (AT, "warning")
    assert '"properties"' in finding.hint
    assert found(asking({}), CODE) == found(asking({"x": {"color": 1}}), CODE) == []


def test_required_of_an_input_is_no_keyword_there():
    assert found(flow_of(start(port("a", required=True)), end()), CODE) == ["/inputs/0/required"]
    made = flow_of(start(port("a", "object", properties={"b": {}}, required=["b"])), end())
    assert found(made, CODE) == []
