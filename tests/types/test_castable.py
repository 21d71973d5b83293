"""Castability, pair by pair: schemas as authors write them, read and compared."""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler.component_facts.port_reader import PortReader
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import ANY, STRING, ArrayType, Json, ObjectType, Port, UnionType
from oas_compiler.ir.printout import brief, shown
from oas_compiler.port_types import breadth, castable, choices_meet, choices_of, fits, type_of
from oas_compiler.text.marks import Marks
from oas_compiler.text.source import Source
from tests.samples import codes, found_in, small, text

Schema = dict[str, Any]

ANYTHING: Schema = {}
TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
NULL: Schema = {"type": "null"}
LIST: Schema = {"type": "array"}
OBJECT: Schema = {"type": "object"}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def table(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def record(**members: Schema) -> Schema:
    return {"type": "object", "properties": members}


def closed(**members: Schema) -> Schema:
    return {**record(**members), "additionalProperties": False}


def one_of(*options: Schema) -> Schema:
    return {"anyOf": list(options)}


def enum(*values: Any, **more: Any) -> Schema:
    return {"enum": list(values), **more}


def port(schema: Schema) -> tuple[Port, list[str]]:
    """The port of this schema, with the codes of what is wrong with it."""
    findings = Findings()
    source = Source(value=None, raw=b"", file="", marks=Marks())
    (made,) = PortReader(source, findings).ports([{"title": "p", **schema}], "/outputs")
    return made, [finding.code for finding in findings]


def goes(source: Schema, target: Schema) -> bool:
    (give, flaws), (take, more) = port(source), port(target)
    assert flaws == more == []
    return castable(give.type, take.type) and choices_meet(
        choices_of(give.schema), choices_of(take.schema)
    )


DEFS = {"$defs": {"Id": TEXT, "Item": record(id={"$ref": "#/$defs/Id"})}}
TREE: Schema = {
    "$ref": "#/$defs/Tree",
    "$defs": {"Tree": record(name=TEXT, below=array({"$ref": "#/$defs/Tree"}))},
}

UPSTREAM_ACCEPTED: dict[str, tuple[Schema, Schema]] = {
    "string to string": (TEXT, TEXT),
    "integer to string": (INTEGER, TEXT),
    "number to string": (NUMBER, TEXT),
    "boolean to string": (FLAG, TEXT),
    "list to string": (array(INTEGER), TEXT),
    "object to string": (record(a=INTEGER), TEXT),
    "integer to number": (INTEGER, NUMBER),
    "number to integer": (NUMBER, INTEGER),
    "boolean to integer": (FLAG, INTEGER),
    "boolean to number": (FLAG, NUMBER),
    "integer to boolean": (INTEGER, FLAG),
    "number to boolean": (NUMBER, FLAG),
    "list of integers to list of strings": (array(INTEGER), array(TEXT)),
    "list of booleans to list of numbers": (array(FLAG), array(NUMBER)),
    "table of integers to table of strings": (table(INTEGER), table(TEXT)),
    "table of lists": (table(array(INTEGER)), table(array(TEXT))),
    "string to union with string": (TEXT, one_of(INTEGER, TEXT)),
    "union to string": (one_of(INTEGER, FLAG), TEXT),
    "union to union": (one_of(INTEGER, FLAG), one_of(NUMBER, NULL)),
}
UPSTREAM_REFUSED: dict[str, tuple[Schema, Schema]] = {
    "string to integer": (TEXT, INTEGER),
    "string to number": (TEXT, NUMBER),
    "string to boolean": (TEXT, FLAG),
    "list of strings to list of booleans": (array(TEXT), array(FLAG)),
    "list of strings to list of integers": (array(TEXT), array(INTEGER)),
    "table of strings to table of integers": (table(TEXT), table(INTEGER)),
    "table of lists of strings to table of lists of integers": (
        table(array(TEXT)),
        table(array(INTEGER)),
    ),
    "union with string to boolean": (one_of(TEXT, FLAG), FLAG),
}
ACCEPTED: dict[str, tuple[Schema, Schema]] = {
    "anything takes a string": (TEXT, ANYTHING),
    "anything takes a union": (one_of(TEXT, NULL), ANYTHING),
    "anything takes anything": (ANYTHING, ANYTHING),
    "anything becomes a string": (ANYTHING, TEXT),
    "anything becomes a string or null": (ANYTHING, one_of(TEXT, NULL)),
    "elements of any type become strings": (LIST, array(TEXT)),
    "elements that nothing is said of, to integers": (LIST, array(INTEGER)),
    "elements that nothing is said of, to objects": (LIST, array(record(id=TEXT))),
    "items that say nothing are as good as none": (array({}), array(INTEGER)),
    "anything may follow prefixItems": ({**LIST, "prefixItems": [INTEGER]}, array(INTEGER)),
    "null becomes a string": (NULL, TEXT),
    "string or null becomes a string": ({"type": ["string", "null"]}, TEXT),
    "nullable string becomes a string": ({**TEXT, "nullable": True}, TEXT),
    "integer into a list of types": (INTEGER, {"type": ["number", "null"]}),
    "integer into oneOf": (INTEGER, {"oneOf": [TEXT, NULL]}),
    "more members than wanted": (record(id=TEXT, age=INTEGER), record(id=TEXT)),
    "members are cast": (record(id=INTEGER), record(id=TEXT)),
    "an open object into named members": (OBJECT, record(id=INTEGER)),
    "list of open objects into named members": (array(OBJECT), array(record(id=TEXT))),
    "an open object with other members": (record(a=TEXT), record(b=INTEGER)),
    "a table into named members of its type": (table(INTEGER), record(n=TEXT)),
    "named members into a table": (closed(a=INTEGER, b=FLAG), table(NUMBER)),
    "closed into closed": (closed(id=TEXT), closed(id=TEXT)),
    "a closed object with more members into a closed one": (
        closed(id=TEXT, more=TEXT),
        closed(id=TEXT),
    ),
    "closed into open": (closed(id=TEXT), record(id=TEXT)),
    "additionalProperties true is the same as none": (
        {**OBJECT, "additionalProperties": True},
        OBJECT,
    ),
    "named patterns leave an object open": (
        {**closed(), "patternProperties": {"^x": TEXT}},
        record(x=TEXT),
    ),
    "properties without a type are an object": ({"properties": {"a": TEXT}}, record(a=TEXT)),
    "items without a type are a list": ({"items": INTEGER}, array(NUMBER)),
    "allOf of one": ({"allOf": [INTEGER]}, NUMBER),
    "allOf merges members": (
        {"allOf": [closed(a=TEXT), closed(b=INTEGER)]},
        record(a=TEXT, b=TEXT),
    ),
    "allOf with a rule and no type": ({"allOf": [TEXT, {"minLength": 1}]}, TEXT),
    "allOf intersects numbers": ({"allOf": [NUMBER, INTEGER]}, one_of(INTEGER, NULL)),
    "allOf intersects unions": ({"allOf": [one_of(TEXT, INTEGER), one_of(INTEGER, NULL)]}, NUMBER),
    "type beside allOf": ({**OBJECT, "allOf": [{"properties": {"a": INTEGER}}]}, record(a=NUMBER)),
    "type beside anyOf means both": ({**INTEGER, "anyOf": [INTEGER, TEXT]}, NUMBER),
    "object with alternatives of required members": (
        {**closed(a=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        record(a=TEXT),
    ),
    "enum without a type has the type of its values": (enum(1, 2), NUMBER),
    "const without a type": ({"const": 7}, INTEGER),
    "enum sets that share a value": (enum("a", "b", **TEXT), enum("b", "c", **TEXT)),
    "enum into a free string": (enum("a", **TEXT), TEXT),
    "free string into an enum": (TEXT, enum("a", **TEXT)),
    "numbers and their texts": (enum(1, 2), enum("1", "3")),
    "2.0 is 2": (enum(2.0, **NUMBER), enum(2, **INTEGER)),
    "true is 1": (enum(True), enum(0, 1, **INTEGER)),
    "const in an enum": ({"const": "a"}, enum("a", "b")),
    "enum behind a reference": (
        {"$ref": "#/$defs/C", "$defs": {"C": enum("a", **TEXT)}},
        enum("a", **TEXT),
    ),
    "reference": ({"$ref": "#/$defs/Id", **DEFS}, TEXT),
    "reference in a reference": ({"$ref": "#/$defs/Item", **DEFS}, record(id=TEXT)),
    "reference in items": ({**array({"$ref": "#/$defs/Item"}), **DEFS}, array(record(id=TEXT))),
    "reference in json_schema": (
        {"type": "array", "json_schema": {"items": {"$ref": "#/$defs/Id"}, **DEFS}},
        array(TEXT),
    ),
    "draft 7 definitions": (
        {"$ref": "#/definitions/N", "definitions": {"N": INTEGER}},
        NUMBER,
    ),
    "reference with escapes": (
        {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": INTEGER}},
        NUMBER,
    ),
    "reference to an anchor": ({"$ref": "#n", "$defs": {"x": {"$anchor": "n", **INTEGER}}}, NUMBER),
    "a tree into the same tree": (TREE, TREE),
    "a tree into its first levels": (
        TREE,
        record(name=TEXT, below=array(record(name=TEXT, below=array(OBJECT)))),
    ),
    "first levels into a tree": (record(name=TEXT, below=array(OBJECT)), TREE),
    "the property itself": (
        {**record(name=TEXT, below={"$ref": "#"})},
        record(below=record(below=OBJECT)),
    ),
    "prefixItems": ({**LIST, "prefixItems": [INTEGER, NUMBER], "items": False}, array(NUMBER)),
    "prefixItems and the rest": (
        {**LIST, "prefixItems": [INTEGER], "items": FLAG},
        array(NUMBER),
    ),
    "items as a list": (
        {**LIST, "items": [INTEGER, FLAG], "additionalItems": False},
        array(NUMBER),
    ),
}
REFUSED: dict[str, tuple[Schema, Schema]] = {
    "anything to integer": (ANYTHING, INTEGER),
    "anything to boolean": (ANYTHING, FLAG),
    "anything to null": (ANYTHING, NULL),
    "anything to list": (ANYTHING, array(TEXT)),
    "anything to object": (ANYTHING, OBJECT),
    "anything to integer or null": (ANYTHING, one_of(INTEGER, NULL)),
    "string to null": (TEXT, NULL),
    "string to list": (TEXT, array(TEXT)),
    "string to object": (TEXT, OBJECT),
    "null to integer": (NULL, INTEGER),
    "integer to null": (INTEGER, NULL),
    "integer or null to integer": ({"type": ["integer", "null"]}, INTEGER),
    "nullable integer to integer": ({**INTEGER, "nullable": True}, INTEGER),
    "list to integer": (array(INTEGER), INTEGER),
    "list to object": (LIST, OBJECT),
    "object to list": (OBJECT, LIST),
    "object to integer": (OBJECT, INTEGER),
    "lists of lists of strings to integers": (array(array(TEXT)), array(array(INTEGER))),
    "a member of another type": (record(id=TEXT), record(id=INTEGER)),
    "a member that a closed object lacks": (closed(name=TEXT), record(id=TEXT)),
    "an optional member that a closed object lacks": (closed(), closed(id=TEXT)),
    "open into closed": (record(id=TEXT), closed(id=TEXT)),
    "a table into a closed object": (table(TEXT), closed()),
    "a table of another type into named members": (table(TEXT), record(n=INTEGER)),
    "an open object into a table of integers": (OBJECT, table(INTEGER)),
    "named members of another type into a table": (closed(id=TEXT), table(INTEGER)),
    "string into a union without it": (TEXT, one_of(INTEGER, NULL)),
    "allOf of a string to integer": ({"allOf": [TEXT, {"minLength": 1}]}, INTEGER),
    "merged members of another type": (
        {"allOf": [closed(a=TEXT), closed(b=TEXT)]},
        record(b=INTEGER),
    ),
    "type and anyOf that exclude each other are alternatives": (
        {**TEXT, "anyOf": [INTEGER]},
        INTEGER,
    ),
    "enum of strings to integer": (enum("a", "b"), INTEGER),
    "enum of both to integer": (enum("a", 1), INTEGER),
    "enum sets without a common value": (enum("a", **TEXT), enum("b", **TEXT)),
    "const outside an enum": ({"const": "c"}, enum("a", "b")),
    "elements without a common value": (array(enum("a")), array(enum("b"))),
    "enum behind a reference without a common value": (
        {"$ref": "#/$defs/C", "$defs": {"C": enum("a", **TEXT)}},
        enum("b", **TEXT),
    ),
    "reference to a string, to integer": ({"$ref": "#/$defs/Id", **DEFS}, INTEGER),
    "reference in items to another type": (
        {**array({"$ref": "#/$defs/Id"}), **DEFS},
        array(INTEGER),
    ),
    "a tree into a member of another type": (TREE, record(name=INTEGER)),
    "a tree into another type one level down": (TREE, record(below=array(record(name=INTEGER)))),
    "prefixItems of two types": (
        {**LIST, "prefixItems": [INTEGER, TEXT], "items": False},
        array(INTEGER),
    ),
    "lists of lists of anything to lists of integers": (array(LIST), array(INTEGER)),
    "the rest after prefixItems": (
        {**LIST, "prefixItems": [INTEGER], "items": TEXT},
        array(INTEGER),
    ),
}


def pairs(*tables: dict[str, tuple[Schema, Schema]]) -> Any:
    return pytest.mark.parametrize(
        ("source", "target"),
        [pytest.param(*pair, id=name) for rows in tables for name, pair in rows.items()],
    )


def test_the_tables_are_as_long_as_upstreams():
    assert (len(UPSTREAM_ACCEPTED), len(UPSTREAM_REFUSED)) == (19, 8)


@pairs(UPSTREAM_ACCEPTED, ACCEPTED)
def test_an_output_feeds_an_input_that_can_take_its_values(source: Schema, target: Schema):
    assert goes(source, target)


@pairs(UPSTREAM_REFUSED, REFUSED)
def test_an_output_does_not_feed_an_input_that_cannot_take_its_values(
    source: Schema, target: Schema
):
    assert not goes(source, target)


@pairs(UPSTREAM_ACCEPTED, UPSTREAM_REFUSED, ACCEPTED, REFUSED)
def test_every_type_goes_with_itself_with_anything_and_with_a_union_that_holds_it(
    source: Schema, target: Schema
):
    for schema in (source, target):
        own = port(schema)[0].type
        assert castable(own, own)
        assert castable(own, ANY)
        assert castable(own, UnionType((port(NULL)[0].type, own)))


@pytest.mark.parametrize(
    ("schema", "code", "kind"),
    [
        ({"allOf": [TEXT, INTEGER]}, "OAS074", "any"),
        ({"allOf": [record(a=TEXT), record(a=INTEGER)]}, "OAS074", "any"),
        ({**TEXT, "allOf": [INTEGER]}, "OAS074", "any"),
        ({**TEXT, "$ref": "#/$defs/N", "$defs": {"N": INTEGER}}, "OAS074", "any"),
        ({"$ref": "#/$defs/Od", **DEFS}, "OAS071", "any"),
        ({"$ref": "https://elsewhere.example/s.json"}, "OAS071", "any"),
        (array({"$ref": "#/$defs/Id"}), "OAS071", "array<any>"),
        ({"$ref": "#/allOf/7", "allOf": []}, "OAS071", "any"),
        ({"type": "strng"}, "OAS037", "any"),
    ],
)
def test_a_schema_that_cannot_be_read_is_one_finding_and_goes_with_everything(schema, code, kind):
    made, flaws = port(schema)
    assert flaws == [code]
    assert shown(made.type) == kind
    for other in (INTEGER, TEXT, OBJECT, one_of(NULL, FLAG)) if kind == "any" else (LIST,):
        assert castable(made.type, port(other)[0].type)
        assert castable(port(other)[0].type, made.type)


def test_a_reference_that_leads_nowhere_is_shown_where_it_stands_with_the_nearest_name():
    wrong = {"type": "array", "json_schema": {"items": {"$ref": "#/$defs/Od"}, **DEFS}}
    flow = small(write={"outputs": [text("draft"), {"title": "ids", **wrong}]})
    (finding,) = found_in(flow)
    assert finding.code == "OAS071"
    assert finding.pointer == ("/$referenced_components/write/outputs/1/json_schema/items/$ref")
    assert finding.hint == 'did you mean "#/$defs/Id"?'
    wrong["json_schema"]["items"] = {"$ref": "#/$defs/Id"}
    assert codes(flow) == set()


def test_a_definition_that_is_wrong_is_shown_where_it_is_written():
    flaw = {"$ref": "#/$defs/Id", "$defs": {"Id": {"type": "strng"}}}
    flow = small(write={"outputs": [text("draft"), {"title": "id", **flaw}]})
    (finding,) = found_in(flow)
    assert (finding.code, finding.pointer) == (
        "OAS037",
        "/$referenced_components/write/outputs/1/$defs/Id/type",
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    ],
)
def test_references_in_a_circle_end(schema):
    made, flaws = port(schema)
    assert flaws == []
    assert shown(made.type) == "any"


def test_references_that_multiply_end():
    # 2 to the power of 60 members, if every reference were followed
    defs = {
        f"d{n}": record(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"})
        for n in range(60)
    }
    made, flaws = port({"$ref": "#/$defs/d0", "$defs": {**defs, "d60": TEXT}})
    assert flaws == []
    assert breadth(made.type) < 100_000


def test_alternatives_that_multiply_end():
    options = [one_of(record(**{f"a{n}": TEXT}), record(**{f"b{n}": TEXT})) for n in range(40)]
    made, flaws = port({"allOf": options})
    assert flaws == []
    assert breadth(made.type) < 10_000


def test_a_long_chain_of_references_costs_no_stack():
    defs = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5_000)}
    assert port({"$ref": "#/$defs/d0", "$defs": {**defs, "d5000": TEXT}})[1] == []


def test_definitions_that_are_deep_and_refer_on_cost_no_stack():
    def nested(inner: Schema, depth: int) -> Schema:
        for _ in range(depth):
            inner = array(inner)
        return inner

    defs = {f"d{n}": nested({"$ref": f"#/$defs/d{n + 1}"}, 50) for n in range(100)}
    made, flaws = port({"$ref": "#/$defs/d0", "$defs": {**defs, "d100": TEXT}})
    assert flaws == []
    assert castable(made.type, made.type)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.5, "number"),
        ("x", "string"),
        ([], "array<any>"),
        ([1, 2], "array<integer>"),
        ([1, "x"], "array<integer | string>"),
        ({}, "object"),
        ({"id": [1]}, "object{id: array<integer>}"),
    ],
)
def test_the_type_of_a_value_is_the_narrowest(value, text):
    assert shown(type_of(value)) == text


