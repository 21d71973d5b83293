"""Choosing from what was planned: the token of a resolve, carried by a finalize."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from local_world import (
    NOW,
    PACKAGE,
    REGISTRY,
    SLOTS,
    VOICE,
    ask,
    body,
    envelope,
    fill,
    refs_of,
    scope,
    slot,
)

from cinatra_sdk.context import Actor
from cinatra_sdk.host import FixedRuns, LocalPlatform, RunScope, local_app
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.artifacts.selections import ContextPlan
from cinatra_sdk.store.database import Database
from cinatra_sdk.testing import drive
from oas_compiler import check, compile_flow

AGENT = (
    Path(__file__).resolve().parents[2].parent
    / "shared/corpus/cinatra/context-selection-agent/cinatra/oas.json"
)  # fmt: skip
needs_agent = pytest.mark.skipif(not AGENT.exists(), reason="the folder of real input is absent")


@pytest.fixture
def artifacts(fresh_database: str):
    database = Database.open(fresh_database)
    store = ArtifactStore(database)
    fill(store)
    yield store
    database.close()


def app(store: ArtifactStore, run: RunScope | None = None, **runs: RunScope) -> Any:
    directory = FixedRuns({"r1": run or scope(), **runs})
    return local_app(store, REGISTRY, directory, clock=lambda: NOW)


def resolve(local: Any, slot_id: str = "voice", **changes: Any) -> Any:
    status, answer = ask(local, "context-resolve", body(slotId=slot_id, **changes))
    assert status == 200, answer
    return answer


def finalize(local: Any, refs: Any, slot_id: str = "voice", **changes: Any) -> tuple[int, Any]:
    chosen = next(each for each in SLOTS if each.slot_id == slot_id)
    text = envelope(refs, slotId=slot_id, resolutionMode=chosen.resolution_mode)
    given = {"slotId": slot_id, "selectionMode": chosen.selection_mode, "userResponse": text}
    return ask(local, "context-finalize", body(**(given | changes)))


def plans(dsn: str) -> list[tuple[str, Any]]:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as connection:
        return connection.execute(
            "select token, refs from context_plans order by planned_at"
        ).fetchall()


def ids(refs: list[dict[str, str]]) -> list[str]:
    return [ref["artifactId"] for ref in refs]


# ------------------------------------------------------------------------ resolving


@pytest.mark.parametrize(
    ("slot_id", "planned"),
    [("voice", ["a", "b"]), ("pick", ["a", "b"]), ("tone", ["a"]), ("all", ["a", "b"])],
)
def test_what_is_planned_is_what_a_person_may_pick_or_what_the_agent_takes(
    artifacts, slot_id, planned
):
    answer = resolve(app(artifacts), slot_id)
    assert ids(answer["plannedRefs"]) == planned
    assert finalize(app(artifacts), answer["plannedRefs"][:1], slot_id,
                    allocationToken=answer["allocationToken"])[0] == 200  # fmt: skip


def test_resolving_again_gives_the_same_token_and_writes_no_further_plan(artifacts, fresh_database):
    first = resolve(app(artifacts))
    assert resolve(app(artifacts)) == first
    assert plans(fresh_database) == [(first["allocationToken"], first["plannedRefs"])]
    artifacts.revise("a", "changed")
    second = resolve(app(artifacts))
    assert second["allocationToken"] != first["allocationToken"]
    assert [token for token, _ in plans(fresh_database)] == [
        first["allocationToken"],
        second["allocationToken"],
    ]


def test_a_token_names_all_of_the_plan_and_the_order_of_its_refs(artifacts):
    (a, b) = artifacts.resolve(scope().actor, slot(), REGISTRY).candidates
    given: dict[str, Any] = {
        "org_id": "o1", "parent_run_id": "r1", "parent_package_name": PACKAGE, "slot_id": "voice",
        "refs": (a, b),
    }  # fmt: skip
    changes: list[dict[str, Any]] = [
        {"org_id": "o2"}, {"parent_run_id": "r2"}, {"parent_package_name": "@x/other"},
        {"slot_id": "tone"}, {"refs": (b, a)}, {"refs": (a,)}, {"refs": ()},
        {"refs": (a.model_copy(update={"representation_revision_id": "r"}), b)},
        {"refs": (a.model_copy(update={"semantic_assertion_id": "s"}), b)},
        {"refs": (a.model_copy(update={"source_scope": "team"}), b)},
    ]  # fmt: skip
    tokens = [ContextPlan(**(given | change)).token for change in changes]
    assert len({*tokens, ContextPlan(**given).token}) == len(changes) + 1
    assert ContextPlan(**given).token == ContextPlan(**given).token


class OneConnection(Database):
    """A database whose one connection is not checked each time it is taken."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def connection(self) -> Any:
        return nullcontext(self._rows)


