"""Stored runs as a directory, and the local platform that any process makes again for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk.context import Actor, ContextError
from cinatra_sdk.errors import StoreError
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.host import FixedRuns, LocalPlatform, ParentSelection
from cinatra_sdk.host.database_runs import StoredRuns
from cinatra_sdk.host.host_settings import LocalSettings
from cinatra_sdk.host.standalone_platform import remade, standalone
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store import RunStore
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore, LoadedArtifact
from oas_compiler import compile_flow
from tests.flows import end, flow_node, flow_of, gate, port, start
from tests.slot_flows import agreement, declared, nested, slot, taking
from tests.wired_flows import BRAND, context, wired

AGENT = (
    Path(__file__).resolve().parents[2].parent
    / "shared/corpus/cinatra/context-selection-agent"
)  # fmt: skip
needs_agent = pytest.mark.skipif(not AGENT.exists(), reason="the folder of real input is absent")
ANN = Actor(org_id="acme", principal_id="ann", project_ids=frozenset({"spring"}))
WIRED = wired(declared())
HOUSE = LoadedArtifact(
    id="house", org_id="acme", owner_id="bob", visibility="org", extensions=(BRAND,),
    content="Plain words.",
)  # fmt: skip


def settings(**changes: Any) -> LocalSettings:
    given = {"actor": context()["actor"]}
    return LocalSettings.model_validate(given | changes)


def of(principal: str, org: str = "acme") -> dict[str, Any]:
    return {"actor": {"orgId": org, "principalId": principal}}


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        ArtifactStore(opened.database).load([HOUSE])
        yield opened


@pytest.fixture
def begin(store: RunStore) -> Callable[..., Any]:
    """Start a run of a flow, by default the wired one, which waits at its selection gate."""

    def start_run(run_id: str, flow: Any = WIRED, *, tenant: str = "", **changes: Any) -> Any:
        params = changes.pop("params", {"topic": "x"})
        other: Platform | None = changes.pop("platform", None)
        platform = other or standalone(
            store.database, settings(**changes), beyond=SimulatedPlatform()
        )
        return store.start(compile_flow(flow, platform=platform), params, run_id, tenant=tenant)

    return start_run


def envelope(run: Any, *ids: str) -> str:
    (gate_,) = run.waiting
    refs = [ref for ref in gate_.values["candidates"] if ref["artifactId"] in ids]
    assert len(refs) == len(ids)
    meta = gate_.values["slotMeta"]
    return json.dumps(
        {
            "slotId": meta["slotId"], "resolutionMode": meta["resolutionMode"],
            "selectedRefs": [
                {key: ref[key] for key in ("artifactId", "representationRevisionId", "semanticAssertionId")}
                for ref in refs
            ],
        }
    )  # fmt: skip


# ----------------------------------------------------------------- what a run's scope is


def test_a_runs_scope_is_what_it_was_started_with(store, begin) -> None:
    begin("r1", projectId="spring")
    scope = StoredRuns(store.database).scope("r1")
    assert scope is not None
    assert (scope.org_id, scope.actor, scope.project_id) == ("acme", ANN, "spring")
    assert scope.package_name == "@test/agent"
    assert scope.slots is not None
    assert [one.slot_id for one in scope.slots] == ["brand"]
    assert (scope.embedded, scope.inherited) == ({}, {})
    assert StoredRuns(store.database).scope("r2") is None


def test_without_a_compiler_nothing_can_be_asked_of_a_flow(
    store, begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin("r1")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    runs = StoredRuns(store.database)
    with pytest.raises(StoreError, match="context slots of flows") as raised:
        runs.scope("r1")
    assert raised.value.hint == "install oasflow"
    monkeypatch.undo()
    assert runs.scope("r1") is not None


def test_packages_come_from_the_flow_then_from_the_settings(store, begin) -> None:
    flow = wired(declared())
    flow["metadata"]["cinatra"]["parentSatisfiedContextSlots"] = [
        agreement("brand", "@x/b", "theirs")
    ]
    child = nested("child", packageName="@x/b", contextSlots=[slot("theirs")])
    flow["$referenced_components"]["context-brand-subflow"]["metadata"] = child["metadata"]
    packages = {"@x/b": [slot("no")], "@x/c": [slot("more")], "@test/agent": [slot("no")]}
    begin("r1", flow, packages=packages)
    scope = StoredRuns(store.database).scope("r1")
    assert scope is not None
    assert {package: [one.slot_id for one in found] for package, found in scope.embedded.items()} == {
        "@x/b": ["theirs"], "@x/c": ["more"],
    }  # fmt: skip
    assert [one.slot_id for one in scope.slots or ()] == ["brand"]
    assert scope.inherited == {
        ("@x/b", "theirs"): ParentSelection(
            run_id="r1", package_name="@test/agent", slot_id="brand"
        )
    }


ATTACK = nested(
    "evil",
    packageName="@evil/child",
    contextSlots=[slot("auto", selectionMode="autonomous")],
    parentSatisfiedContextSlots=[agreement("auto", "@test/agent", "brand")],
)


@pytest.mark.parametrize("is_run", [False, True], ids=["that nothing runs", "that is run"])
@pytest.mark.parametrize("names_itself", [True, False])
def test_a_flow_inside_another_cannot_switch_off_its_gate(
    store, begin, is_run: bool, names_itself: bool
) -> None:
    flow = wired(declared())
    flow["$referenced_components"]["evil"] = ATTACK
    if is_run:
        about = dict(ATTACK["metadata"]["cinatra"])
        # a slot that is run has to be wired to compile; the agreement alone does the harm
        del about["contextSlots"]
        flow["$referenced_components"]["context-brand-subflow"]["metadata"] = {"cinatra": about}
    if not names_itself:
        del flow["metadata"]["cinatra"]["packageName"]
    run = begin("r1", flow, packageName="@test/agent")
    scope = StoredRuns(store.database).scope("r1")
    assert scope is not None
    assert (run.status, scope.inherited) == ("waiting", {})


def child_of(parent: Any, *, copies: int = 1) -> Any:
    """`parent`, and after it wired copies of a child with a slot "brand" of its own."""

    def inner(id_: str) -> Any:
        flow = declared(id_=id_)
        flow["metadata"]["cinatra"]["packageName"] = "@test/child"
        return wired(flow)

    kids = [f"kid{number}" for number in range(copies)]
    about = wired(declared())["metadata"]["cinatra"] | {"contextSlots": []}
    steps = [flow_node(kid, inner(f"{kid}-flow"), packageName="@test/child") for kid in kids]
    edges = [("start", name, kid, name) for kid in kids for name in ("topic", "cinatra_run_id")]
    return flow_of(
        start(port("topic", default=""), port("cinatra_run_id", default=""), required=["topic"]),
        *steps, end(port("text")), edges=[*edges, (kids[-1], "text", "end", "text")],
        metadata={"cinatra": about | parent},
    )  # fmt: skip


def test_a_copy_of_a_flow_changes_no_slot_that_the_host_knows_otherwise(store, begin) -> None:
    flow = child_of({})
    same = begin("r1", flow, packages={"@test/child": [slot()]})
    assert same.status == "waiting", same.error
    other = begin("r2", flow, packages={"@test/child": [slot(selectionMode="autonomous")]})
    assert 'slot_ambiguous: two context slots have the id "brand"' in other.error["message"]


@pytest.mark.parametrize("agrees", [True, False])
def test_a_parents_agreement_leaves_out_the_gate_of_its_child(store, begin, agrees: bool) -> None:
    flow = child_of({})
    about = flow["metadata"]["cinatra"] | {"contextSlots": [slot("own")]}
    if agrees:
        about["parentSatisfiedContextSlots"] = [agreement("own", "@test/child", "brand")]
    parent = flow_of(
        start(port("topic", default=""), port("cinatra_run_id", default=""), required=["topic"]),
        taking("contextSlotBindings"),
        flow_node("kid0", flow["$referenced_components"]["kid0-flow"], packageName="@test/child"),
        end(port("text")),
        edges=[
            ("start", "topic", "write", "topic"), ("start", "topic", "kid0", "topic"),
            ("start", "cinatra_run_id", "kid0", "cinatra_run_id"), ("kid0", "text", "end", "text"),
        ],
        metadata={"cinatra": about},
    )  # fmt: skip
    run = begin("r1", wired(parent))
    assert [one.id for one in run.waiting] == ["context_own/ctx-own-context_select_gate"]
    value = envelope(run, "house")
    run = store.answer("r1", run.waiting[0].id, Decision.approve(by="ann", value=value))
    chosen = [
        (one.package_name, one.slot_id, one.artifact_id)
        for one in ArtifactStore(store.database).chosen_in("r1")
    ]
    assert chosen[0] == ("@test/agent", "own", "house")
    if agrees:
        assert run.status == "completed", run.error
        assert chosen[1:] == [("@test/child", "brand", "house")]
    else:
        gate_id = "kid0/context_brand/ctx-brand-context_select_gate"
        assert ([one.id for one in run.waiting], chosen[1:]) == ([gate_id], [])


def test_two_copies_of_a_child_select_one_after_the_other(store, begin) -> None:
    run = begin("r1", child_of({}, copies=2))
    for number in range(2):
        gate_id = f"kid{number}/context_brand/ctx-brand-context_select_gate"
        assert [one.id for one in run.waiting] == [gate_id], run.error
        value = envelope(run, "house")
        run = store.answer("r1", gate_id, Decision.approve(by="ann", value=value))
    assert run.status == "completed"


def test_a_flow_that_names_no_package_has_the_one_of_the_settings(store, begin) -> None:
    flow = declared()
    del flow["metadata"]["cinatra"]["packageName"]
    flow = wired(flow, package_name="@test/agent")
    assert begin("r1", flow).status == "failed"
    assert begin("r2", flow, packageName="@test/agent").status == "waiting"
    runs = StoredRuns(store.database)
    without, with_ = runs.scope("r1"), runs.scope("r2")
    assert without is not None
    assert with_ is not None
    assert (without.package_name, with_.package_name) == ("", "@test/agent")
    assert [one.slot_id for one in with_.slots or ()] == ["brand"]


def test_a_run_on_another_platform_is_nobodys(store, begin) -> None:
    begin("r1", platform=SimulatedPlatform())
    begin("r2", platform=by_hand(store))
    runs = StoredRuns(store.database)
    for run_id in ("r1", "r2"):
        scope = runs.scope(run_id)
        assert scope is not None
        assert (scope.org_id, scope.actor, scope.package_name) == ("", None, "@test/agent")


def test_a_description_that_was_changed_in_the_database_makes_the_run_nobodys(
    store, begin, owner_database
) -> None:
    begin("r1")
    with psycopg.connect(owner_database) as connection:
        connection.execute(
            """update oasflow.runs set platform = '{"kind": "local", "actor": {"orgId": 7}}'"""
        )
    scope = StoredRuns(store.database).scope("r1")
    assert scope is not None
    assert scope.actor is None
    with pytest.raises(StoreError, match=r"cannot be made again: actor\.orgId"):
        RunStore(store.database).flow("r1")


# ----------------------------------------------------------------------- who may ask


def test_a_run_sees_itself_and_no_other(store, begin) -> None:
    begin("r1")
    begin("r2")
    runs = StoredRuns(store.database)
    assert runs.seen_by("r1", ANN).scope("r1") == runs.scope("r1")
    for other in ("r2", "r3"):
        with pytest.raises(ContextError, match="for itself") as raised:
            runs.seen_by("r1", ANN).scope(other)
        assert raised.value.code == "run_mismatch"


def test_nothing_is_chosen_for_a_run_that_has_ended(store, begin) -> None:
    begin("r1")
    runs = StoredRuns(store.database)
    assert runs.scope("r1") is not None
    store.stop("r1")
    for directory in (runs, runs.seen_by("r1", ANN)):
        with pytest.raises(
            ContextError, match="the run has ended, and the host answers no call"
        ) as raised:
            directory.scope("r1")
        assert raised.value.code == "run_missing"


def test_a_flow_that_names_another_run_fails_and_one_that_names_its_own_goes_on(begin) -> None:
    flow = wired(declared())
    for edge in flow["data_flow_connections"]:
        if edge["destination_input"] == "parentRunId":
            edge["source_output"] = "topic"
    begin("victim")
    run = begin("r1", flow, params={"topic": "victim"})
    assert run.status == "failed"
    assert "403 run_mismatch: a run selects context for itself" in run.error["message"]
    assert begin("r2", flow, params={"topic": "r2"}).status == "waiting"


def test_a_caller_that_is_not_stored_sees_nothing(store, begin) -> None:
    begin("r1")
    begin("r2", platform=SimulatedPlatform())
    runs = StoredRuns(store.database)
    for caller in ("", "r2", "r9"):
        with pytest.raises(ContextError, match="does not come from a run") as raised:
            runs.seen_by(caller, ANN).scope("r1")
        assert raised.value.code == "run_mismatch"


def test_a_run_that_goes_on_for_somebody_else_selects_nothing(store, begin) -> None:
    begin("r1")
    bob = Actor(org_id="acme", principal_id="bob")
    with pytest.raises(ContextError, match="continues for another person than") as raised:
        StoredRuns(store.database).seen_by("r1", bob).scope("r1")
    assert raised.value.code == "actor_unresolved"


MAY = {"selectsForOtherRuns": True}
ASKED = {"parentRunId": "parent", "parentPackageName": "@test/agent", "slotId": "brand"}


def test_what_a_flow_calls_itself_lets_it_select_for_nobody_else(store, begin) -> None:
    begin("parent")
    flow = declared()
    flow["metadata"]["cinatra"]["packageName"] = "@cinatra-ai/context-selection-agent"
    begin("r1", wired(flow))
    begin("r2", wired(flow), **MAY)
    runs = StoredRuns(store.database)
    with pytest.raises(ContextError, match="unless its host says selectsForOtherRuns") as raised:
        runs.seen_by("r1", ANN).scope("parent")
    assert raised.value.code == "run_mismatch"
    assert runs.seen_by("r2", ANN).scope("parent") == runs.scope("parent")


def test_a_run_selects_for_no_run_with_other_extensions(store, begin) -> None:
    ours = {"@x/h": [BRAND, "@x/more"], "@x/i": []}
    begin("parent", extensions=ours)
    begin("same", extensions={"@x/i": [], "@x/h": ["@x/more", BRAND]}, **MAY)
    begin("wider", extensions=ours | {"@x/odd": [BRAND]}, **MAY)
    begin("narrower", **MAY)
    begin("theirs", extensions=ours, **of("bob"))
    runs = StoredRuns(store.database)
    assert runs.seen_by("same", ANN).scope("parent") == runs.scope("parent")
    for caller in ("wider", "narrower"):
        with pytest.raises(ContextError, match="other installed extensions") as raised:
            runs.seen_by(caller, ANN).scope("parent")
        assert raised.value.code == "run_mismatch"
        # Of somebody else's run nothing is told, this neither.
        assert runs.seen_by(caller, ANN).scope("theirs") is None


@needs_agent
def test_the_selection_agent_selects_for_another_run_by_its_hosts_word(store, begin) -> None:
    spring = replace(HOUSE, id="spring", visibility="project:spring")
    ArtifactStore(store.database).load([spring])
    begin("parent", projectId="spring")
    without = begin("alone", str(AGENT), params=ASKED)
    assert "403 run_mismatch: a run selects context for itself" in without.error["message"]
    run = begin("chooser", str(AGENT), params=ASKED, **MAY)
    (gate_,) = run.waiting
    value = envelope(run, "spring")
    assert len(gate_.values["candidates"]) == 1
    store.answer("chooser", gate_.id, Decision.approve(by="ann", value=value))
    assert store.get("chooser").status == "completed"
    chosen = ArtifactStore(store.database)
    assert [(one.slot_id, one.artifact_id) for one in chosen.chosen_in("parent")] == [
        ("brand", "spring")
    ]
    assert chosen.chosen_in("chooser") == []


@needs_agent
@pytest.mark.parametrize(
    ("parent", "code"),
    [
        ({}, None),
        (of("bob"), "run_missing"),
        (of("ann", "other"), "run_missing"),
        ({"tenant": "t2"}, "run_missing"),
        ({"platform": SimulatedPlatform()}, "run_missing"),
        (None, "run_missing"),
    ],
    ids=["the same owner", "another person", "another organisation", "another tenant",
         "nobody's", "none"],
)  # fmt: skip
def test_the_selection_agent_learns_nothing_of_other_peoples_runs(
    begin, parent: Any, code: str | None
) -> None:
    if parent is not None:
        begin("parent", **parent)
    run = begin("chooser", str(AGENT), params=ASKED, **MAY)
    if code is None:
        assert run.status == "waiting"
        return
    assert run.status == "failed"
    assert f"404 {code}: there is no such run" in run.error["message"]


# -------------------------------------------------------------------- made again


def by_hand(store: RunStore) -> LocalPlatform:
    artifacts = ArtifactStore(store.database)
    return LocalPlatform(
        artifacts, settings().registry, FixedRuns({}), beyond=SimulatedPlatform()
    )  # fmt: skip


def test_another_store_goes_on_with_a_run_by_its_row_alone(store, begin, fresh_database) -> None:
    run = begin("r1")
    with RunStore.open(fresh_database) as other:
        assert other.flow("r1").platform.describe() == store.flow("r1").platform.describe()
        value = envelope(run, "house")
        done = other.answer("r1", run.waiting[0].id, Decision.approve(by="ann", value=value))
    assert done.status == "completed", done.error
    (chosen,) = ArtifactStore(store.database).chosen_in("r1")
    assert (chosen.slot_id, chosen.artifact_id, chosen.revision) == ("brand", "house", 1)
    assert (chosen.source_scope, chosen.selected_by) == ("organization", "user")
    assert chosen.package_name == "@test/agent"


def test_a_platform_is_remade_as_it_was_and_its_description_is_its_own(store) -> None:
    made = standalone(
        store.database, settings(extensions={"@x/h": [BRAND]}), beyond=SimulatedPlatform({"a": {}})
    )
    description = made.describe()
    assert description == {
        "kind": "local",
        "actor": {
            "orgId": "acme", "principalId": "ann", "teamIds": [], "projectIds": ["spring"],
            "isPlatformAdmin": False,
        },
        "extensions": {"@x/h": [BRAND]},
        "packages": {},
        "selectsForOtherRuns": False,
        "beyond": {"kind": "simulated", "stubs": {"a": {}}, "record": None},
    }  # fmt: skip
    again = remade(description, store.database, env={})
    assert isinstance(again.beyond, SimulatedPlatform)
    description["actor"]["orgId"] = "changed"
    assert made.describe() == again.describe() != description
    alone = remade(standalone(store.database, settings(), beyond=None).describe(), store.database, env={})  # fmt: skip
    assert alone.beyond is None


def test_secrets_are_no_part_of_a_description_and_come_from_the_environment(store) -> None:
    words = {"CINATRA_BRIDGE_TOKEN": "canary-word", "CINATRA_BASE_URL": "http://127.0.0.1:9"}
    with HttpPlatform("http://127.0.0.1:9", bridge_token="canary-word") as beyond:
        description = standalone(store.database, settings(), beyond=beyond).describe()
    assert "canary-word" not in json.dumps(description)
    again = remade(description, store.database, env=words).beyond
    assert isinstance(again, HttpPlatform)
    again.close()
    with pytest.raises(ValueError, match="CINATRA_BRIDGE_TOKEN, which this process lacks"):
        remade(description, store.database, env={"CINATRA_BASE_URL": "http://127.0.0.1:9"})


def test_a_setting_that_there_is_not_is_refused(store) -> None:
    description = standalone(store.database, settings(), beyond=None).describe()
    with pytest.raises(ValueError, match=r'"local" has no setting "zzz"; known are actor, beyond'):
        remade(description | {"zzz": 1}, store.database, env={})


def test_one_made_by_hand_is_not_made_again(store, begin, fresh_database) -> None:
    platform = by_hand(store)
    assert platform.describe() == {"kind": "local", "beyond": SimulatedPlatform().describe()}
    flow = flow_of(start(), gate("first"), end())
    begin("r1", flow, params={}, platform=platform)
    told = r"cannot be made again.*for any other one open the store with platform=…"
    with RunStore.open(fresh_database) as other, pytest.raises(StoreError, match=told):
        other.flow("r1")
    with RunStore.open(fresh_database, platform=platform) as other:
        assert other.flow("r1").platform is platform
