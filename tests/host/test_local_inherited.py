"""A slot that the parent's selection satisfies: the child is handed exactly what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from local_world import (
    ANN,
    NOW,
    PACKAGE,
    REGISTRY,
    ask,
    body,
    envelope,
    fill,
    refs_of,
    scope,
    signed,
    slot,
)

from cinatra_sdk.context import Actor
from cinatra_sdk.host import (
    FixedRuns,
    LocalPlatform,
    ParentSelection,
    RunScope,
    local_app,
)
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow

AGENT = (
    Path(__file__).resolve().parents[2].parent
    / "shared/corpus/cinatra/context-selection-agent"
)  # fmt: skip
needs_agent = pytest.mark.skipif(not AGENT.exists(), reason="the folder of real input is absent")
PARENT = "@x/parent"
STYLE = ParentSelection(run_id="r0", package_name=PARENT, slot_id="style")


@pytest.fixture
def artifacts(fresh_database: str):
    database = Database.open(fresh_database)
    store = ArtifactStore(database)
    fill(store)
    yield store
    database.close()


def child(**changes: Any) -> RunScope:
    """A run whose slot "voice" takes what the run r0 selects for "style"."""
    return scope(**({"inherited": {(PACKAGE, "voice"): STYLE}} | changes))


def app(store: ArtifactStore, run: RunScope | None = None, **settings: Any) -> Any:
    parent = scope(package_name=PARENT, slots=(slot(slotId="style", minItems=0, maxItems=5),))
    runs = FixedRuns({"r0": parent, "r1": run or child()})
    return local_app(store, REGISTRY, runs, clock=lambda: NOW, **settings)


def parent_picks(store: ArtifactStore, *ids: str) -> Any:
    """The parent's selection, finalized; its refs."""
    refs = refs_of(store, *ids)
    text = envelope(refs, slotId="style")
    asked = body(parentRunId="r0", parentPackageName=PARENT, slotId="style")
    status, answer = ask(
        app(store), "context-finalize",
        asked | {"selectionMode": "interactive", "userResponse": text},
    )  # fmt: skip
    assert status == 200, answer
    return refs


def finalize(local: Any, refs: Any, **changes: Any) -> tuple[int, Any]:
    given = {"selectionMode": "autonomous", "userResponse": envelope(refs)}
    return ask(local, "context-finalize", body(**(given | changes)))


def rows(store: ArtifactStore) -> list[tuple[str, ...]]:
    return [
        (row.parent_package_name, row.slot_id, row.triple.artifact_id,
         row.selected_by, row.selection_mode)
        for row in store.selections("o1", "r1")
    ]  # fmt: skip


def test_the_child_is_answered_with_the_parents_pick_and_goes_around_its_gate(artifacts):
    (b,) = parent_picks(artifacts, "b")
    status, answer = ask(app(artifacts), "context-resolve", body())
    assert status == 200, answer
    assert answer["candidates"] == answer["selectedRefs"] == answer["plannedRefs"] == [b]
    assert (answer["selectionMode"], answer["resolutionMode"]) == ("autonomous", "accumulate")
    assert answer["slotMeta"]["selectionMode"] == "autonomous"
    status, bound = finalize(app(artifacts), [b], allocationToken=answer["allocationToken"])
    assert (status, bound) == (
        200, {"contextSlotBindings": [{"slotId": "voice", "refs": [b]}], "wrote": True}
    )  # fmt: skip
    assert rows(artifacts) == [(PACKAGE, "voice", "b", "agent", "autonomous")]
    assert finalize(app(artifacts), [b]) == (200, bound | {"wrote": False})
    assert len(rows(artifacts)) == 1


def test_without_the_parent_the_same_slot_asks_a_person(artifacts):
    parent_picks(artifacts, "b")
    _, answer = ask(app(artifacts, scope()), "context-resolve", body())
    assert answer["selectionMode"] == "interactive"
    assert [ref["artifactId"] for ref in answer["candidates"]] == ["a", "b"]


