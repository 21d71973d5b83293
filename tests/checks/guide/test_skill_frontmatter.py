from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import SKILL, agent, only, told

CODE = "OAS180"
REST = "\n\n## What I retrieve myself (MCP)\n\nNothing.\n"


def test_name_and_description_are_there(tmp_path):
    assert told(agent(tmp_path, skill=SKILL), CODE) == []


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("---\ndescription: a\n---", "the frontmatter of SKILL.md has no name"),
        ("---\nname: a\n---", "the frontmatter of SKILL.md has no description"),
        (
            "---\nname:\ndescription: ''\n---",
            "the frontmatter of SKILL.md has no name and description",
        ),
        ("---\nname: # later\ndescription: b\n---", "the frontmatter of SKILL.md has no name"),
        ("---\nname: a\ndescription: |\n---", "the frontmatter of SKILL.md has no description"),
        ("# Agent", "SKILL.md begins without a frontmatter: there is none"),
        (
            "---\nname: a\ndescription: b",
            "SKILL.md begins without a frontmatter: there is no closing ---",
        ),
    ],
)
def test_what_is_missing_is_said(tmp_path, front, message):
    finding = only(agent(tmp_path, skill=front + REST), CODE)
    assert (finding.severity, finding.message) == ("warning", message)
    assert (finding.line, finding.column) == (1, 1)


@pytest.mark.parametrize(
    "front",
    [
        "---\nname: a\ndescription: b\n---",
        "---\r\nname: a\r\ndescription: b\r\n---\r",
        "---\ndescription: \"b\"\nname: 'a'\n---",
        "---\nname: a\ndescription: >\n  two\n  lines\n---",
        "---\nname: a\ndescription:\n  below\nextra: {x: 1}\n---",
    ],
)
def test_every_way_of_writing_them_is_read(tmp_path, front):
    assert told(agent(tmp_path, skill=front + REST), CODE) == []


def test_a_byte_order_mark_in_front_is_no_text(tmp_path):
    assert told(agent(tmp_path, skill="\ufeff" + SKILL), CODE) == []


def test_every_skill_of_the_package_has_a_frontmatter(tmp_path):
    files = {"skills/extra/SKILL.md": "No frontmatter."}
    assert told(agent(tmp_path, files=files), CODE) == [("skills/extra/SKILL.md", 1, 1)]