def test_a_resolve_is_one_reading_statement_and_one_that_keeps_the_plan(artifacts, tmp_path):
    with artifacts._database.connection() as rows, (tmp_path / "sent").open("w+") as file:
        local = app(ArtifactStore(OneConnection(rows)))
        resolve(local)  # prepares the statements
        rows.pgconn.trace(file.fileno())
        resolve(local)
        rows.pgconn.untrace()
        file.seek(0)
        sent = [parts[3] for line in file if len(parts := line.rstrip("\n").split("\t")) > 3
                and parts[1] == "F"]  # fmt: skip
    assert sent.count("Execute") == sent.count("Sync") == 2
    assert sent.count("Query") == sent.count("Parse") == 0


def age(dsn: str, token: str, days: int) -> None:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as connection:
        connection.execute(
            "update context_plans set planned_at = now() - make_interval(days => %s)"
            " where token = %s", [days, token],
        )  # fmt: skip


def test_plans_of_old_are_forgotten_and_the_younger_ones_and_the_selections_stay(
    artifacts, fresh_database
):
    old, young = resolve(app(artifacts)), resolve(app(artifacts), "pick")
    a, b = old["plannedRefs"]
    assert finalize(app(artifacts), [a], allocationToken=old["allocationToken"])[0] == 200
    age(fresh_database, old["allocationToken"], 40)
    age(fresh_database, young["allocationToken"], 20)
    moment = datetime.now(UTC) - timedelta(days=30)
    assert [artifacts.forget_plans(before=moment) for _ in range(2)] == [1, 0]
    assert [token for token, _ in plans(fresh_database)] == [young["allocationToken"]]
    assert len(artifacts.selections("o1", "r1")) == 1
    late = finalize(app(artifacts), [b], allocationToken=old["allocationToken"])
    assert (late[0], late[1]["error"]) == (409, "selection_incoherent")
    token = young["allocationToken"]
    assert finalize(app(artifacts), [a], "pick", allocationToken=token)[0] == 200


def test_what_is_offered_again_is_not_forgotten_with_its_first_offer(artifacts, fresh_database):
    first = resolve(app(artifacts))
    age(fresh_database, first["allocationToken"], 40)
    assert resolve(app(artifacts)) == first
    moment = datetime.now(UTC) - timedelta(days=30)
    assert artifacts.forget_plans(before=moment) == 0
    assert len(plans(fresh_database)) == 1


def test_a_moment_without_a_time_zone_forgets_nothing(artifacts, fresh_database):
    resolve(app(artifacts))
    with pytest.raises(ValueError, match="time zone"):
        artifacts.forget_plans(before=datetime(2100, 1, 1))  # noqa: DTZ001
    assert len(plans(fresh_database)) == 1
    assert artifacts.forget_plans(before=datetime(2100, 1, 1, tzinfo=UTC)) == 1


# ----------------------------------------------------------------------- finalizing