def test_the_pinned_revision_is_handed_on_though_the_artifact_was_revised_since(artifacts):
    (a,) = parent_picks(artifacts, "a")
    newer = artifacts.revise("a", "changed")
    _, answer = ask(app(artifacts), "context-resolve", body())
    assert answer["plannedRefs"] == [a]
    assert finalize(app(artifacts), answer["plannedRefs"])[0] == 200
    (row,) = artifacts.selections("o1", "r1")
    assert row.triple.representation_revision_id == a["representationRevisionId"] != newer


def test_what_the_parent_corrected_last_counts(artifacts):
    parent_picks(artifacts, "a", "b")
    (b,) = parent_picks(artifacts, "b")
    _, answer = ask(app(artifacts), "context-resolve", body())
    assert answer["plannedRefs"] == [b]


def test_the_refs_come_from_narrow_to_broad_whatever_the_order_they_were_picked_in(
    artifacts, fresh_database
):
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        connection.execute("update objects set visibility = 'team:t1' where id = 'b'")
    a, b = parent_picks(artifacts, "a", "b")
    _, answer = ask(app(artifacts), "context-resolve", body())
    assert answer["plannedRefs"] == [b, a]


def test_a_parent_that_has_selected_nothing_yet_stops_the_child_with_a_sentence(artifacts):
    for status, answer in (
        ask(app(artifacts), "context-resolve", body()),
        finalize(app(artifacts), refs_of(artifacts, "a")),
        finalize(app(artifacts), []),
    ):
        assert (status, answer["error"]) == (422, "inherited_selection_mismatch")
        assert (
            'the slot "voice" takes what @x/parent selects for its slot "style"'
            in (answer["message"])
        )
        assert "nothing is recorded for that yet" in answer["message"]
    assert artifacts.selections("o1", "r1") == []
    parent_picks(artifacts, "a")
    assert ask(app(artifacts), "context-resolve", body())[0] == 200


@pytest.mark.parametrize("corrected", [False, True], ids=["at once", "as a correction"])
def test_a_parent_that_chose_nothing_hands_nothing_on(artifacts, corrected):
    if corrected:
        parent_picks(artifacts, "a")
    parent_picks(artifacts)
    optional = child(slots=(slot(minItems=0),))
    _, answer = ask(app(artifacts, optional), "context-resolve", body())
    assert (answer["plannedRefs"], answer["selectionMode"]) == ([], "autonomous")
    needs_one = finalize(app(artifacts), [])
    assert (needs_one[0], needs_one[1]["error"]) == (422, "below_min_items")
    bound = {"contextSlotBindings": [{"slotId": "voice", "refs": []}], "wrote": False}
    assert finalize(app(artifacts, optional), []) == (200, bound)


def test_a_child_that_crashed_with_nothing_handed_on_gets_nothing_again(artifacts):
    parent_picks(artifacts)
    optional = child(slots=(slot(minItems=0),))
    _, first = finalize(app(artifacts, optional), [])
    parent_picks(artifacts, "a")
    assert finalize(app(artifacts, optional), []) == (200, first)
    other = local_app(artifacts, REGISTRY, FixedRuns({"r2": optional}), clock=lambda: NOW)
    fresh = finalize(other, [], parentRunId="r2")
    assert (fresh[0], fresh[1]["error"]) == (422, "inherited_selection_mismatch")


def test_what_the_parent_went_back_to_counts(artifacts):
    (a,), (b,) = parent_picks(artifacts, "a"), parent_picks(artifacts, "b")
    for picked, ref in (("b", b), ("a", a), ("a", a), ("b", b)):
        parent_picks(artifacts, picked)
        assert ask(app(artifacts), "context-resolve", body())[1]["plannedRefs"] == [ref]
    assert len(artifacts.selections("o1", "r0")) == 2
    # At once, corrected, and went back twice; the same again is none of its own.
    assert [one.artifact_id for one in artifacts.chosen_in("r0")] == ["a", "b", "a", "b"]


