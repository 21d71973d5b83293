"""`oasflow schema`: one JSON document on stdout, and a sentence when there can be none."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from oas_compiler.kinds import registry
from oas_compiler.schema.dialect import dialect_schema
from tests.flows import end, flow_of, port, start

FLOW = flow_of(
    start(
        port("topic", description="What it is about."), port("key"), port("tone", default="kind"),
        required=["topic", "key"], hidden=["key"], inputRenderers={"topic": "@x/y:z"},
    ),
    end(port("topic"), port("count", "integer", default=0)),
    edges=[("start", "topic", "end", "topic")],
)  # fmt: skip


def test_a_refused_kind_of_a_package_is_a_note_beside_the_dialect(
    offline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = metadata.EntryPoint("Agent", "nowhere:AGENT", "oasflow.kind")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
    registry.load_plugins.cache_clear()
    try:
        result = offline("schema", "oas")
    finally:
        registry.load_plugins.cache_clear()
    assert result.exit_code == 0
    assert "Agent is a component of Agent Spec that is no node" in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["$defs"]


def test_the_dialect_is_printed_with_and_without_json(offline: Any) -> None:
    for arguments in ((), ("--json",)):
        result = offline("schema", "oas", *arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        assert json.loads(result.stdout) == dialect_schema()


def test_the_schema_of_the_inputs_is_a_schema_of_its_own(offline: Any, flow_file: Any) -> None:
    result = offline("schema", "input", flow_file(FLOW))
    schema = json.loads(result.stdout)
    Draft202012Validator.check_schema(schema)
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Inputs of The test-flow",
        "type": "object",
        "properties": {
            "topic": {"type": "string", "title": "topic", "description": "What it is about.",
                      "x-renderer": "@x/y:z"},
            "key": {"type": "string", "title": "key", "x-hidden": True},
            "tone": {"type": "string", "title": "tone", "default": "kind"},
        },
        "required": ["topic", "key"],
    }  # fmt: skip


def test_the_schema_of_the_outputs_is_what_a_completed_run_gives(
    offline: Any, flow_file: Any
) -> None:
    schema = json.loads(offline("schema", "output", flow_file(FLOW)).stdout)
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == "Outputs of The test-flow"
    assert schema["properties"] == {
        "topic": {"type": "string", "title": "topic"},
        "count": {"type": "integer", "title": "count", "default": 0},
    }
    assert schema["required"] == ["topic", "count"]


@pytest.mark.parametrize("command", ["input", "output"])
def test_a_description_that_is_no_json_schema_is_named(
    offline: Any, flow_file: Any, command: str
) -> None:
    flawed = port("topic", default="", pattern=7)
    flow = flow_of(start(flawed), end(flawed))
    result = offline("schema", command, flow_file(flow), "--json")
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["exit"]) == (1, 1)
    assert "topic" in json.dumps(error)
    right = port("topic", default="", pattern="7")
    assert offline("schema", command, flow_file(flow_of(start(right), end(right)))).exit_code == 0


@pytest.mark.parametrize("command", ["input", "output"])
def test_a_flow_that_cannot_be_read_is_told(offline: Any, flow_file: Any, command: str) -> None:
    assert offline("schema", command, "nowhere").exit_code == 2
    assert offline("schema", command, flow_file("{")).exit_code == 2
    result = offline("schema", command, flow_file("[]"), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "compile_error"
    assert "Traceback" not in result.output


def test_without_a_part_the_parts_are_listed(offline: Any) -> None:
    result = offline("schema")
    assert result.exit_code == 2
    assert all(word in result.output for word in ("oas", "input", "output"))