def test_what_a_person_was_shown_is_pinned_though_it_was_revised_while_the_gate_waited(artifacts):
    answer = resolve(app(artifacts))
    a = answer["plannedRefs"][0]
    newer = artifacts.revise("a", "changed")
    assert finalize(app(artifacts), [a])[1]["error"] == "ref_not_in_candidates"
    token = answer["allocationToken"]
    status, bound = finalize(app(artifacts), [a], allocationToken=token)
    assert (status, bound["wrote"]) == (200, True)
    assert bound["contextSlotBindings"] == [{"slotId": "voice", "refs": [a]}]
    (row,) = artifacts.selections("o1", "r1")
    assert row.triple.representation_revision_id == a["representationRevisionId"] != newer
    assert artifacts.content(row.triple.representation_revision_id) == "a"
    assert finalize(app(artifacts), [a], allocationToken=token) == (200, bound | {"wrote": False})


@pytest.mark.parametrize("holds", [False, True], ids=["token", "held offer"])
@pytest.mark.parametrize("extension", [VOICE, "@x/house-voice"])
def test_a_classification_that_was_withdrawn_is_refused_though_the_artifact_has_another(
    artifacts, extension, holds
):
    local = holding(artifacts, holds=holds)
    answer = resolve(local)
    token = "" if holds else answer["allocationToken"]
    a, b = answer["plannedRefs"]
    artifacts.archive(a["semanticAssertionId"])
    artifacts.classify("a", extension)
    artifacts.revise("b", "changed")
    status, refused = finalize(local, [a], allocationToken=token)
    assert (status, refused["error"]) == (422, "ref_not_in_candidates")
    assert artifacts.selections("o1", "r1") == []
    assert finalize(local, [b], allocationToken=token)[0] == 200


GONE = {
    "deleted": "update objects set deleted_at = now() where id = 'a'",
    "private of another": "update objects set visibility = 'private' where id = 'a'",
    "of another team": "update objects set visibility = 'team:t9' where id = 'a'",
    "moved into a project": "update objects set visibility = 'project:p1' where id = 'a'",
    "not what the slot accepts": "update semantic_assertions set eligibility = 'archived'"
    " where artifact_id = 'a'",
}


@pytest.mark.parametrize("statement", GONE.values(), ids=GONE)
def test_what_the_owner_may_not_have_any_more_is_refused_with_a_token_too(
    artifacts, fresh_database, statement
):
    answer = resolve(app(artifacts))
    a, b = answer["plannedRefs"]
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        connection.execute(statement)
    token = answer["allocationToken"]
    for refs in ([a], [a, b]):
        status, refused = finalize(app(artifacts), refs, allocationToken=token)
        assert (status, refused["error"]) == (422, "ref_not_in_candidates")
    assert artifacts.selections("o1", "r1") == []
    assert finalize(app(artifacts), [b], allocationToken=token)[0] == 200


def test_what_newcomers_push_out_of_the_candidates_may_still_be_chosen(artifacts):
    # Beyond the narrowest scope: that is not about what was shown before.
    shown = resolve(app(artifacts), "pick")
    artifacts.add(artifact_id="1", org_id="o1", owner_id="bob", visibility="team:t1", content="1")
    artifacts.classify("1", VOICE)
    assert ids(resolve(app(artifacts), "pick")["candidates"]) == ["1"]
    b = shown["plannedRefs"][1]
    assert finalize(app(artifacts), [b], "pick")[1]["error"] == "ref_not_in_candidates"
    token = shown["allocationToken"]
    assert finalize(app(artifacts), [b], "pick", allocationToken=token)[0] == 200


def test_what_was_not_planned_is_refused_though_it_is_a_candidate_now(artifacts):
    answer = resolve(app(artifacts))
    artifacts.revise("a", "changed")
    (newer,) = refs_of(artifacts, "a")
    token = answer["allocationToken"]
    status, refused = finalize(app(artifacts), [newer], allocationToken=token)
    assert (status, refused["error"]) == (422, "ref_not_in_candidates")
    assert finalize(app(artifacts), [newer])[0] == 200


def test_an_autonomous_slot_may_take_what_was_preselected_and_nothing_else_of_the_candidates(
    artifacts,
):
    answer = resolve(app(artifacts), "tone")
    a, b = answer["candidates"]
    token = answer["allocationToken"]
    status, refused = finalize(app(artifacts), [b], "tone", allocationToken=token)
    assert (status, refused["error"]) == (422, "ref_not_in_candidates")
    assert finalize(app(artifacts), [a], "tone", allocationToken=token)[0] == 200


