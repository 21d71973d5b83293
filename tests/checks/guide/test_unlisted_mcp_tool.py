from __future__ import annotations

from tests.checks.guide.guide_case import SKILL, agent, flow, only, told
from tests.flows import api, end, start

CODE = "OAS183"
URL = "{{CINATRA_BASE_URL}}/api/agents/passthrough"


def calling(tool="objects_save", url=URL):
    return flow(start(), api("save", url=url, data={"tool": tool, "input": {}}), end())


def listing(text):
    return SKILL.replace("Nothing.", text)


def test_a_tool_that_the_flow_calls_is_listed(tmp_path):
    finding = only(agent(tmp_path, calling()), CODE)
    assert finding.pointer == "/$referenced_components/save/data/tool"
    assert finding.severity == "warning"
    assert (
        told(agent(tmp_path, calling(), skill=listing("- `objects_save`: keeps it.")), CODE) == []
    )


def test_a_tool_that_is_misspelt_there_is_named(tmp_path):
    finding = only(agent(tmp_path, calling(), skill=listing("- object_save")), CODE)
    assert finding.hint == 'did you mean "object_save"?'


def test_a_part_of_a_longer_name_does_not_count(tmp_path):
    assert told(agent(tmp_path, calling(), skill=listing("- objects_save_all")), CODE) != []


def test_other_addresses_and_templates_are_left_alone(tmp_path):
    other = calling(url="{{CINATRA_BASE_URL}}/api/llm-bridge")
    assert told(agent(tmp_path, other), CODE) == []
    assert told(agent(tmp_path, calling("{{ tool }}")), CODE) == []


def test_tools_in_the_metadata_of_a_node_count(tmp_path):
    made = flow(start(), api("save"), end())
    made["$referenced_components"]["save"]["metadata"]["cinatra"]["tools"] = ["objects_update"]
    finding = only(agent(tmp_path, made), CODE)
    assert finding.pointer == "/$referenced_components/save/metadata/cinatra/tools/0"


def test_without_the_section_the_rule_about_the_section_speaks(tmp_path):
    package = agent(tmp_path, calling(), skill=SKILL.partition("##")[0])
    assert told(package, CODE) == []
