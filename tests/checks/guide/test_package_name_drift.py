from __future__ import annotations

from tests.checks.guide.guide_case import agent, flow, only, told

CODE = "OAS171"


def test_one_name_in_both_files_is_fine(tmp_path):
    assert told(agent(tmp_path, flow(about={"packageName": "@test/agent"})), CODE) == []


def test_two_names_are_an_error_at_the_one_in_the_flow(tmp_path):
    found = only(agent(tmp_path, flow(about={"packageName": "@test/agnet"})), CODE)
    assert (found.severity, found.pointer) == ("error", "/metadata/cinatra/packageName")
    assert "@test/agent" in found.hint


def test_a_name_that_stands_in_one_file_only_is_fine(tmp_path):
    assert told(agent(tmp_path, flow(about={"packageName": None})), CODE) == []
    assert told(agent(tmp_path, manifest={"name": None}), CODE) == []