NO_TOKENS = [
    "0" * 64, "x", "0" * 64 + "\n", "ä" * 64, "' or true --", "%(token)s",
]  # fmt: skip


@pytest.mark.parametrize("token", NO_TOKENS)
def test_a_token_that_names_no_plan_is_refused_with_a_sentence(artifacts, token):
    refs = refs_of(artifacts, "a")
    status, refused = finalize(app(artifacts), refs, allocationToken=token)
    assert (status, refused["error"]) == (409, "selection_incoherent")
    assert refused["message"].startswith("the allocationToken is not one of this run for the slot")
    assert artifacts.selections("o1", "r1") == []


def test_a_token_that_no_database_takes_is_refused_with_the_body(artifacts):
    status, refused = finalize(app(artifacts), refs_of(artifacts, "a"), allocationToken="\x00")
    assert (status, refused["error"]) == (400, "invalid_body")
    assert artifacts.selections("o1", "r1") == []


def test_a_token_of_another_run_package_slot_or_organisation_is_refused(artifacts):
    twin, child = slot(slotId="twin"), "@x/drafts"
    run = scope(slots=(*SLOTS, twin), embedded={child: SLOTS})
    local = app(artifacts, run, r2=scope())
    elsewhere = {
        "run": resolve(local, parentRunId="r2"),
        "slot": resolve(local, "twin"),
        "package": resolve(local, parentPackageName=child),
    }
    own = resolve(local)
    assert {json.dumps(answer["plannedRefs"]) for answer in elsewhere.values()} == {
        json.dumps(own["plannedRefs"])
    }
    refs = own["plannedRefs"]
    for answer in elsewhere.values():
        status, refused = finalize(local, refs, allocationToken=answer["allocationToken"])
        assert (status, refused["error"]) == (409, "selection_incoherent")
    moved = app(artifacts, scope(org_id="o2", actor=Actor(org_id="o2", principal_id="ann")))
    token = own["allocationToken"]
    assert finalize(moved, refs, allocationToken=token)[1]["error"] == "selection_incoherent"
    assert artifacts.selections("o1", "r1") == []
    assert finalize(local, refs, allocationToken=token)[0] == 200


def test_a_wrong_token_is_refused_though_exactly_the_selection_is_recorded(artifacts):
    own = resolve(app(artifacts))
    refs = own["plannedRefs"]
    assert finalize(app(artifacts), refs)[0] == 200
    assert finalize(app(artifacts), refs, allocationToken="0" * 64)[0] == 409
    again = finalize(app(artifacts), refs, allocationToken=own["allocationToken"])
    assert (again[0], again[1]["wrote"]) == (200, False)


@pytest.mark.parametrize("token", ["", "  ", None])
def test_an_empty_token_is_none(artifacts, token):
    (a,) = refs_of(artifacts, "a")
    artifacts.revise("a", "changed")
    refused = finalize(app(artifacts), [a], allocationToken=token)
    assert refused[1]["error"] == "ref_not_in_candidates"
    assert finalize(app(artifacts), refs_of(artifacts, "a"), allocationToken=token)[0] == 200


@pytest.mark.parametrize("token", [7, ["0" * 64], {}, "0" * 1025])
def test_a_token_of_another_type_or_without_end_is_no_body(artifacts, token):
    refs = refs_of(artifacts, "a")
    status, refused = finalize(app(artifacts), refs, allocationToken=token)
    assert (status, refused["error"]) == (400, "invalid_body")
    status, refused = ask(app(artifacts), "context-resolve", body(allocationToken=""))
    assert (status, refused["error"]) == (400, "invalid_body")


def test_the_numbers_of_the_slot_count_with_a_token_too(artifacts):
    answer = resolve(app(artifacts))
    token = answer["allocationToken"]
    assert finalize(app(artifacts), [], allocationToken=token)[1]["error"] == "below_min_items"
    one = resolve(app(artifacts), "pick")
    refused = finalize(
        app(artifacts), one["plannedRefs"], "pick", allocationToken=one["allocationToken"]
    )
    assert refused[1]["error"] == "override_multi_select"


