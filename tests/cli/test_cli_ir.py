"""`oasflow ir`: the compiled form as text and as JSON, without a credential or an escape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.flows import api, end, flow_of, gate, port, start

FLOW = flow_of(
    start(port("topic"), required=["topic"]),
    api("write", outputs=[port("draft")], data={"user": "{{ topic }}"}),
    gate("review"),
    end(port("draft")),
    edges=[("start", "topic", "write", "topic"), ("write", "draft", "end", "draft")],
)


def test_the_text_has_ports_that_follow_from_templates_and_every_way_on(
    offline: Any, flow_file: Any
) -> None:
    result = offline("ir", flow_file(FLOW))
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == 'flow test-flow "The test-flow" package=@test/agent'
    at = lines.index('  write ApiNode "The write"')
    assert lines[at + 1 : at + 8] == [
        "    in  topic: any",
        "    out draft: string",
        '    risk_class: "read_only"',
        '    url: "{{CINATRA_BASE_URL}}/api/write"',
        '    method: "POST"',
        '    data: {"user":"{{ topic }}"}',
        "    next -> review",
    ]


def test_json_has_every_part_with_its_place(offline: Any, flow_file: Any) -> None:
    result = offline("ir", flow_file(FLOW), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert [node["kind"] for node in told["nodes"]] == [
        "StartNode", "ApiNode", "InputMessageNode", "EndNode",
    ]  # fmt: skip
    write = told["nodes"][1]
    assert write["inputs"][0]["type"] == "any"
    assert write["place"]["line"] > 0
    assert told["routes"][0]["target"] == "write"
    assert {"source": "write", "output": "draft", "target": "end", "input": "draft"}.items() <= (
        told["data_edges"][1].items()
    )


def test_a_flow_with_errors_is_told_by_its_findings(offline: Any, flow_file: Any) -> None:
    broken = json.loads(json.dumps(FLOW))
    broken["control_flow_connections"][0]["to_node"] = {"$component_ref": "nowhere"}
    result = offline("ir", flow_file(broken), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["findings"]
    assert offline("ir", "nowhere").exit_code == 2


def test_a_flow_over_a_kind_that_does_not_run_yet_is_shown(offline: Any) -> None:
    sample = Path(__file__).parents[1] / "golden" / "kind_unknown.json"
    result = offline("ir", str(sample))
    assert result.exit_code == 0, result.output
    assert "UnknownNode" in result.stdout
    assert offline("draw", str(sample)).exit_code == 1


def test_a_credential_and_an_escape_are_not_printed(offline: Any, flow_file: Any) -> None:
    secret = "d41d8cd98f00b204e9800998ecf8427e"
    hostile = json.loads(json.dumps(FLOW))
    write = hostile["$referenced_components"]["write"]
    write["headers"] = {"X-Api-Key": secret}
    write["name"] = "Write\x1b[2J\nflow other"
    for options in ([], ["--json"]):
        result = offline("ir", flow_file(hostile), *options)
        assert result.exit_code == 0, result.output
        assert secret not in result.output
        assert "\x1b" not in result.output
    assert sum(line.startswith("flow ") for line in offline("ir", flow_file(hostile)).stdout.splitlines()) == 1  # fmt: skip


def test_a_credential_of_a_model_is_not_printed(offline: Any, flow_file: Any) -> None:
    sample = Path(__file__).parents[1] / "golden" / "kind_agent.json"
    hostile = json.loads(sample.read_text())
    model = hostile["$referenced_components"]["work"]["agent"]["llm_config"]
    model["api_key"] = "d41d8cd98f00b204e9800998ecf8427e"
    for options in ([], ["--json"]):
        result = offline("ir", flow_file(hostile), *options)
        assert result.exit_code == 0, result.output
        assert "llm_config" in result.output
        assert model["api_key"] not in result.output
