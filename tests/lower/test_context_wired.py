"""A flow wired for its slots selects as the public agent does by itself, at any depth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.context import read_slots
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.host import FixedRuns, LocalPlatform, RunScope
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.runs import Run
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from tests.flows import end, flow_node, flow_of, port, start
from tests.lower.context_shelf import ANN, ORG, Shelf, Watched, audit, registry
from tests.slot_flows import declared, slot
from tests.wired_flows import wired

AGENT = Path(__file__).resolve().parents[2].parent / "shared/corpus/cinatra/context-selection-agent"
pytestmark = pytest.mark.skipif(
    not AGENT.exists(), reason="the corpus of public flows is not beside the project"
)
BRAND, ROOT, CHILD = "@x/brand-artifact", "@test/agent", "@test/child"
KEY = "attest-key-0123"
SHOWN = ("own", "team", "brief", "style", "all-1", "all-2")
MODES = pytest.mark.parametrize("mode", ["interactive", "autonomous"])


class Host:
    """Runs of several flows over one shelf; each run has the slots `brand` and `voice`."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.database = Database.open(dsn)
        self.shelf = Shelf(ArtifactStore(self.database)).fill(BRAND, BRAND)
        self.runs = RunStore(self.database)

    def run(
        self, flow: Any, run_id: str, params: Any, *, mode: str, package: str = ROOT
    ) -> tuple[Run, list[Gate], Watched]:
        """To the end; at each selection the person picks `style` and `team`, for voice `own`."""
        slots = read_slots([slot(one, selectionMode=mode) for one in ("brand", "voice")])
        scope = RunScope(
            org_id=ORG, actor=ANN, package_name=ROOT, slots=slots, context_id="c1",
            embedded={} if package == ROOT else {package: slots},
        )  # fmt: skip
        platform = Watched(
            LocalPlatform(
                self.shelf.store, registry(BRAND), FixedRuns({run_id: scope}),
                beyond=SimulatedPlatform({"write": {"text": "Hello"}}), attestation_key=KEY,
            )
        )  # fmt: skip
        context = host_context(context_id="c1")
        gates = []
        run = self.runs.start(
            compile_flow(flow, platform=platform), params, run_id, context=context
        )
        while run.waiting:
            (gate,) = run.waiting
            gates.append(gate)
            slot_id = gate.values["slotMeta"]["slotId"]
            picked = ("own",) if slot_id == "voice" else ("style", "team")
            refs = [{key: ref[key] for key in list(ref)[:3]} for ref in self.shelf.of(*picked)]
            text = json.dumps(
                {"slotId": slot_id, "resolutionMode": "accumulate", "selectedRefs": refs}
            )
            decision = Decision.approve(by="ann", value=text)
            run = self.runs.answer(run_id, gate.id, decision, context=context)
        assert run.status == "completed", run.error
        return run, gates, platform

    def alone(self, run_id: str, slot_id: str, mode: str, package: str = ROOT) -> Any:
        """The public agent by itself, for the same slot of the same parent."""
        params = {"parentRunId": run_id, "parentPackageName": package, "slotId": slot_id}
        return self.run(AGENT, run_id, params, mode=mode, package=package)

    def rows(self, run_id: str) -> list[tuple[str, ...]]:
        """The audit rows of a run, without its id."""
        return [(row[0], *row[2:]) for row in audit(self.dsn)[0] if row[1] == run_id]


@pytest.fixture
def host(fresh_database: str) -> Iterator[Host]:
    made = Host(fresh_database)
    yield made
    made.database.close()


def asked(gate: Gate) -> dict[str, Any]:
    """What a gate says but who it is."""
    kept = ("payload", "risk", "name", "visit", "form")
    return {name: getattr(gate, name) for name in kept}


def context_bodies(platform: Watched, prefix: str, run_id: str) -> list[Any]:
    """The context calls of the nodes with a prefix, in order, without the run's id."""
    found = []
    for call, answer in platform.calls:
        if "/api/context-" in call.url and call.node.startswith(prefix):
            body = dict(call.body)  # type: ignore[arg-type]
            assert body.pop("parentRunId") == run_id
            # A token is made of everything planned, the run's id too.
            shown = {key: value for key, value in answer.items() if key != "allocationToken"}
            found.append((call.node.removeprefix(prefix), body, shown))
    return found