def test_an_artifact_that_goes_while_it_is_recorded_leaves_nothing_behind(artifacts):
    answer = resolve(app(artifacts))

    class Overtaken(ArtifactStore):
        def resolve(self, *given: Any) -> Any:
            found = super().resolve(*given)
            self.delete("a")
            return found

    local = app(Overtaken(artifacts._database))
    status, refused = finalize(
        local, answer["plannedRefs"], allocationToken=answer["allocationToken"]
    )
    assert (status, refused["error"]) == (409, "selection_incoherent")
    assert artifacts.selections("o1", "r1") == []


# ------------------------------------------- the public agent, wired as newer hosts do


def newer() -> dict[str, Any]:
    """The public selection agent with `plannedRefs` for candidates and selectedRefs, and the token."""
    flow = json.loads(AGENT.read_text(encoding="utf-8"))
    parts = flow["$referenced_components"]
    planned = {
        "title": "plannedRefs",
        "type": "array",
        "json_schema": {"items": {"type": "object"}},
    }
    token = {"title": "allocationToken", "type": "string", "default": ""}
    parts["resolve_context"]["outputs"] += [planned, token]
    for node in ("finalize_interactive", "finalize_autonomous"):
        parts[node]["inputs"].append(token)
        parts[node]["data"]["allocationToken"] = "{{ allocationToken }}"
        flow["data_flow_connections"].append(edge("allocationToken", node))
    instead(parts["emit_context_payload"], "inputs", ("candidates", "selectedRefs"), planned)
    parts["emit_context_payload"]["message"] = (
        "{# pyagentspec-input-hint (do not remove): {{ plannedRefs }} {{ slotMeta }} #}"
        '{"candidates":{{ plannedRefs | tojson }},"slotMeta":{{ slotMeta | tojson }}}'
    )
    instead(parts["finalize_autonomous"], "inputs", ("selectedRefs",), planned)
    parts["finalize_autonomous"]["data"]["userResponse"] = (
        "{# pyagentspec-input-hint (do not remove):"
        " {{ slotId }} {{ resolutionMode }} {{ plannedRefs }} #}"
        '{"slotId":{{ slotId | tojson }},"resolutionMode":{{ resolutionMode | tojson }},'
        '"selectedRefs":{{ plannedRefs | tojson }}}'
    )
    replaced = [
        each for each in flow["data_flow_connections"]
        if each["source_output"] not in ("candidates", "selectedRefs")
    ]  # fmt: skip
    used = ("emit_context_payload", "finalize_autonomous")
    flow["data_flow_connections"] = replaced + [edge("plannedRefs", node) for node in used]
    return flow


def edge(title: str, node: str) -> dict[str, Any]:
    return {
        "component_type": "DataFlowEdge",
        "name": f"resolve_{title}_to_{node}",
        "source_node": {"$component_ref": "resolve_context"},
        "source_output": title,
        "destination_node": {"$component_ref": node},
        "destination_input": title,
    }


def instead(node: dict[str, Any], key: str, titles: tuple[str, ...], port: dict[str, Any]) -> None:
    node[key] = [each for each in node[key] if each["title"] not in titles] + [port]


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """A folder with the changed agent."""
    (tmp_path / "cinatra").mkdir()
    (tmp_path / "cinatra/oas.json").write_text(json.dumps(newer()), encoding="utf-8")
    manifest = AGENT.parents[1] / "package.json"
    (tmp_path / "package.json").write_bytes(manifest.read_bytes())
    return tmp_path


def select(store: ArtifactStore, agent: Path, slot_id: str, answers: Any = None) -> Any:
    platform = LocalPlatform(
        store, REGISTRY, FixedRuns({"r1": scope()}), beyond=None, attestation_key="attest-key-0123"
    )
    params = {"parentRunId": "r1", "parentPackageName": PACKAGE, "slotId": slot_id}
    return drive(compile_flow(agent), params, answers=answers, platform=platform)