def test_a_child_that_takes_the_narrowest_takes_the_narrowest_that_the_parent_picked(
    artifacts, fresh_database
):
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        connection.execute("update objects set visibility = 'team:t1' where id = 'b'")
    a, b = parent_picks(artifacts, "a", "b")
    run = child(slots=(slot(resolutionMode="override"),))
    _, answer = ask(app(artifacts, run), "context-resolve", body())
    assert answer["candidates"] == answer["selectedRefs"] == answer["plannedRefs"] == [b]
    for refs in ([a, b], [a]):
        text = envelope(refs, resolutionMode="override")
        refused = finalize(app(artifacts, run), refs, userResponse=text)
        assert (refused[0], refused[1]["error"]) == (422, "inherited_selection_mismatch")
    text = envelope([b], resolutionMode="override")
    assert finalize(app(artifacts, run), [b], userResponse=text)[0] == 200


def test_anything_but_exactly_the_parents_pick_is_a_mismatch(artifacts):
    a, b = parent_picks(artifacts, "a", "b")
    newer = artifacts.revise("a", "changed")
    for refs in ([a], [b], [], [a | {"representationRevisionId": newer}, b]):
        status, answer = finalize(app(artifacts), refs)
        assert (status, answer["error"]) == (422, "inherited_selection_mismatch")
    assert artifacts.selections("o1", "r1") == []
    assert finalize(app(artifacts), [b, a, b])[0] == 200


MODES = {
    "selection_mode_mismatch": {"selectionMode": "interactive"},
    "slot_mismatch": {"slotId": "tone"},
    "resolution_mode_mismatch": {"resolutionMode": "override"},
}


@pytest.mark.parametrize(("code", "change"), MODES.items(), ids=MODES)
def test_an_answer_in_other_modes_than_those_told_is_refused_as_ever(artifacts, code, change):
    refs = parent_picks(artifacts, "a")
    mode = change.get("selectionMode", "autonomous")
    others = {key: value for key, value in change.items() if key != "selectionMode"}
    status, answer = finalize(
        app(artifacts), refs, selectionMode=mode, userResponse=envelope(refs, **others)
    )
    assert (status, answer["error"]) == (422, code)
    assert finalize(app(artifacts), refs)[0] == 200


def test_the_numbers_of_the_childs_slot_count_for_what_is_handed_on_too(artifacts):
    refs = parent_picks(artifacts, "a", "b")
    run = child(slots=(slot(maxItems=1),))
    status, answer = finalize(app(artifacts, run), refs)
    assert (status, answer["error"]) == (422, "above_max_items")
    (a,) = parent_picks(artifacts, "a")
    assert finalize(app(artifacts, run), [a])[0] == 200


ELSEWHERE = {
    "another run": ParentSelection(run_id="r2", package_name=PARENT, slot_id="style"),
    "another package": ParentSelection(run_id="r0", package_name="@x/other", slot_id="style"),
    "another slot": ParentSelection(run_id="r0", package_name=PARENT, slot_id="voice"),
}


@pytest.mark.parametrize("parent", ELSEWHERE.values(), ids=ELSEWHERE)
def test_only_the_selection_that_the_host_names_is_handed_on(artifacts, parent):
    parent_picks(artifacts, "a")
    run = child(inherited={(PACKAGE, "voice"): parent})
    status, answer = ask(app(artifacts, run), "context-resolve", body())
    assert (status, answer["error"]) == (422, "inherited_selection_mismatch")
    assert ask(app(artifacts), "context-resolve", body())[0] == 200


