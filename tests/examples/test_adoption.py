"""The adoption checklist of Cinatra's guide to context slots, on an agent as it was without a slot.

Each step does what the list says and no more; after each, `oasflow check` names what is still
missing, until it names nothing and the agent's own contract test passes.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oas_compiler import check
from tests.examples.agents import EXAMPLES
from tests.slot_flows import unwired

Json = dict[str, Any]
AGENT, SLOT, CONSUMER = "product-text-agent", "brand", "write_text"
SELECTION_AGENT = "@cinatra-ai/context-selection-agent"
OASFLOW = Path(sys.executable).with_name("oasflow")


def read(file: Path) -> Json:
    document: Json = json.loads(file.read_text(encoding="utf-8"))
    return document


def write(file: Path, document: Json) -> None:
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The example as it was before anybody thought of a slot."""
    folder = tmp_path / AGENT
    shutil.copytree(EXAMPLES / AGENT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    flow = unwired(read(folder / "cinatra/oas.json"))
    about = flow["metadata"]["cinatra"]
    del about["contextSlots"]
    consumer = flow["$referenced_components"][CONSUMER]
    consumer["inputs"] = [
        one for one in consumer["inputs"] if one["title"] != "contextSlotBindings"
    ]
    consumer["data"]["user"] = "Product: {{ product }}"
    package = read(folder / "package.json")
    package["cinatra"]["agentDependencies"] = {}
    write(folder / "cinatra/oas.json", flow)
    write(folder / "package.json", package)
    return folder


def found(folder: Path) -> list[str]:
    return sorted({finding.code for finding in check(folder)})


def broken(folder: Path) -> list[str]:
    """The tests of the agent's own contract that fail on `folder`."""
    spec = importlib.util.spec_from_file_location("contract", folder / "test_brand_slot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    assert len(tests) == 4
    return [name for name, test in tests.items() if not holds(test)]


def holds(test: Callable[[], None]) -> bool:
    try:
        test()
    except (AssertionError, ValueError):
        return False
    return True


def topology(flow: Json) -> Json:
    """A flow without the names of its edges and their order, which say nothing."""
    data, control = flow["data_flow_connections"], flow["control_flow_connections"]
    edges = [{k: v for k, v in edge.items() if k != "name"} for edge in (*data, *control)]
    rest = {k: v for k, v in flow.items() if not k.endswith("_flow_connections")}
    return {**rest, "edges": sorted(json.dumps(edge, sort_keys=True) for edge in edges)}


def test_the_checklist_run_as_written_leads_to_the_example_and_its_contract(agent: Path) -> None:
    flow_file, package_file = agent / "cinatra/oas.json", agent / "package.json"
    assert found(agent) == []
    assert "test_the_slot_has_the_shape_that_was_agreed_on" in broken(agent)

    # 1 to 5: the slot, its artifact extensions, how it resolves and selects, how many.
    slot = {
        "slotId": SLOT,
        "acceptedArtifactExtensions": [
            "@oasflow-examples/brand-voice-artifact",
            "@oasflow-examples/product-facts-artifact",
        ],
        "resolutionMode": "accumulate",
        "selectionMode": "interactive",
        "minItems": 1,
        "maxItems": 3,
        "readableOnly": True,
    }

    # 6: into metadata.cinatra.contextSlots, and the node that is to use it gets its input.
    flow = read(flow_file)
    flow["metadata"]["cinatra"]["contextSlots"] = [slot]
    write(flow_file, flow)
    assert found(agent) == ["OAS153", "OAS154"]  # no dependency, nothing selects: an error each
    consumer = flow["$referenced_components"][CONSUMER]
    bindings = {
        "title": "contextSlotBindings", "type": "array",
        "json_schema": {"items": {"type": "object"}},
    }  # fmt: skip
    consumer["inputs"].append(bindings)
    consumer["data"]["user"] = (
        "{# pyagentspec-input-hint (do not remove): {{ contextSlotBindings }} #}"
        "Product: {{ product }}\nContext: {{ contextSlotBindings | tojson }}"
    )
    write(flow_file, flow)
    assert found(agent) == ["OAS063", "OAS153", "OAS154"]
    assert broken(agent) == [
        "test_the_package_depends_on_the_selection_agent",
        "test_the_selection_runs_before_its_consumer_and_feeds_it",
        "test_check_has_nothing_to_say",
    ]

    # 7 and 8: the dependency, and the FlowNode before its first consumer with its edges.
    command = [str(OASFLOW), "wire-context", str(agent), "--yes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert found(agent) == []
    package = read(package_file)
    assert package["cinatra"]["agentDependencies"] == {SELECTION_AGENT: "^0.1.1"}
    edges = [
        (edge["source_output"], edge["destination_input"])
        for edge in read(flow_file)["data_flow_connections"]
        if edge["destination_node"]["$component_ref"] == "context_brand"
    ]
    assert edges == [
        ("cinatra_run_id", "parentRunId"),
        ("brandParentPackageName", "parentPackageName"),
        ("brandSlotId", "slotId"),
        ("projectId", "projectId"),
    ]

    # 9: the version of the package, on both sides.
    flow, package["version"] = read(flow_file), "0.2.0"
    flow["metadata"]["cinatra"]["packageVersion"] = "0.2.0"
    write(flow_file, flow)
    write(package_file, package)
    assert found(agent) == []

    # 10: the contract test that pins the shape of the slot.
    assert broken(agent) == []

    # 11: the README says what the slot is for.
    assert "`brand` is interactive" in (agent / "README.md").read_text(encoding="utf-8")

    # What came out is the example as it is published, but for the version.
    published = (EXAMPLES / AGENT / "cinatra/oas.json").read_text(encoding="utf-8")
    assert topology(flow) == topology(json.loads(published.replace('"0.1.0"', '"0.2.0"')))


@pytest.mark.parametrize(
    "change",
    [
        {"slotId": "brands"},
        {"resolutionMode": "override"},
        {"maxItems": 4},
        {"readableOnly": False},
        {"acceptedArtifactExtensions": ["@oasflow-examples/brand-voice-artifact"]},
    ],
)
def test_the_contract_test_notices_a_slot_of_another_shape(tmp_path: Path, change: Json) -> None:
    folder = tmp_path / AGENT
    shutil.copytree(EXAMPLES / AGENT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    assert broken(folder) == []
    flow = read(folder / "cinatra/oas.json")
    flow["metadata"]["cinatra"]["contextSlots"][0] |= change
    write(folder / "cinatra/oas.json", flow)
    assert broken(folder)[0] == "test_the_slot_has_the_shape_that_was_agreed_on"


def test_every_example_that_declares_a_slot_depends_on_the_agent_and_selects_before_its_use() -> (
    None
):
    declaring = [
        file.parents[1]
        for file in sorted(EXAMPLES.glob("*/cinatra/oas.json"))
        if read(file)["metadata"]["cinatra"].get("contextSlots")
    ]
    assert [folder.name for folder in declaring] == ["product-text-agent", "reply-agent"]
    for folder in declaring:
        package = read(folder / "package.json")
        assert SELECTION_AGENT in package["cinatra"]["agentDependencies"]
        assert found(folder) == []
