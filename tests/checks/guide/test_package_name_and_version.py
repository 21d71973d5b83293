from __future__ import annotations

import json

import pytest

from tests.checks.guide.guide_case import agent, flow, only, told
from tests.checks.rule_case import findings
from tests.flows import plain

CODE = "OAS170"


def test_a_package_with_a_name_and_a_version_is_fine(tmp_path):
    assert told(agent(tmp_path), CODE) == []


def test_a_package_json_without_a_version_is_told_where_it_begins(tmp_path):
    found = only(agent(tmp_path, manifest={"version": None}), CODE)
    assert (found.severity, found.pointer, found.line, found.column) == ("warning", "", 1, 1)
    assert found.file.endswith("package.json")
    assert "no version" in found.message


@pytest.mark.parametrize("written", ["", "  "])
def test_a_version_without_a_character_counts_as_none_and_is_shown_where_it_stands(
    tmp_path, written
):
    found = only(agent(tmp_path, manifest={"version": written}), CODE)
    assert found.pointer == "/version"


def test_name_and_version_may_also_stand_in_the_flow(tmp_path):
    made = flow(about={"packageName": "@test/agent", "packageVersion": "1.0.0"})
    assert told(agent(tmp_path, made, manifest={"name": None, "version": None}), CODE) == []


def test_without_a_name_anywhere_no_orchestrator_finds_it(tmp_path):
    made = flow(about={"packageName": None})
    found = only(agent(tmp_path, made, manifest={"name": None}), CODE)
    assert "no name" in found.message


def test_a_folder_of_another_kind_is_left_alone(tmp_path):
    for name, made in (("oas.json", plain(flow())), ("package.json", {"private": True})):
        (tmp_path / name).write_text(json.dumps(made), encoding="utf-8")
    assert findings(tmp_path, CODE) == []
