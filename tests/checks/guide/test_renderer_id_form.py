from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, gated, only, told
from tests.checks.rule_case import found

CODE = "OAS178"
AT = "/$referenced_components/review/metadata/cinatra/renderer"


@pytest.mark.parametrize("good", ["@test/agent:review", "@a-b/c_d:E-1", "", "{{ renderer }}"])
def test_an_id_is_scope_package_and_name(good):
    assert found(gated(renderer=good), CODE) == []


@pytest.mark.parametrize(
    "bad",
    [
        "review",
        "test/agent:review",
        "@test/agent",
        "@test/agent/review",
        "@test:agent/review",
        "@test/agent:a:b",
        "@test/agent: review",
        "@test/agent:review\n",
        "@tést/agent:review",
        7,
        ["@test/agent:review"],
    ],
)
def test_anything_else_is_told(bad):
    assert found(gated(renderer=bad), CODE) == [AT]


def test_hitl_screens_are_ids_too():
    made = gated()
    made["metadata"]["cinatra"]["hitlScreens"] = ["@test/agent:review", "review", 4]
    assert found(made, CODE) == ["/metadata/cinatra/hitlScreens/1"]


def test_package_json_registers_renderers_under_such_ids(tmp_path):
    def registered(name):
        return agent(tmp_path, cinatra={"fieldRenderers": [{"id": name, "kind": "cta"}]})

    assert told(registered("@test/agent:review"), CODE) == []
    assert only(registered("agent:review"), CODE).pointer == "/cinatra/fieldRenderers/0/id"