@needs_agent
def test_a_flow_that_goes_on_with_what_was_planned_has_the_findings_of_the_public_one(agent):
    assert [found.code for found in check(agent)] == [
        found.code for found in check(AGENT.parents[1])
    ]


@needs_agent
def test_a_flow_that_goes_on_with_what_was_planned_runs_with_a_person(artifacts, agent):
    (b,) = refs_of(artifacts, "b")

    def pick(gate: Any) -> str:
        artifacts.revise("b", "changed while the gate waited")
        return envelope([b])

    result = select(artifacts, agent, "voice", pick)
    assert result.status == "completed", result.error
    assert result.outputs == {"contextSlotBindings": [{"slotId": "voice", "refs": [b]}]}
    assert ids(json.loads(result.messages[0])["candidates"]) == ["a", "b"]
    (row,) = artifacts.selections("o1", "r1")
    assert artifacts.content(row.triple.representation_revision_id) == "b"


@needs_agent
@pytest.mark.parametrize(("slot_id", "chosen"), [("tone", ["a"]), ("all", ["a", "b"])])
def test_a_flow_that_goes_on_with_what_was_planned_runs_without_a_person(
    artifacts, agent, slot_id, chosen
):
    refs = refs_of(artifacts, *chosen)
    result = select(artifacts, agent, slot_id)
    assert result.status == "completed", result.error
    assert result.outputs == {"contextSlotBindings": [{"slotId": slot_id, "refs": refs}]}
    assert result.gates == ()
    finalized = result.calls[-1].body
    assert len(finalized["allocationToken"]) == 64


# -------------------------------------------------- a host that holds what it offered


def holding(store: ArtifactStore, run: RunScope | None = None, *, holds: bool = True) -> Any:
    directory = FixedRuns({"r1": run or scope(), "r2": scope()})
    return local_app(store, REGISTRY, directory, clock=lambda: NOW, holds_offers=holds)


def test_without_a_token_a_host_that_holds_its_offers_takes_what_was_shown(artifacts):
    shown = resolve(holding(artifacts))["candidates"]
    artifacts.revise("a", "newer")
    status, answer = finalize(holding(artifacts, holds=False), shown[:1])
    assert (status, answer["error"]) == (422, "ref_not_in_candidates")
    status, answer = finalize(holding(artifacts), shown[:1])
    assert (status, answer["contextSlotBindings"][0]["refs"]) == (200, shown[:1])


def test_what_was_offered_last_counts_so_that_no_batch_has_two_revisions_of_one_artifact(artifacts):
    local = holding(artifacts)
    first = resolve(local)["candidates"]
    artifacts.revise("a", "newer")
    second = resolve(local)["candidates"]
    assert first[0] != second[0]
    both = finalize(local, [first[0], second[0]])
    assert both[1]["error"] == "ref_not_in_candidates"
    assert finalize(local, [first[0]])[1]["error"] == "ref_not_in_candidates"
    assert finalize(local, [second[0]])[0] == 200


def test_what_was_offered_and_is_gone_or_was_offered_to_another_run_is_refused(artifacts):
    local = holding(artifacts)
    shown = resolve(local)["candidates"]
    artifacts.delete("a")
    assert finalize(local, shown[:1])[1]["error"] == "ref_not_in_candidates"
    assert finalize(local, shown[1:2])[0] == 200
    artifacts.revise("b", "newer")
    resolve(local, parentRunId="r2")
    old = finalize(local, shown[1:2], parentRunId="r2")
    assert old[1]["error"] == "ref_not_in_candidates"


def test_a_run_that_was_offered_nothing_is_held_to_the_candidates_of_the_moment(artifacts):
    local = holding(artifacts)
    assert finalize(local, refs_of(artifacts, "a"))[0] == 200
    invented = [{**refs_of(artifacts, "a")[0], "representationRevisionId": "rev_9"}]
    assert finalize(local, invented)[1]["error"] == "ref_not_in_candidates"