@pytest.mark.parametrize(
    ("value", "schema", "does"),
    [
        ([], array(INTEGER), True),
        ({}, record(id=INTEGER), True),
        ({"id": 1, "more": "x"}, record(id=INTEGER), True),
        (2.5, INTEGER, True),
        (5, TEXT, True),
        (None, OBJECT, True),
        ([1, "x"], array(one_of(INTEGER, TEXT)), True),
        ("5", INTEGER, False),
        ("", LIST, False),
        (["x"], array(INTEGER), False),
        ({"id": "x"}, record(id=INTEGER), False),
        ([], OBJECT, False),
        ("x", one_of(INTEGER, NULL), False),
    ],
)
def test_a_default_fits_as_loosely_as_agent_spec_takes_it(value, schema, does):
    assert fits(value, port(schema)[0].type) == does


def test_a_type_in_a_message_is_cut():
    wide = ObjectType(properties=tuple((f"member{n}", STRING) for n in range(99)))
    assert len(brief(wide)) == 201
    assert brief(ArrayType(STRING)) == "array<string>"


def test_a_json_value_is_decoded_afresh_for_each_reader():
    kept = Json.of({"a": [1]})
    first = kept.mapping()
    first["a"] = "changed"
    assert kept.mapping() == {"a": [1]}


