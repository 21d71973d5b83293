"""Hints about a YAML file are written as YAML, and those about a JSON file as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from oas_compiler import CompileError, check, compile_ir
from oas_compiler.report.diagnostics import write_as_yaml
from tests.flows import api, end, flow_of, gate, port, start


@pytest.mark.parametrize(
    ("hint", "written"),
    [
        ('write {"type": "string"}', "write {type: string}"),
        (
            'add "outputs": [{"title": "userResponse", "type": "string"}]',
            "add outputs: [{title: userResponse, type: string}]",
        ),
        ('move it: "metadata": {"cinatra": {"riskClass": …}}', "move it: metadata: {cinatra: {riskClass: …}}"),
        ('write [{"slotId": "…", …}]', 'write [{slotId: "…", …}]'),
        ('write {"$component_ref": "end"}', "write {$component_ref: end}"),
        ('"agentDependencies": {"@x/a": "^0.1.1"}', 'agentDependencies: {"@x/a": "^0.1.1"}'),
        ('write {"title": "no", "type": "null"}', 'write {title: "no", type: "null"}'),
        ('write {"on": "x"}', 'write {"on": x}'),
        ('did you mean "start"?', 'did you mean "start"?'),
        ('there are "a", "b"', 'there are "a", "b"'),
        ('begin it with "{{CINATRA_BASE_URL}}/" or with "/"', 'begin it with "{{CINATRA_BASE_URL}}/" or with "/"'),
    ],
)  # fmt: skip
def test_quotes_go_where_yaml_needs_none(hint: str, written: str) -> None:
    assert write_as_yaml(hint) == written


@pytest.mark.parametrize(
    "value", [{"type": "string"}, {"a": ["b", "no", "1", 1, None]}, [{"title": "x y", "on": True}]]
)
def test_what_is_written_reads_as_the_same(value: Any) -> None:
    hint = write_as_yaml("write " + json.dumps(value))
    assert yaml.safe_load(hint.removeprefix("write ")) == value


def flaws() -> dict[str, Any]:
    """A flow with findings whose hints show members."""
    asked = gate("review")
    asked["outputs"] = []
    sender = api("send", outputs=[port("done")])
    sender["riskClass"] = "email_send"
    flow = flow_of(start(port("topic")), asked, sender, end(port("done")))
    flow["$referenced_components"]["start"]["inputs"] = ["topic"]
    flow["inputs"] = [{"title": "topic", "type": "strnig"}]
    return flow


def as_yaml(value: Any) -> str:
    """Without anchors, which the dialect has none of."""
    return yaml.safe_dump(json.loads(json.dumps(value)))


def written(folder: Path, name: str) -> str:
    file = folder / name
    text = json.dumps(flaws()) if name.endswith(".json") else as_yaml(flaws())
    file.write_text(text, "utf-8")
    return str(file)


def hints_with_members(file: str) -> list[str]:
    return [one.hint for one in check(file) if re.search(r'"?\w+"?: [\[{"…\w]', one.hint)]


def test_a_yaml_file_is_told_in_yaml_and_a_json_file_in_json(tmp_path: Path) -> None:
    of_json, of_yaml = (
        hints_with_members(written(tmp_path, f"f{end}")) for end in (".json", ".yaml")
    )
    assert len(of_json) >= 2
    assert all('":' in hint for hint in of_json)
    assert not any('":' in hint for hint in of_yaml)
    assert sorted(map(write_as_yaml, of_json)) == sorted(of_yaml)


def test_json_text_in_a_file_of_another_name_is_told_in_json(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(json.dumps(flaws()), "utf-8")
    assert any('":' in hint for hint in hints_with_members(str(file)))


def test_an_error_in_python_is_told_in_yaml(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        compile_ir(written(tmp_path, "f.yml"))
    assert '"title":' not in str(caught.value)
    assert "title: topic" in str(caught.value)


def test_package_json_is_told_in_json(tmp_path: Path) -> None:
    manifest = {"name": "@x/a", "version": "1.0.0", "cinatra": "agent"}
    (tmp_path / "package.json").write_text(json.dumps(manifest), "utf-8")
    (tmp_path / "oas.yaml").write_text(as_yaml(flaws()), "utf-8")
    hints = [one.hint for one in check(tmp_path / "oas.yaml") if one.file.endswith("package.json")]
    assert any('"kind":' in hint for hint in hints)