def same(host: Host, wired_run: Any, slot_id: str, mode: str, package: str = ROOT) -> None:
    """A run selected for a slot as the public agent alone does: calls, gate, record."""
    run, gates, platform = wired_run
    one, alone_gates, alone = host.alone(f"alone-{slot_id}", slot_id, mode, package)
    mine = [gate for gate in gates if gate.values["slotMeta"]["slotId"] == slot_id]
    assert [asked(gate) for gate in mine] == [asked(gate) for gate in alone_gates]
    assert len(mine) == (mode == "interactive")
    calls = context_bodies(platform, f"ctx-{slot_id}-", run.id)
    assert calls == context_bodies(alone, "", one.id)
    assert [name for name, _, _ in calls] == ["resolve_context", f"finalize_{mode}"]
    assert calls[0][2]["candidates"] == host.shelf.of(*SHOWN)
    rows = [row for row in host.rows(run.id) if row[2] == slot_id]
    assert rows == host.rows(one.id)
    assert rows
    assert one.outputs is not None
    assert calls[1][2]["contextSlotBindings"] == one.outputs["contextSlotBindings"]


@MODES
def test_a_wired_slot_selects_as_the_public_agent_does_alone(host: Host, mode: str) -> None:
    ran = host.run(wired(declared()), "r1", {"topic": "tides"}, mode=mode)
    same(host, ran, "brand", mode)
    picked = ("style", "team") if mode == "interactive" else SHOWN
    bindings = [{"slotId": "brand", "refs": host.shelf.of(*picked)}]
    assert ran[2].body("write")["contextSlotBindings"] == bindings
    about = {"run": "r1", "package": ROOT, "slot": "brand", "mode": mode}
    by = "user" if mode == "interactive" else "autonomous"
    rows = [row for row in audit(host.dsn)[0] if row[1] == "r1"]
    assert rows == host.shelf.rows(*picked, about=about | {"by": by})


@MODES
def test_two_slots_of_one_flow_select_one_after_the_other_each_for_its_own_input(
    host: Host, mode: str
) -> None:
    ran = host.run(wired(declared("brand", "voice")), "r1", {"topic": "tides"}, mode=mode)
    for slot_id in ("brand", "voice"):
        same(host, ran, slot_id, mode)
    body = ran[2].body("write")
    brand, voice = (("style", "team"), ("own",)) if mode == "interactive" else (SHOWN, SHOWN)
    assert body["brandContextSlotBindings"] == [{"slotId": "brand", "refs": host.shelf.of(*brand)}]
    assert body["voiceContextSlotBindings"] == [{"slotId": "voice", "refs": host.shelf.of(*voice)}]
    ids = [gate.id for gate in ran[1]]
    assert (
        ids
        == [
            "context_brand/ctx-brand-context_select_gate",
            "context_voice/ctx-voice-context_select_gate",
        ][: len(ids)]
    )


@MODES
def test_a_slot_of_a_child_inside_another_flow_selects_for_the_child_in_the_run_of_the_parent(
    host: Host, mode: str
) -> None:
    child = declared(id_="inner-flow")
    child["metadata"]["cinatra"]["packageName"] = CHILD
    outer = flow_of(
        start(port("topic", default=""), required=["topic"]),
        flow_node("inner", child, packageName=CHILD),
        end(port("text")),
        edges=[("start", "topic", "inner", "topic"), ("inner", "text", "end", "text")],
    )
    ran = host.run(wired(outer), "r1", {"topic": "tides"}, mode=mode, package=CHILD)
    same(host, ran, "brand", mode, package=CHILD)
    assert {row[1] for row in host.rows("r1")} == {CHILD}
    (written,) = [call for call, _ in ran[2].calls if call.node == "write"]
    assert written.path == "inner/write"
    picked = ("style", "team") if mode == "interactive" else SHOWN
    assert written.body["contextSlotBindings"] == [  # type: ignore[index, call-overload]
        {"slotId": "brand", "refs": host.shelf.of(*picked)}
    ]
    assert [gate.id for gate in ran[1]] == ["inner/context_brand/ctx-brand-context_select_gate"] * (
        mode == "interactive"
    )


def test_a_wired_flow_that_selects_otherwise_would_be_noticed(host: Host) -> None:
    # Control: wired for another package it selects too, and not as the public agent does here.
    flow = wired(declared())
    inputs = flow["$referenced_components"]["start"]["inputs"] + flow["inputs"]
    for one in inputs:
        if one["title"] == "brandParentPackageName":
            one["default"] = CHILD
    ran = host.run(flow, "r1", {"topic": "tides"}, mode="interactive", package=CHILD)
    with pytest.raises(AssertionError, match="parentPackageName"):
        same(host, ran, "brand", "interactive")
