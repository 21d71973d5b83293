from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import SKILL, agent, only, told

CODE = "OAS181"
TITLE = "## What I retrieve myself (MCP)"


def test_a_skill_without_the_section_is_an_error(tmp_path):
    assert told(agent(tmp_path), CODE) == []
    finding = only(agent(tmp_path, skill=SKILL.partition("##")[0]), CODE)
    assert (finding.severity, finding.file) == ("error", str(tmp_path / "SKILL.md"))
    assert (finding.line, finding.column) == (1, 1)


@pytest.mark.parametrize(
    "written",
    [
        "## What I retreive myself (MCP)",
        "## what i retrieve myself (mcp)",
        "## What I retrieve myself",
        "# What I retrieve myself (MCP)",
        "### What I retrieve myself (MCP)",
    ],
)
def test_a_heading_that_is_spelt_otherwise_is_shown_with_the_right_one(tmp_path, written):
    finding = only(agent(tmp_path, skill=SKILL.replace(TITLE, written)), CODE)
    # the frontmatter has four lines, the sentence is on the sixth
    assert finding.line == 8
    assert finding.hint == f'did you mean "{TITLE}" instead of "{written}"?'


@pytest.mark.parametrize("written", [f"{TITLE}  ", f"  {TITLE} ##", f"{TITLE}\r"])
def test_markdown_is_read_as_it_is_written(tmp_path, written):
    assert told(agent(tmp_path, skill=SKILL.replace(TITLE, written)), CODE) == []


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_heading_inside_of_a_code_block_is_none(tmp_path, fence):
    fenced = SKILL.replace(TITLE, f"{fence}markdown\n{TITLE}\n{fence}")
    assert told(agent(tmp_path, skill=fenced), CODE) == [("SKILL.md", 1, 1)]


def test_other_skills_of_the_package_are_not_the_agents_own(tmp_path):
    other = "---\nname: formatting\ndescription: b\n---\nText."
    assert told(agent(tmp_path, files={"skills/formatting/SKILL.md": other}), CODE) == []
    own = {"skills/agent/SKILL.md": other, "skills/formatting/SKILL.md": other}
    package = agent(tmp_path / "b", skill=None, files=own)
    assert told(package, CODE) == [("skills/agent/SKILL.md", 1, 1)]
