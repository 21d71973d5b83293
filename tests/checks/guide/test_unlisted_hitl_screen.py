from __future__ import annotations

import pytest

from oas_compiler import check, ir
from tests.checks.guide.guide_case import agent, flow
from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

CODE = "OAS177"
ID = "@test/agent:review"
OTHER = "@test/agent:picker"
AT = "/$referenced_components/review/metadata/cinatra/renderer"


def screens(*listed, made=None):
    made = made or flow(start(), gate("review", renderer=ID), end())
    made["metadata"]["cinatra"]["hitlScreens"] = list(listed)
    return made


def test_the_renderer_of_a_gate_is_listed():
    assert found(screens(ID), CODE) == []
    assert found(screens(), CODE) == [AT]
    assert findings(screens(), CODE)[0].severity == "warning"


def test_the_fix_appends_to_the_list():
    (finding,) = findings(screens(OTHER), CODE)
    (edit,) = finding.fix
    assert edit.pointer == "/metadata/cinatra/hitlScreens/-"
    assert edit.value == ir.Json(f'"{ID}"')


def test_without_a_list_the_first_finding_writes_the_whole_of_it():
    made = flow(start(), gate("review", renderer=ID), gate("pick", renderer=OTHER), end())
    first, second = findings(made, CODE)
    (edit,) = first.fix
    assert edit.pointer == "/metadata/cinatra/hitlScreens"
    assert edit.value == ir.Json(f'["{ID}","{OTHER}"]')
    assert second.fix == ()


def test_a_listed_id_that_nothing_emits_and_that_looks_alike_is_named_and_not_added_to():
    (finding,) = findings(screens("@test/agent:reveiw"), CODE)
    assert '"@test/agent:reveiw"' in finding.hint
    assert finding.fix == ()


def test_another_screen_of_the_same_package_is_no_misspelling():
    (finding,) = findings(screens("@test/agent:confirm-delivery"), CODE)
    assert finding.hint == "add it to metadata.cinatra.hitlScreens of the root flow"
    assert finding.fix != ()


def test_a_listed_id_that_a_gate_emits_is_no_misspelling_of_another():
    made = screens("@test/agent:review2", made=flow(
        start(), gate("review", renderer=ID), gate("again", renderer="@test/agent:review2"), end()
    ))  # fmt: skip
    (finding,) = findings(made, CODE)
    assert finding.fix != ()


def test_the_same_renderer_is_told_once():
    made = flow(start(), gate("review", renderer=ID), gate("again", renderer=ID), end())
    assert found(screens(made=made), CODE) == [AT]


@pytest.mark.parametrize(
    ("nodes", "pointer"),
    [
        (
            (start(port("a"), inputRenderers={"a": ID}), end()),
            "/$referenced_components/start/metadata/cinatra/inputRenderers/a",
        ),
        (
            (start(port("a", **{"x-renderer": ID})), end()),
            "/inputs/0/x-renderer",
        ),
        (
            (start(), gate("g", inputMessageSchema={"properties": {"a": {"x-renderer": ID}}}), end()),
            "/$referenced_components/g/metadata/cinatra/inputMessageSchema/properties/a/x-renderer",
        ),
        (
            (start(), flow_node("sub", flow(id_="inner"), gateSteps=[{"renderer": ID}]), end()),
            "/$referenced_components/sub/metadata/cinatra/gateSteps/0/renderer",
        ),
        (
            (start(), flow_node("sub", flow(start(), gate("in", renderer=ID), end(), id_="inner")), end()),
            "/$referenced_components/inner/$referenced_components/in/metadata/cinatra/renderer",
        ),
    ],
    ids=["inputRenderers", "x-renderer", "answer schema", "gateSteps", "subflow"],
)  # fmt: skip
def test_every_place_that_can_emit_a_renderer_counts(nodes, pointer):
    assert found(screens(made=flow(*nodes)), CODE) == [pointer]
    assert found(screens(ID, made=flow(*nodes)), CODE) == []


