"""The JSON Schema of flow files: it accepts what is accepted here, and names what exists."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from oas_compiler.document.component_types import all_fields, known_types, words_of
from oas_compiler.findings.finding import Findings
from oas_compiler.pipeline import check
from oas_compiler.schema.dialect import CINATRA as CINATRA_WORDS
from oas_compiler.schema.dialect import dialect_schema
from oas_compiler.text.source import read_source
from tests.samples import AGENTSPEC, CINATRA, needs_corpus, small

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/cinatra/oas.json"))
SCHEMA: Any = dialect_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
Change = tuple[list[str | int], Any]


def problems(document: Any) -> list[str]:
    return [error.json_path for error in VALIDATOR.iter_errors(document)]


def is_valid(document: Any) -> bool:
    return bool(VALIDATOR.is_valid(document))


def changed(path: list[str | int], value: Any) -> dict[str, Any]:
    """`small()` with the value at `path` replaced, or removed when it is `...`."""
    document = small()
    at: Any = document
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


def in_component(name: str, *path: str | int) -> list[str | int]:
    return ["$referenced_components", name, *path]


def test_the_schema_is_a_schema() -> None:
    schema = dialect_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "urn:oasflow:schema:oas"
    assert json.loads(json.dumps(schema)) == schema


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    text = json.dumps(dialect_schema())
    named = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
    definitions = dialect_schema()["$defs"]
    assert isinstance(definitions, dict)
    assert named <= definitions.keys()
    assert set(all_fields()) <= named


def test_no_two_readers_share_a_part_of_it() -> None:
    first = dialect_schema()
    first["$defs"]["Flow"]["properties"].clear()
    assert dialect_schema()["$defs"]["Flow"]["properties"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parts[-3])
def test_the_examples_are_accepted(file: Path) -> None:
    assert problems(json.loads(file.read_text("utf-8"))) == []


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_every_cinatra_flow_is_accepted(file: Path) -> None:
    assert problems(json.loads(file.read_text("utf-8"))) == []


@needs_corpus
@pytest.mark.parametrize("file", AGENTSPEC, ids=lambda file: file.stem)
def test_every_valid_agent_spec_file_is_accepted(file: Path) -> None:
    source = read_source(file, Findings())
    assert source is not None
    assert problems(source.value) == []


@pytest.mark.parametrize("name", sorted(all_fields()))
def test_every_type_and_field_is_in_it_with_words(name: str) -> None:
    definition = SCHEMA["$defs"][name]
    assert definition["title"] == name
    assert definition["description"] == words_of(name)
    assert definition["description"]
    assert set(definition["properties"]) == set(all_fields()[name])
    assert set(definition["required"]) == {
        f for f, kind in all_fields()[name].items() if kind.required
    }
    for field, described in definition["properties"].items():
        assert described["description"] == all_fields()[name][field].words
        assert described["description"]


def test_every_word_is_used() -> None:
    text = json.dumps(dialect_schema(), ensure_ascii=False)
    words = [*map(words_of, all_fields()), *CINATRA_WORDS.values()]
    words += [field.words for own in all_fields().values() for field in own.values()]
    assert [word for word in words if json.dumps(word, ensure_ascii=False)[1:-1] not in text] == []


@pytest.mark.parametrize("kind", ["StartNod", "flow", "AgentNodes", "Start Node", ""])
@pytest.mark.parametrize("place", ["start", "write"])
def test_a_misspelt_type_is_refused(kind: str, place: str) -> None:
    assert not is_valid(changed(in_component(place, "component_type"), kind))
    assert is_valid(small())


@pytest.mark.parametrize("kind", ["PluginMyNode", "ExtendedParallelFlowNode"])
def test_types_of_plugins_are_accepted(kind: str) -> None:
    assert is_valid(changed(in_component("write", "component_type"), kind))


def test_a_type_is_foreign_where_its_plugin_is_named() -> None:
    document = changed(in_component("write", "component_type"), "MyNode")
    assert not is_valid(document)
    document["$referenced_components"]["write"]["component_plugin_name"] = "Mine"
    assert is_valid(document)


@pytest.mark.parametrize(
    ("path", "wrong", "right"),
    [
        (["id"], 7, "x"), (["id"], "", "x"), (["id"], ..., "x"), (["id"], None, "x"),
        (["name"], [], "x"), (["name"], {}, None),
        (["nodes"], {}, []), (["nodes"], ..., []), (["nodes"], [7], []), (["nodes"], None, []),
        (["start_node"], "start", {"$component_ref": "start"}),
        (["start_node"], {"$component_ref": 7}, {"$component_ref": "start"}),
        (["start_node"], {}, {"$component_ref": "start"}),
        (["data_flow_connections"], {}, None),
        (["control_flow_connections"], ..., []),
        (["metadata"], "x", None),
        (["agentspec_version"], 26, "26.1.0"), (["agentspec_version"], "20.99.99", "25.4.1"),
        (["agentspec_version"], "27.0.0", "26.1"), (["agentspec_version"], "x", None),
        (["inputs"], [{"type": "string"}], [{"title": "topic"}]),
        (["inputs"], [{"title": ""}], [{"title": "x", "type": ["string", "null"]}]),
        (["inputs"], [{"title": "x", "type": "strng"}], [{"title": "x", "type": "number"}]),
        (["inputs"], ["topic"], [{"title": "x", "default": None}]),
        (["inputs"], [{"title": "x", "type": "array", "items": {"type": "text"}}],
         [{"title": "x", "type": "array", "items": {"type": "string"}}]),
        (["inputs"], [{"json_schema": {"type": "string"}}], [{"json_schema": {"title": "x"}}]),
        (["inputs"], [{"title": "x", "json_schema": {"type": "obj"}}],
         [{"title": "x", "json_schema": {"items": {"type": "string"}}}]),
        (["outputs"], [{"title": "x", "cinatra": {"category": "poem"}}],
         [{"title": "x", "cinatra": {"category": "report"}}]),
        (in_component("write", "url"), 7, "x"), (in_component("write", "url"), ..., "x"),
        (in_component("write", "http_method"), ["POST"], "PATCH"),
        (in_component("write", "headers"), "x", {"a": "b"}),
        (in_component("write", "metadata" ), {"cinatra": []}, {"cinatra": {"own": 1}}),
        (in_component("start", "metadata", "cinatra", "required"), "topic", ["topic"]),
        (in_component("start", "metadata", "cinatra", "hidden"), [7], None),
        (["metadata", "cinatra", "type"], "agent", "leaf"),
        (["metadata", "cinatra", "hitlScreens"], "x", ["x"]),
        (["metadata", "cinatra", "llm"], {"preferedModel": "x"}, {"preferredModel": "x"}),
        (["metadata", "cinatra", "llm"], {"preferredProvider": "acme"},
         {"preferredProvider": "gemini"}),
        (["metadata", "cinatra", "contextSlots"], [{"slotId": "x"}],
         [{"slotId": "x", "acceptedArtifactExtensions": ["@x/y"], "selectionMode": "autonomous",
           "resolutionMode": "override"}]),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused_and_its_twin_is_not(
    path: list[str | int], wrong: Any, right: Any
) -> None:
    assert not is_valid(changed(path, wrong))
    assert is_valid(changed(path, right))


GATE: dict[str, Any] = {
    "component_type": "InputMessageNode", "id": "g", "name": "G",
    "outputs": [{"title": "answer", "type": "string"}],
    "metadata": {"cinatra": {"maxGateVisits": 25, "renderer": "@x/y:z"}},
}  # fmt: skip
FLOW_NODE: dict[str, Any] = {
    "component_type": "FlowNode", "id": "f", "subflow": {"$component_ref": "x"},
    "metadata": {"cinatra": {"gateSteps": [{"name": "A", "gateCount": 2}]}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("component", "key", "wrong", "right"),
    [
        (GATE, "maxGateVisits", 0, 1), (GATE, "maxGateVisits", 101, 100),
        (GATE, "maxGateVisits", "25", None), (GATE, "renderer", 7, "x"),
        (GATE, "inputMessageSchema", "string", {"type": "string"}),
        (GATE, "inputMessageSchema", {"type": "strin"}, {"x-envelope": "json-string"}),
        (FLOW_NODE, "gateSteps", {}, []), (FLOW_NODE, "gateSteps", [7], [{}]),
        (FLOW_NODE, "gateSteps", [{"gateCount": 0}], [{"gateCount": 1}]),
        (FLOW_NODE, "packageName", 7, "@x/y"),
    ],
)  # fmt: skip
def test_metadata_of_gates_and_flow_nodes_is_checked(
    component: dict[str, Any], key: str, wrong: Any, right: Any
) -> None:
    for value, valid in ((wrong, False), (right, True)):
        made = copy.deepcopy(component)
        made["metadata"]["cinatra"][key] = value
        assert is_valid(made) is valid


@pytest.mark.parametrize("field", ["subflow", "tool", "from_node"])
def test_a_part_of_another_kind_cannot_stand_in_a_field(field: str) -> None:
    holder = {"subflow": "FlowNode", "tool": "ToolNode", "from_node": "ControlFlowEdge"}[field]
    fitting = {
        "subflow": small(),
        "tool": {"component_type": "ServerTool", "name": "t"},
        "from_node": small()["$referenced_components"]["start"],
    }[field]
    made = {"component_type": holder, "id": "x", "to_node": {"$component_ref": "y"}}
    assert is_valid({**made, field: fitting})
    assert is_valid({**made, field: {"$component_ref": "anything"}})
    edge = {
        "component_type": "DataFlowEdge", "source_output": "a", "destination_input": "b",
        "source_node": {"$component_ref": "a"}, "destination_node": {"$component_ref": "b"},
    }  # fmt: skip
    assert is_valid(edge)
    assert not is_valid({**made, field: edge})


def test_a_field_that_a_type_does_not_know_is_allowed_as_it_is_by_check() -> None:
    document = changed(in_component("write", "http_metod"), "POST")
    unknown = [finding for finding in check(document) if finding.code == "OAS024"]
    assert [finding.severity for finding in unknown] == ["warning"]
    assert is_valid(document)


@pytest.mark.parametrize("kind", sorted(known_types() - all_fields().keys()))
def test_types_that_do_not_run_here_are_accepted_with_any_fields(kind: str) -> None:
    assert is_valid({"component_type": kind, "id": "x", "name": "X", "anything": [1]})


@pytest.mark.parametrize(
    "document", [None, 7, "x", [], {}, {"nodes": []}, [{"$component_ref": "x"}]]
)
def test_what_is_no_component_is_refused(document: Any) -> None:
    assert not is_valid(document)
