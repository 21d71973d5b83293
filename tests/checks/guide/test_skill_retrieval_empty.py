from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import SKILL, agent, only, told

CODE = "OAS182"


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "<!-- list the tools -->", "- \n-\n", "### Tools", "{list of MCP tools}", "---"],
)
def test_a_section_that_says_nothing_is_told_at_its_heading(tmp_path, text):
    finding = only(agent(tmp_path, skill=SKILL.replace("Nothing.\n", text)), CODE)
    assert (finding.severity, finding.line, finding.column) == ("warning", 8, 1)


@pytest.mark.parametrize("text", ["Nothing.", "- contacts_list", "### Tools\n\ncontacts_list"])
def test_a_section_that_says_something_is_fine(tmp_path, text):
    assert told(agent(tmp_path, skill=SKILL.replace("Nothing.", text)), CODE) == []


def test_the_text_of_the_next_section_does_not_count(tmp_path):
    moved = SKILL.replace("Nothing.", "## Answer\n\nNothing.")
    assert told(agent(tmp_path, skill=moved), CODE) == [("SKILL.md", 8, 1)]