def test_what_never_pauses_emits_nothing():
    calling = api("fetch", data={"schema": {"x-renderer": ID}})
    calling["metadata"]["cinatra"]["renderer"] = ID
    assert found(screens(made=flow(start(), calling, end())), CODE) == []


def test_renderers_of_the_host_and_the_empty_one_need_no_entry():
    fallback = gate("review", renderer="@cinatra-ai/agent-builder:schema-field-fallback")
    assert found(screens(made=flow(start(), fallback, end())), CODE) == []
    assert found(screens(made=flow(start(), gate("review", renderer=""), end())), CODE) == []


def test_a_component_that_is_called_data_is_a_component():
    made = flow(start(), gate("data", inputMessageSchema={"x-renderer": ID}), end())
    at = "/$referenced_components/data/metadata/cinatra/inputMessageSchema/x-renderer"
    assert found(screens(made=made), CODE) == [at]


def test_screens_that_are_no_list_are_left_to_the_rule_about_metadata():
    made = screens()
    made["metadata"]["cinatra"]["hitlScreens"] = ID
    assert found(made, CODE) == []


def test_an_agent_node_emits_its_renderer():
    calling = node("AgentNode", "ask", cinatra={"renderer": ID}, inputs=[], outputs=[])
    at = "/$referenced_components/ask/metadata/cinatra/renderer"
    assert found(screens(made=flow(start(), calling, end())), CODE) == [at]


def test_a_malformed_id_is_not_asked_to_be_listed():
    made = screens(made=flow(start(), gate("review", renderer="review"), end()))
    assert found(made, "OAS178") == [AT]
    assert found(made, CODE) == []


def test_of_two_renderers_of_a_gate_the_one_that_wins_is_listed():
    made = flow(start(), gate("review", renderer=ID), end())
    node_of = made["$referenced_components"]["review"]
    title = node_of["outputs"][0]["title"]
    about = node_of["metadata"]["cinatra"]
    assert found(screens(OTHER, made=made), CODE) == [AT]
    about["inputRenderers"] = {title: OTHER}
    assert found(screens(OTHER, made=made), CODE) == []
    assert found(screens(ID, made=made), CODE) == [
        f"/$referenced_components/review/metadata/cinatra/inputRenderers/{title}"
    ]
    for nothing in ({"another": OTHER}, {title: ""}, {title: None}):
        about["inputRenderers"] = nothing
        assert found(screens(OTHER, made=made), CODE) == [AT]


def test_screens_that_no_run_can_show_need_not_be_listed():
    picker = "@test/agent:inner-picker"
    inner = flow_of(
        start(port("who"), inputRenderers={"who": picker}), gate("deep", renderer=ID), end(),
        id_="inner",
    )  # fmt: skip
    steps = [{"name": "Deep", "renderer": OTHER}]
    made = flow(start(port("who")), flow_node("run", inner, gateSteps=steps), end(),
                edges=[("start", "who", "run", "who")])  # fmt: skip
    # the subflow's StartNode asks nobody, and the entry of gateSteps is shown in place of the gate's
    (pointer,) = found(screens(made=made), CODE)
    assert pointer.endswith("/run/metadata/cinatra/gateSteps/0/renderer")
    assert found(screens(OTHER, made=made), CODE) == []


def test_a_hidden_input_is_never_shown_and_a_visible_one_is():
    def asking(**roles):
        return flow(start(port("who"), inputRenderers={"who": OTHER}, **roles), end())

    assert found(screens(made=asking(hidden=["who"])), CODE) == []
    assert len(found(screens(made=asking(required=["who"])), CODE)) == 1


def test_a_slip_of_a_registered_screen_is_named_and_not_written_into_the_list(tmp_path):
    made = flow(
        start(), gate("one", renderer=ID), gate("two", renderer="@test/agent:reveiw"), end()
    )
    made["metadata"]["cinatra"]["hitlScreens"] = [ID]
    entries = {"fieldRenderers": [{"id": ID, "kind": "reviewer-output"}]}
    (finding,) = [one for one in check(agent(tmp_path, made, cinatra=entries)) if one.code == CODE]
    assert finding.hint == f'package.json registers "{ID}": is that the one?'
    assert finding.fix == ()