def test_a_selection_of_another_organisation_is_never_handed_on(artifacts):
    parent_picks(artifacts, "a")
    foreign = child(org_id="o2", actor=Actor(org_id="o2", principal_id="ann"))
    status, answer = ask(app(artifacts, foreign), "context-resolve", body())
    assert (status, answer["error"]) == (422, "inherited_selection_mismatch")


def test_an_artifact_that_is_gone_is_not_recorded_for_the_child(artifacts):
    refs = parent_picks(artifacts, "a", "b")
    artifacts.delete("a")
    status, answer = finalize(app(artifacts), refs)
    assert (status, answer["error"]) == (409, "selection_incoherent")
    assert artifacts.selections("o1", "r1") == []


def test_a_child_that_crashed_gets_its_record_again_though_parent_and_artifacts_moved_on(artifacts):
    refs = parent_picks(artifacts, "a", "b")
    _, first = finalize(app(artifacts), refs)
    parent_picks(artifacts, "b")
    artifacts.delete("a")
    assert finalize(app(artifacts), refs) == (200, first | {"wrote": False})
    assert finalize(app(artifacts), refs[:1])[1]["error"] == "inherited_selection_mismatch"


def test_a_token_of_another_slot_does_not_help_a_child_either(artifacts):
    refs = parent_picks(artifacts, "a")
    _, other = ask(app(artifacts), "context-resolve", body(slotId="tone"))
    status, answer = finalize(app(artifacts), refs, allocationToken=other["allocationToken"])
    assert (status, answer["error"]) == (409, "selection_incoherent")
    assert finalize(app(artifacts), refs)[0] == 200


def test_the_autonomous_node_signs_where_the_gate_is_left_out(artifacts):
    refs = parent_picks(artifacts, "a")
    local = app(artifacts, attestation_key="attest-key-0123")
    given = body(selectionMode="autonomous", userResponse=envelope(refs))
    status, answer = ask(local, "context-finalize", given, signed("ctx-voice-finalize_interactive"))
    assert (status, answer["error"]) == (403, "attestation_kind_mismatch")
    headers = signed("ctx-voice-finalize_autonomous")
    assert ask(local, "context-finalize", given, headers)[0] == 200


def test_a_child_embedded_in_its_parents_run_takes_the_parents_selection_of_that_run(artifacts):
    drafts = "@x/drafts"
    run = scope(
        embedded={drafts: (slot(),)},
        inherited={
            (drafts, "voice"): ParentSelection(run_id="r1", package_name=PACKAGE, slot_id="voice")
        },
    )
    local = app(artifacts, run)
    refs = refs_of(artifacts, "b")
    asked = body(parentPackageName=drafts)
    assert ask(local, "context-resolve", asked)[1]["error"] == "inherited_selection_mismatch"
    given = body(selectionMode="interactive", userResponse=envelope(refs))
    assert ask(local, "context-finalize", given)[0] == 200
    assert ask(local, "context-resolve", asked)[1]["plannedRefs"] == refs
    assert finalize(local, refs, parentPackageName=drafts)[0] == 200
    assert rows(artifacts) == [
        (PACKAGE, "voice", "b", "user", "interactive"),
        (drafts, "voice", "b", "agent", "autonomous"),
    ]


@needs_agent
def test_the_public_agent_hands_the_parents_pick_on_without_a_gate(artifacts):
    refs = parent_picks(artifacts, "b")
    platform = LocalPlatform(
        artifacts, REGISTRY, FixedRuns({"r1": child(actor=ANN)}), beyond=None,
        attestation_key="attest-key-0123",
    )  # fmt: skip
    params = {"parentRunId": "r1", "parentPackageName": PACKAGE, "slotId": "voice"}
    result = drive(compile_flow(AGENT), params, platform=platform)
    assert result.status == "completed", result.error
    assert result.gates == ()
    assert result.outputs == {"contextSlotBindings": [{"slotId": "voice", "refs": refs}]}
    assert rows(artifacts) == [(PACKAGE, "voice", "b", "agent", "autonomous")]
