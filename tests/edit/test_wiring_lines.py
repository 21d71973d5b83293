"""Wiring adds lines to the author's files; of those that were there it changes what it has to.

Every real package and every example: as an author has it who declared a slot and has not wired it.
"""

from __future__ import annotations

import copy
import difflib
import json
from pathlib import Path
from typing import Any

import pytest

from oas_compiler.edit.slot_wires import edits_between, manifest_edits, plan_wiring
from oas_compiler.findings.finding import Findings
from oas_compiler.text.source import Source, read_source
from oas_compiler.text_edits.json_edits import rewritten
from tests.slot_flows import AGENT, declared, slot, unwired
from tests.wired_flows import wired

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(
    file.parent
    for folder in (ROOT / "../shared/corpus/cinatra", ROOT / "examples")
    for file in folder.glob("*/package.json")
    if file.parent.name not in {"complaint-agent", "notify-agent", "tools-agent"}
)
"""Without those whose outermost flow calls nothing that could use a selection."""
assert PACKAGES
_USERS = {"ApiNode", "PluginTemplateNode"}


def source_of(raw: bytes) -> Source:
    source = read_source(raw, Findings())
    assert source is not None
    return source


def undone(source: Source) -> bytes:
    """The author's text before the slot was wired; where there is none, one is declared and used."""
    value: Any = source.value
    about = value["metadata"]["cinatra"]
    before = copy.deepcopy(value)
    if about.get("contextSlots"):
        before = unwired(before)
    else:
        before["metadata"]["cinatra"]["contextSlots"] = [slot()]
        known = before["$referenced_components"]
        calls = (known[one["$component_ref"]] for one in before["nodes"])
        user = next(one for one in calls if one["component_type"] in _USERS)
        user.setdefault("inputs", []).append({"title": "contextSlotBindings", "type": "array"})
    return rewritten(source.raw, edits_between(value, before))


def lines(raw: bytes) -> list[str]:
    return raw.decode().split("\n")


def lost(before: bytes, after: bytes) -> list[str]:
    """Lines that are no more, but for a comma after what was the last of its kind."""
    one, other = ([line.rstrip("\r").rstrip(",") for line in lines(raw)] for raw in (before, after))
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [line for kind, a, b, _, _ in blocks if kind != "equal" for line in one[a:b]]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_wiring_a_flow_loses_no_line_of_it(package: Path) -> None:
    files = sorted((package / "cinatra").glob("oas.json"))
    if not files:
        pytest.skip("no JSON")
    source = source_of(files[0].read_bytes())
    text = undone(source)
    wiring = plan_wiring(source_of(text), package_name="@test/agent")
    assert wiring.wired
    after = rewritten(text, wiring.edits)
    gone = [line.strip() for line in lost(text, after)]
    # The edge that led to the first consumer leads there from the selection now, and lists that stood
    # on one line have more in them.
    first = plan_first(source_of(text))
    edge = {f'"$component_ref": "{one}"' for one in first}
    edge |= {f'"from_node": {{ {one} }}' for one in edge}
    edge |= {f'"name": "{"_to_".join(first)}"'}
    rest = [line for line in gone if line not in edge]
    assert [line for line in rest if not line.startswith(('"hitlScreens": [', '"hidden": ['))] == []
    assert len(gone) - len(rest) <= 2


def plan_first(source: Source) -> tuple[str, str]:
    """The StartNode, and the node after it."""
    value: Any = source.value
    start = value["start_node"]["$component_ref"]
    routes = value["control_flow_connections"]
    (target,) = (
        one["to_node"]["$component_ref"]
        for one in routes
        if one["from_node"]["$component_ref"] == start
    )
    return start, target


def test_a_slot_that_nobody_is_asked_about_makes_no_gate() -> None:
    flow = declared()
    flow["metadata"]["cinatra"]["contextSlots"][0]["selectionMode"] = "autonomous"
    assert not plan_wiring(source_of(json.dumps(flow).encode())).asks
    assert plan_wiring(source_of(json.dumps(declared()).encode())).asks
    # Wired before, it is a gate still; of a slot that is left for later there is none yet.
    wired_ = json.dumps(wired(declared())).encode()
    assert plan_wiring(source_of(wired_)).asks


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_manifest_loses_no_line_but_the_two_that_are_set(package: Path) -> None:
    raw = (package / "package.json").read_bytes()
    source = source_of(raw)
    value: Any = copy.deepcopy(source.value)
    value["cinatra"].get("agentDependencies", {}).pop(AGENT, None)
    value["cinatra"]["hasApprovalGates"] = False
    text = rewritten(raw, edits_between(source.value, value))
    after = rewritten(text, manifest_edits(source_of(text), selects=True, asks=True))
    changed = json.loads(after)["cinatra"]
    assert changed["hasApprovalGates"] is True
    gone = [line.strip() for line in lost(text, after)]
    allowed = {'"hasApprovalGates": false', '"agentDependencies": {}'}
    assert set(gone) <= allowed, gone
    # A second look finds nothing to do.
    assert manifest_edits(source_of(after), selects=True, asks=True) == ()
