"""Real flows, whole and with one thing taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oas_compiler import check
from tests.copies import copied

CORPUS = Path(__file__).resolve().parents[3] / "../shared/corpus/cinatra"
AGENTS = sorted(path.parent for path in CORPUS.glob("*/package.json"))
OWN = tuple(f"OAS{number}" for number in (*range(150, 170), *range(200, 220)))

needs_corpus = pytest.mark.skipif(not AGENTS, reason="the folder of real input is absent")
pytestmark = needs_corpus


def own_codes(folder):
    return sorted(finding.code for finding in check(folder) if finding.code in OWN)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda path: path.name)
def test_a_real_package_breaks_no_rule_of_context_or_safety(agent):
    assert own_codes(agent) == []


def changed(tmp_path, agent, *, flow=lambda document: None, manifest=lambda document: None):
    """A copy of a real package with a change."""
    folder = tmp_path / agent
    copied(CORPUS / agent, folder)
    for file, change in (
        (folder / "cinatra" / "oas.json", flow),
        (folder / "package.json", manifest),
    ):
        document = json.loads(file.read_text(encoding="utf-8"))
        change(document)
        file.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return folder


def test_a_real_package_without_its_dependency_is_found(tmp_path):
    def drop(manifest):
        del manifest["cinatra"]["agentDependencies"]
        manifest["cinatra"]["dependencies"] = []

    assert own_codes(changed(tmp_path, "blog-draft-writer-agent", manifest=drop)) == ["OAS153"]


def test_a_real_flow_without_its_binding_is_found(tmp_path):
    def drop(flow):
        flow["data_flow_connections"] = [
            edge
            for edge in flow["data_flow_connections"]
            if edge["source_node"]["$component_ref"] != "context_offeringContext"
        ]

    assert own_codes(changed(tmp_path, "email-outreach-agent", flow=drop)) == ["OAS156"]


def test_a_real_flow_whose_gates_are_all_gone_sends_without_asking(tmp_path):
    def drop(flow):
        for component in list(flow["$referenced_components"].values()):
            nodes = component.get("$referenced_components", {})
            for node in (component, *nodes.values()):
                if node["component_type"] == "InputMessageNode":
                    node["component_type"] = "OutputMessageNode"
                    node["message"] = "told, not asked"

    folder = changed(tmp_path, "email-outreach-agent", flow=drop)
    (finding,) = (found for found in check(folder) if found.code == "OAS200")
    assert finding.message == (
        '"sender-send" (email_send) can run before any person was asked: '
        "start → setup_gate → context_setup → recipients_flow → skills_flow → "
        "context_offeringContext → drafts_flow → sender_flow → sender_flow/sender-send"
    )


def test_the_loop_of_a_real_flow_is_endless_without_its_gate(tmp_path):
    def drop(flow):
        node = flow["$referenced_components"]["test_form_gate"]
        node["component_type"] = "OutputMessageNode"
        node["message"] = "told, not asked"

    assert own_codes(changed(tmp_path, "email-test-delivery-agent", flow=drop)) == [
        "OAS200",  # its risk class is still test_send
        "OAS201",
    ]


def renamed_slot(flow):
    flow["metadata"]["cinatra"]["contextSlots"][0]["slotId"] = "other"


def without_edge_into(title):
    def drop(flow):
        flow["data_flow_connections"] = [
            edge
            for edge in flow["data_flow_connections"]
            if edge["destination_input"] != title or "context_" not in edge["name"]
        ]

    return drop


def misspelt_key(flow):
    slot = flow["metadata"]["cinatra"]["contextSlots"][0]
    slot["selectonMode"] = slot.pop("selectionMode")


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (renamed_slot, ["OAS154"]),
        (without_edge_into("slotId"), ["OAS063"]),
        (without_edge_into("contextSlotBindings"), ["OAS063"]),
        (misspelt_key, ["OAS150"]),
    ],
)
def test_one_flaw_of_a_real_flow_has_one_finding_of_its_own(tmp_path, change, codes):
    folder = changed(tmp_path, "blog-draft-writer-agent", flow=change)
    assert sorted(one.code for one in check(folder) if one.code in {*OWN, "OAS063"}) == codes


def test_a_real_package_without_a_version_has_one_finding(tmp_path):
    def drop(manifest):
        del manifest["version"]

    folder = changed(tmp_path, "blog-draft-writer-agent", manifest=drop)
    assert [one.code for one in check(folder) if one.code in {*OWN, "OAS170"}] == ["OAS163"]
