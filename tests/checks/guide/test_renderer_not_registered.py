from __future__ import annotations

from oas_compiler import check
from tests.checks.guide.guide_case import agent, flow
from tests.flows import api, end, gate, start

CODE = "OAS238"
ID = "@test/agent:review"


def told(folder, renderer=ID, registered=(), screens=None, **cinatra):
    made = flow(start(), gate("ask", renderer=renderer), end())
    made["metadata"]["cinatra"]["hitlScreens"] = [renderer] if screens is None else screens
    entries = [{"id": name, "kind": "reviewer-output"} for name in registered]
    package = agent(folder, made, cinatra={"fieldRenderers": entries, **cinatra})
    return [finding for finding in check(package) if finding.code == CODE]


def test_a_screen_of_the_package_is_registered_there(tmp_path):
    (finding,) = told(tmp_path)
    assert finding.pointer == "/$referenced_components/ask/metadata/cinatra/renderer"
    assert finding.hint.startswith("add an entry with this id")
    assert told(tmp_path / "b", registered=[ID]) == []


def test_a_registration_that_is_spelt_otherwise_is_named(tmp_path):
    (finding,) = told(tmp_path, registered=["@test/agent:reviews"])
    assert finding.hint == 'fieldRenderers registers "@test/agent:reviews": is that the one?'


def test_screens_of_other_packages_and_of_the_host_are_registered_elsewhere(tmp_path):
    names = ("@other/agent:review", "@cinatra-ai/agent-builder:schema-field-fallback", "review")
    for number, name in enumerate(names):
        assert told(tmp_path / str(number), renderer=name) == []


def test_a_slip_that_another_rule_tells_of_is_told_once(tmp_path):
    assert told(tmp_path, renderer="@test/agent:reveiw", screens=[ID], registered=[ID]) == []
    assert told(tmp_path / "b", fieldRenderers=None, fieldRenderer=[{"id": ID}]) == []


def test_a_renderer_of_a_call_is_never_shown(tmp_path):
    call = api("call")
    call["metadata"]["cinatra"]["renderer"] = ID
    package = agent(tmp_path, flow(start(), call, end()))
    assert [finding for finding in check(package) if finding.code == CODE] == []
