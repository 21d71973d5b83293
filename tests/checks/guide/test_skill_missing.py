from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import SKILL, agent, flow, only, told
from tests.checks.rule_case import found, package_of

CODE = "OAS179"


def test_a_package_without_a_skill_is_told_at_its_package_json(tmp_path):
    assert told(agent(tmp_path), CODE) == []
    (tmp_path / "SKILL.md").unlink()
    finding = only(tmp_path, CODE)
    assert finding.severity == "warning"
    assert finding.file == str(tmp_path / "package.json")
    assert "skills/agent/SKILL.md" in finding.hint


@pytest.mark.parametrize("folder", ["agent", "agent-agent"])
def test_the_skill_may_lie_in_the_folder_named_after_the_package(tmp_path, folder):
    files = {f"skills/{folder}/SKILL.md": SKILL}
    assert told(agent(tmp_path, skill=None, files=files), CODE) == []


def test_the_ending_agent_of_the_package_may_be_left_out(tmp_path):
    made = flow(about={"packageName": "@test/mail-agent"})
    files = {"skills/mail/SKILL.md": "x"}
    package = agent(tmp_path, made, manifest={"name": "@test/mail-agent"}, skill=None, files=files)
    assert told(package, CODE) == []


def test_a_skill_whose_name_is_the_agents_is_its_own_wherever_it_lies(tmp_path):
    files = {"skills/main/SKILL.md": SKILL}
    assert told(agent(tmp_path, skill=None, files=files), CODE) == []
    other = {"skills/main/SKILL.md": SKILL.replace("agent-agent", "formatting")}
    assert told(agent(tmp_path / "b", skill=None, files=other), CODE) != []


def test_a_folder_that_is_misspelt_is_named(tmp_path):
    files = {"skills/agnet/SKILL.md": "x"}
    finding = only(agent(tmp_path, skill=None, files=files), CODE)
    assert 'rename the folder "agnet" to "agent"' in finding.hint


def test_a_file_in_lower_case_is_named(tmp_path):
    finding = only(agent(tmp_path, skill=None, files={"skill.md": SKILL}), CODE)
    assert finding.hint == "rename skill.md to SKILL.md"


def test_a_skill_that_is_no_text_is_none(tmp_path):
    agent(tmp_path)
    (tmp_path / "SKILL.md").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in only(tmp_path, CODE).hint


def test_without_a_package_there_is_nothing_to_miss(tmp_path):
    assert found(flow(), CODE) == []
    assert found(package_of(tmp_path, flow()), CODE) == []
