"""Rule 15: a trigger means its own run or its parent's, and no rule calls either of them wrong."""

from __future__ import annotations

import pytest

from oas_compiler import check
from tests.checks.guide.guide_case import SKILL, agent, flow
from tests.flows import Json, api, end, flow_node, gate, port, start

PASS = "{{CINATRA_BASE_URL}}/api/agents/passthrough"
RENDERER = "@test/agent:configure"
SCHEDULE = {"type": "string", "minLength": 1}
"""A schedule is no yes: without it, the words of an approval would be persisted in its place."""


def trigger(source: str, *, into: str = "agent_run_id", id_: str = "trigger") -> Json:
    """Ask for a schedule and persist it: the id that comes in as `source` goes to the field `into`."""
    persist = api(
        "persist",
        url=PASS,
        inputs=[port(into), port("schedule")],
        data={
            "tool": "trigger_config_set",
            into: f"{{{{ {into} }}}}",
            "input": {"runId": f"{{{{ {into} }}}}", "schedule": "{{ schedule }}"},
        },
        outputs=[port("saved", default="")],
        risk="write_safe",
    )
    made = flow(
        start(port(source, default=""), hidden=[source]),
        gate("configure", output=port("schedule"), renderer=RENDERER, inputMessageSchema=SCHEDULE),
        persist,
        end(),
        edges=[
            ("start", source, "persist", into),
            ("configure", "schedule", "persist", "schedule"),
        ],
        about={"hitlScreens": [RENDERER]},
        id_=id_,
    )
    made["description"] = "Sets when the run is done again."
    return made


def embedded(run: str, source: str, into: str = "agent_run_id") -> Json:
    """An orchestrator whose input `run` is handed to the trigger's input `source`."""
    made = flow(
        start(port(run, default=""), hidden=[run]),
        flow_node("schedule", trigger(source, into=into, id_="schedule-subflow")),
        end(),
        edges=[("start", run, "schedule", source)],
        about={"hitlScreens": [RENDERER]},
    )
    made["description"] = "Does the work again when it is due."
    return made


MODES = {
    "standalone, its own run": trigger("cinatra_run_id"),
    "embedded, a field parentRunId": embedded("cinatra_run_id", "parentRunId", "parentRunId"),
    "embedded, parentRunId handed down": embedded("parentRunId", "parentRunId", "parentRunId"),
    "embedded, parentRunId as agent_run_id": embedded("cinatra_run_id", "parentRunId"),
    "embedded, cinatra_run_id": embedded("cinatra_run_id", "cinatra_run_id"),
    "embedded, agent_run_id": embedded("cinatra_run_id", "agent_run_id"),
}


@pytest.mark.parametrize("made", MODES.values(), ids=MODES)
def test_whichever_run_a_trigger_means_the_guide_says_nothing_about_it(tmp_path, made):
    skill = SKILL.replace("Nothing.", "- trigger_config_set")
    screens = {"fieldRenderers": [{"id": RENDERER, "kind": "trigger-configure"}]}
    package = agent(tmp_path, made, skill=skill, cinatra=screens)
    assert [str(finding) for finding in check(package)] == []


def test_a_standalone_trigger_keys_by_its_own_run(tmp_path):
    codes = [finding.code for finding in check(agent(tmp_path, trigger("parentRunId")))]
    assert "OAS120" in codes


def test_the_same_package_with_a_visible_run_id_is_told(tmp_path):
    made = trigger("parentRunId")
    about = made["$referenced_components"]["start"]["metadata"]["cinatra"]
    about.update(required=["parentRunId"], hidden=[])
    codes = [finding.code for finding in check(agent(tmp_path, made))]
    assert "OAS192" in codes