STRICTLY_REFUSED = {
    "an object into named members": (OBJECT, record(id=INTEGER)),
    "a table into named members": (table(INTEGER), record(n=TEXT)),
    "elements that nothing is said of": (LIST, array(INTEGER)),
    "list of objects into named members": (array(OBJECT), array(record(id=TEXT))),
    "a member that is an object": (record(a=OBJECT), record(a=record(id=TEXT))),
}


@pytest.mark.parametrize("name", STRICTLY_REFUSED)
def test_what_only_cinatra_files_may_lead_into_each_other(name: str) -> None:
    source, target = (port(schema)[0].type for schema in STRICTLY_REFUSED[name])
    assert castable(source, target)
    assert not castable(source, target, strict=True)


@pytest.mark.parametrize("name", UPSTREAM_ACCEPTED)
def test_what_agent_spec_accepts_is_accepted_strictly(name: str) -> None:
    source, target = (port(schema)[0].type for schema in UPSTREAM_ACCEPTED[name])
    assert castable(source, target, strict=True)


def plain_port(schema: Schema) -> tuple[str, list[str]]:
    findings = Findings()
    source = Source(value=None, raw=b"", file="", marks=Marks())
    made = PortReader(source, findings, is_plain=True).ports([schema], "/outputs")
    return "".join(one.title for one in made), [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("kind", "default", "codes_found"),
    [
        ("integer", 2.5, []),
        ("integer", True, []),
        ("string", 5, []),
        ("string", None, []),
        ("integer", "5", ["OAS078"]),
        ("boolean", "yes", ["OAS078"]),
        ("object", None, ["OAS078"]),
        ("integer", None, ["OAS078"]),
        (["integer", "null"], None, []),
        ("array", {}, ["OAS078"]),
    ],
)
def test_a_default_of_a_plain_document_has_to_become_the_type(
    kind: Any, default: Any, codes_found: list[str]
) -> None:
    assert plain_port({"title": "p", "type": kind, "default": default}) == ("p", codes_found)


def test_a_property_of_a_plain_document_without_a_title_is_called_property() -> None:
    assert plain_port({"type": "string"}) == ("property", [])
    assert plain_port({"titel": "a", "type": "string"}) == ("", ["OAS029"])
    assert plain_port({"title": "", "type": "string"}) == ("", ["OAS029"])
