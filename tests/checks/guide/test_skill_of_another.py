from __future__ import annotations

import pytest

from oas_compiler import check
from tests.checks.guide.guide_case import SKILL, agent, flow
from tests.flows import end, gate, port, start

CODE = "OAS246"


def told(folder, skill):
    made = flow(start(port("review_drafts")), gate("review_draft"), end())
    return [finding for finding in check(agent(folder, made, skill=skill)) if finding.code == CODE]


@pytest.mark.parametrize("name", ["agent-report-agent", "mail-agent"])
def test_the_name_of_another_agent_is_found(tmp_path, name):
    (finding,) = told(tmp_path, SKILL.replace("name: agent-agent", f"name: {name}"))
    assert (finding.line, finding.hint) == (2, 'write "name: agent-agent"')


@pytest.mark.parametrize("name", ["agent-agent", "agent", "report writer", "mail"])
def test_its_own_name_and_any_other_word_is_fine(tmp_path, name):
    assert told(tmp_path, SKILL.replace("name: agent-agent", f"name: {name}")) == []


def test_a_node_that_is_almost_one_of_the_flow_is_found(tmp_path):
    skill = SKILL.replace("Reads the topic.", "Gate `review_darft` asks; `review_darft` again.")
    (finding,) = told(tmp_path, skill)
    assert (finding.line, finding.column) == (6, 7)
    assert finding.hint == 'did you mean "review_draft"?'


@pytest.mark.parametrize("word", ["review_draft", "review_drafts", "objects_save", "review", "x_y"])
def test_other_words_are_fine(tmp_path, word):
    assert told(tmp_path, SKILL.replace("Reads the topic.", f"Uses `{word}`.")) == []


def test_code_blocks_are_not_read(tmp_path):
    skill = SKILL.replace("Reads the topic.", "```\n`review_darft`\n```")
    assert told(tmp_path, skill) == []
