"""A chosen artifact that goes between the decision and the record: the gate asks again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, Run, RunStore, SimulatedPlatform
from cinatra_sdk.context import InstalledExtensions, read_slots
from cinatra_sdk.host import FixedRuns, LocalPlatform, RunScope
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.lower.context_shelf import ANN, ORG
from tests.slot_flows import declared, slot
from tests.store.selecting import BRAND
from tests.wired_flows import GATE, wired

Json = dict[str, Any]


class Meanwhile(LocalPlatform):
    """Where something happens right before a finalize, so many times."""

    def __init__(self, store: ArtifactStore, mode: str, **more: Any) -> None:
        slots = read_slots([slot(selectionMode=mode, minItems=1)])
        scope = RunScope(org_id=ORG, actor=ANN, package_name="@test/agent", slots=slots)
        runs = FixedRuns({"r1": scope})
        beyond = SimulatedPlatform({"write": {"text": "Hello"}})
        super().__init__(store, InstalledExtensions(), runs, beyond=beyond, **more)
        self.store = store
        self.happens: list[Callable[[], object]] = []
        self.finalized = 0

    def call(self, call: PlatformCall) -> Any:
        if call.url.endswith("/api/context-finalize"):
            self.finalized += 1
            if self.happens:
                self.happens.pop(0)()
        return super().call(call)


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        artifacts = ArtifactStore(opened.database)
        for id_ in ("a", "b"):
            artifacts.add(
                artifact_id=id_, org_id=ORG, owner_id="ann", visibility="org", name=id_.upper()
            )
            artifacts.classify(id_, BRAND)
        yield opened


def begun(store: RunStore, tmp_path: Path, mode: str = "interactive") -> tuple[Run, Meanwhile]:
    artifacts = ArtifactStore(store.database)
    platform = Meanwhile(artifacts, mode, holds_offers=True)
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(wired(declared())), "utf-8")
    flow = compile_flow(str(file), platform=platform)
    return store.start(flow, {"topic": "tides"}, "r1"), platform


def choosing(run: Run, *ids: str) -> Decision:
    (gate,) = run.waiting
    offered = {ref["artifactId"]: ref for ref in gate.values["candidates"]}
    keys = ("artifactId", "representationRevisionId", "semanticAssertionId")
    refs = [{key: offered[id_][key] for key in keys} for id_ in ids]
    value = {"slotId": "brand", "resolutionMode": "accumulate", "selectedRefs": refs}
    return Decision.approve(by="ann", value=value)


def answer(store: RunStore, run: Run, *ids: str) -> Run:
    return store.answer(run.id, run.waiting[0].id, choosing(run, *ids))


def test_the_gate_opens_again_with_what_there_is_and_both_decisions_stay(
    store: RunStore, tmp_path: Path
) -> None:
    run, platform = begun(store, tmp_path)
    platform.happens = [lambda: platform.store.delete("b")]
    run = answer(store, run, "a", "b")
    assert (run.status, run.error) == ("waiting", None)
    (gate,) = run.waiting
    assert gate.id == f"{GATE}#2"
    assert [ref["artifactId"] for ref in gate.values["candidates"]] == ["a"]
    # What was chosen before is told, so that a screen can tick it again.
    assert gate.values["refused"]["code"] == "ref_not_in_candidates"
    assert [ref["artifactId"] for ref in gate.values["refused"]["selectedRefs"]] == ["a", "b"]
    assert platform.store.selections(ORG, "r1") == []
    run = answer(store, run, "a")
    assert run.status == "completed"
    assert [row["gate_id"] for row in store.decisions("r1")] == [GATE, f"{GATE}#2"]
    assert [row.triple.artifact_id for row in platform.store.selections(ORG, "r1")] == ["a"]


def test_a_gate_that_was_opened_again_can_be_rejected(store: RunStore, tmp_path: Path) -> None:
    run, platform = begun(store, tmp_path)
    platform.happens = [lambda: platform.store.delete("b")]
    run = answer(store, run, "b")
    run = store.answer("r1", run.waiting[0].id, Decision.reject(by="ann", reason="none fits"))
    assert run.status == "rejected"
    assert [row["kind"] for row in store.decisions("r1")] == ["approved", "rejected"]
    assert isinstance(platform.beyond, SimulatedPlatform)
    assert [call.node for call in platform.beyond.calls] == []


def test_where_too_few_are_left_the_run_fails_before_anybody_is_asked_again(
    store: RunStore, tmp_path: Path
) -> None:
    run, platform = begun(store, tmp_path)

    def both() -> None:
        platform.store.delete("a")
        platform.store.delete("b")

    platform.happens = [both]
    run = answer(store, run, "b")
    assert run.status == "failed"
    assert (run.error or {})["code"] == "below_min_items"


def test_another_process_answers_the_gate_that_was_opened_again(
    store: RunStore, tmp_path: Path, fresh_database: str
) -> None:
    run, platform = begun(store, tmp_path)
    platform.happens = [lambda: platform.store.delete("b")]
    run = answer(store, run, "b")
    with RunStore.open(fresh_database, platform=platform) as other:
        assert answer(other, run, "a").status == "completed"


def test_an_autonomous_slot_resolves_again_without_a_person(
    store: RunStore, tmp_path: Path
) -> None:
    artifacts = ArtifactStore(store.database)
    platform = Meanwhile(artifacts, "autonomous", holds_offers=True)
    platform.happens = [lambda: artifacts.delete("b")]
    flow = wired(declared())
    flow["metadata"]["cinatra"]["contextSlots"][0]["selectionMode"] = "autonomous"
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(flow), "utf-8")
    run = store.start(compile_flow(str(file), platform=platform), {"topic": "x"}, "r1")
    assert (run.status, run.error) == ("completed", None)
    assert platform.finalized == 2
    assert store.decisions("r1") == []
    assert [row.triple.artifact_id for row in artifacts.selections(ORG, "r1")] == ["a"]


REFUSED = {"$error": {"status": 422, "code": "ref_not_in_candidates", "message": "gone"}}
STUBS: Json = {
    "/api/context-resolve": {"selectionMode": "autonomous", "selectedRefs": []},
    "/api/context-finalize": REFUSED,
}


def test_an_autonomous_slot_does_not_resolve_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(wired(declared())), "utf-8")
    result = drive(compile_flow(str(file)), {"topic": "x"}, stubs=STUBS)
    assert result.status == "failed"
    assert 'node "ctx-brand-finalize_autonomous"' in str(result.error)
    assert getattr(result.error, "code", "") == "ref_not_in_candidates"
    assert len(result.calls_of("ctx-brand-finalize_autonomous")) == 4


@pytest.mark.parametrize("code", ["above_max_items", "run_mismatch", "bad_envelope"])
def test_what_another_choice_would_not_mend_fails_the_run(tmp_path: Path, code: str) -> None:
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(wired(declared())), "utf-8")
    refused = {"$error": {**REFUSED["$error"], "code": code}}
    result = drive(
        compile_flow(str(file)), {"topic": "x"}, stubs={**STUBS, "/api/context-finalize": refused}
    )
    assert (result.status, getattr(result.error, "code", "")) == ("failed", code)
    assert len(result.calls_of("ctx-brand-finalize_autonomous")) == 1
