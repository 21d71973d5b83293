"""The local platform in process and over HTTP: the same requests, the same answers."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from local_world import (
    ANN,
    PACKAGE,
    REGISTRY,
    VOICE,
    body,
    call,
    envelope,
    fill,
    refs_of,
    scope,
    served,
    slot,
)

from cinatra_sdk.context import ContextError, ResolvedContextRef
from cinatra_sdk.host import FixedRuns, LocalPlatform, RunScope, local_app
from cinatra_sdk.outside.http_calls.description import platform_from
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import (
    Credentials,
    Platform,
    PlatformError,
    PlatformRefused,
    PlatformResponseError,
)
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore, LoadedArtifact
from cinatra_sdk.store.database import Database
from cinatra_sdk.testing import Result, drive
from oas_compiler import compile_flow

AGENT = (
    Path(__file__).resolve().parents[2].parent
    / "shared/corpus/cinatra/context-selection-agent"
)  # fmt: skip
KEY, TOKEN = "attest-key-0123", "run-token-0123"
needs_agent = pytest.mark.skipif(not AGENT.exists(), reason="the folder of real input is absent")
needs_server = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="the extra `server` is not installed"
)


@pytest.fixture
def artifacts(fresh_database: str):
    database = Database.open(fresh_database)
    store = ArtifactStore(database)
    fill(store)
    yield store
    database.close()


def local(store: ArtifactStore, *, beyond: Platform | None = None, **settings: Any) -> Any:
    run = settings.pop("run", None) or scope()
    return LocalPlatform(store, REGISTRY, FixedRuns({"r1": run}), beyond=beyond, **settings)


def finalizing(refs: Any, **changes: Any) -> dict[str, Any]:
    given = {"selectionMode": "interactive", "userResponse": envelope(refs)}
    return body(**(given | changes))


# --------------------------------------------------------------------- fall-through


def test_it_is_a_platform_and_describes_itself_without_its_key(artifacts):
    platform = local(artifacts, beyond=SimulatedPlatform(), attestation_key=KEY)
    assert isinstance(platform, Platform)
    assert platform.describe() == {"kind": "local", "beyond": SimulatedPlatform().describe()}
    assert KEY not in repr(platform) + repr(platform.__dict__)
    with pytest.raises(ValueError, match="for any other one open the store with platform=…"):
        platform_from(platform.describe(), env={})


BEYOND = ["/api/llm-bridge", "/api/context-resolve/more", "/api/context", ""]


@pytest.mark.parametrize("path", BEYOND)
def test_calls_it_has_no_route_for_go_on_as_they_are(artifacts, path):
    beyond = SimulatedPlatform({"draft": {"subject": "Hello"}})
    platform = local(artifacts, beyond=beyond)
    other = call("x", {"user": "hi"}, node="draft", url="{{CINATRA_BASE_URL}}" + path)
    assert platform.call(other) == {"subject": "Hello"}
    assert asyncio.run(platform.acall(other)) == {"subject": "Hello"}
    assert [made.url for made in beyond.calls] == [other.url] * 2


def test_a_route_of_another_origin_is_not_its_own(artifacts):
    beyond = SimulatedPlatform()
    url = "https://crm.example.com/api/context-resolve"
    local(artifacts, beyond=beyond).call(call("x", body(), url=url))
    assert [made.url for made in beyond.calls] == [url]


def test_without_a_platform_beyond_other_calls_are_refused_by_name(artifacts):
    other = call("llm-bridge", {}, node="draft")
    with pytest.raises(PlatformRefused, match=r'node "draft": .*/api/llm-bridge.*`beyond`'):
        local(artifacts).call(other)
    with pytest.raises(PlatformRefused, match="`beyond`"):
        asyncio.run(local(artifacts).acall(other))


@pytest.mark.parametrize("path", ["/api/context-resolve/", "/api/context%2Dresolve", "//api/context-resolve"])  # fmt: skip
def test_a_context_route_written_otherwise_is_never_simulated(artifacts, path):
    beyond = SimulatedPlatform()
    platform = local(artifacts, beyond=beyond)
    answer = platform.call(call("x", body(), url="{{CINATRA_BASE_URL}}" + path))
    assert len(answer["candidates"]) == 2
    assert beyond.calls == []


# ----------------------------------------------------------- in process, over HTTP


def test_it_answers_inside_a_running_loop_and_on_it(artifacts):
    platform = local(artifacts)

    async def both() -> list[Any]:
        resolving = call("context-resolve", body())
        return [platform.call(resolving), await platform.acall(resolving)]

    first, second = asyncio.run(both())
    assert first == second
    assert [ref["artifactId"] for ref in first["candidates"]] == ["a", "b"]


def test_an_error_carries_the_routes_code_and_status_and_names_the_url_as_written(artifacts):
    with pytest.raises(PlatformResponseError) as raised:
        local(artifacts).call(call("context-resolve", body(slotId="voices")))
    error = raised.value
    assert (error.status, error.code, error.node) == (404, "slot_missing", "resolve_context")
    assert "{{CINATRA_BASE_URL}}/api/context-resolve answered 404 slot_missing" in str(error)


def test_calls_are_signed_by_their_node_and_a_node_that_selects_nothing_is_refused(artifacts):
    platform = local(artifacts, attestation_key=KEY)
    assert platform.call(call("context-resolve", body()))["candidates"]
    for node, code in {
        "draft": "attestation_node_unrecognized",
        "finalize_interactive": "attestation_kind_mismatch",
        "ctx-tone-resolve_context": "attestation_slot_mismatch",
    }.items():
        with pytest.raises(PlatformResponseError) as raised:
            platform.call(call("context-resolve", body(), node=node))
        assert raised.value.code == code
    with pytest.raises(PlatformResponseError) as raised:
        platform.call(call("context-resolve", body(), context_id=""))
    assert raised.value.code == "attestation_context_required"


@pytest.mark.parametrize("name", ["X-Cinatra-Run-Token", "x_cinatra_run_token"])
def test_a_header_that_an_author_writes_proves_nothing(artifacts, name):
    platform = local(artifacts, run=scope(run_token=TOKEN))
    with pytest.raises(PlatformRefused, match="only the host sets"):
        platform.call(call("context-resolve", body(), headers={name: TOKEN}))
    with pytest.raises(PlatformResponseError) as raised:
        platform.call(call("context-resolve", body()))
    assert raised.value.code == "context_unresolved"
    true = call("context-resolve", body(), credentials=Credentials(run_token=TOKEN))
    assert platform.call(true)["candidates"]


def outcome(platform: Platform, asked: Any) -> Any:
    try:
        return platform.call(asked)
    except PlatformError as error:
        return type(error), error.status, error.code, str(error).partition(" answered ")[2]


@needs_server
def test_over_http_every_call_gets_the_answer_that_it_gets_in_process(artifacts):
    run = scope(run_token=TOKEN, context_id="c1")
    runs = FixedRuns({"r1": run, "r0": scope(org_id="")})
    app = local_app(artifacts, REGISTRY, runs, bridge_token="bridge-0123", attestation_key=KEY)
    inside = LocalPlatform(artifacts, REGISTRY, runs, beyond=None, attestation_key=KEY)
    token = {"credentials": Credentials(run_token=TOKEN)}
    refs = refs_of(artifacts, "a", "b")
    asked = [
        call("context-resolve", body(), **token),
        call("context-resolve", body(projectId="p1"), **token),
        call("context-resolve", body(slotId="tone"), **token),
        call("context-resolve", body(slotId="ä\u2028"), **token),
        call("context-resolve", body(slotId=TOKEN), **token),
        call("context-resolve", body()),
        call("context-resolve", body(), **(token | {"context_id": "c2"})),
        call("context-resolve", body(), **(token | {"node": "draft"})),
        call("context-resolve", body(extra=1), **token),
        call("context-resolve", None, **token),
        call("context-resolve", body(parentRunId="r0"), **token),
        call("context-resolve", body(), method="GET", **token),
        call("context-finalize", finalizing([]), **token),
        call("context-finalize", finalizing(refs, userResponse="{"), **token),
        call("context-finalize", finalizing(refs), **token),
        call("context-finalize", finalizing(refs), **token),
    ]
    with served(app) as base, HttpPlatform(base, bridge_token="bridge-0123", attestation_key=KEY) as outside:  # fmt: skip
        over_http = [outcome(outside, each) for each in asked]
        with HttpPlatform(base, bridge_token="bridge-9999", attestation_key=KEY) as stranger:
            assert outcome(stranger, asked[0])[1:3] == (403, "forbidden")
    in_process = [outcome(inside, each) for each in asked]
    assert over_http[-2].pop("wrote") is True
    assert in_process[-2].pop("wrote") is False
    assert over_http == in_process
    assert [each[2] for each in over_http if isinstance(each, tuple)] == [
        "slot_missing", "slot_missing", "context_unresolved", "run_mismatch",
        "attestation_node_unrecognized", "invalid_body", "invalid_body", "run_unscoped",
        "method_not_allowed", "below_min_items", "bad_envelope",
    ]  # fmt: skip
    assert TOKEN not in json.dumps(over_http, default=str)


# ------------------------------------------------------ the public selection agent


def select(platform: Platform, slot_id: str, answers: Any = None) -> Result:
    params = {"parentRunId": "r1", "parentPackageName": PACKAGE, "slotId": slot_id}
    return drive(compile_flow(AGENT), params, answers=answers, platform=platform)


def audit(store: ArtifactStore) -> list[tuple[str, ...]]:
    return [
        (row.slot_id, row.triple.artifact_id, row.selection_mode, row.selected_by)
        for row in store.selections("o1", "r1")
    ]


@needs_agent
def test_the_public_agent_asks_a_person_and_binds_what_is_picked(artifacts):
    (b,) = refs_of(artifacts, "b")
    result = select(
        local(artifacts, attestation_key=KEY), "voice", {"context_select_gate": envelope([b])}
    )
    assert result.status == "completed", result.error
    assert result.outputs == {"contextSlotBindings": [{"slotId": "voice", "refs": [b]}]}
    assert [gate.node for gate in result.gates] == ["context_select_gate"]
    shown = json.loads(result.messages[0])
    assert [ref["artifactId"] for ref in shown["candidates"]] == ["a", "b"]
    assert audit(artifacts) == [("voice", "b", "interactive", "user")]


@needs_agent
@pytest.mark.parametrize(("slot_id", "chosen"), [("tone", ["a"]), ("all", ["a", "b"])])
def test_the_public_agent_binds_an_autonomous_slot_without_a_gate(artifacts, slot_id, chosen):
    result = select(local(artifacts, attestation_key=KEY), slot_id)
    assert result.status == "completed", result.error
    refs = refs_of(artifacts, *chosen)
    assert result.outputs == {"contextSlotBindings": [{"slotId": slot_id, "refs": refs}]}
    assert result.gates == ()
    assert audit(artifacts) == [(slot_id, id_, "autonomous", "autonomous") for id_ in chosen]


def poor() -> RunScope:
    """A run whose slots accept what nobody has."""
    nothing = {"acceptedArtifactExtensions": ["@x/nothing"]}
    return RunScope(
        org_id="o1",
        actor=ANN,
        package_name=PACKAGE,
        slots=(
            slot(**nothing),
            slot(slotId="tone", selectionMode="autonomous", **nothing),
        ),
    )


@needs_agent
@pytest.mark.parametrize(
    ("slot_id", "number"), [("voice", "0 can be chosen"), ("tone", "0 were chosen of 0")]
)
def test_too_few_artifacts_stop_the_agent_with_the_slots_own_words_in_both_modes(
    artifacts, slot_id, number
):
    result = select(local(artifacts, run=poor()), slot_id)
    assert result.status == "failed"
    assert result.gates == ()
    assert f'the slot "{slot_id}" needs at least 1, {number}' in str(result.error)
    assert "below_min_items" in str(result.error)
    assert audit(artifacts) == []


@needs_agent
@needs_server
def test_the_public_agent_runs_over_http_as_it_does_in_process(artifacts):
    (b,) = refs_of(artifacts, "b")
    answers = {"context_select_gate": envelope([b])}
    app = local_app(artifacts, REGISTRY, FixedRuns({"r1": scope()}))
    with served(app) as base, HttpPlatform(base) as outside:
        over_http = [select(outside, "voice", answers), select(outside, "tone")]
    in_process = [select(local(artifacts), "voice", answers), select(local(artifacts), "tone")]
    assert [result.status for result in over_http] == ["completed", "completed"]
    for there, here in zip(over_http, in_process, strict=True):
        assert there.outputs == here.outputs
        assert there.messages == here.messages
        assert [made.body for made in there.calls] == [made.body for made in here.calls]
    assert audit(artifacts) == [
        ("voice", "b", "interactive", "user"),
        ("tone", "a", "autonomous", "autonomous"),
    ]


# ------------------------------------------------------------------------- withdrawn


class _Raises:
    """A directory that cannot tell whose a run is."""

    def scope(self, run_id: str) -> RunScope:
        raise ContextError("slot_ambiguous", "two slots")


def offered(platform: Any, run_id: str = "r1") -> Any:
    answer = platform.call(call("context-resolve", body(parentRunId=run_id), run_id=run_id))
    return [ResolvedContextRef.model_validate(ref).triple for ref in answer["candidates"]]


def test_what_a_run_was_offered_and_is_gone_is_withdrawn(artifacts):
    platform = local(artifacts)
    triples = offered(platform)
    assert [triple.artifact_id for triple in triples] == ["a", "b"]
    assert platform.withdrawn("r1", triples) == ()
    artifacts.delete("b")
    assert platform.withdrawn("r1", triples) == ("b",)
    assert platform.withdrawn("r1", triples[:1]) == ()


def test_what_another_run_was_offered_is_not_judged(artifacts):
    # The run that is selected for may be of an owner with other teams.
    runs = FixedRuns({"r1": scope(), "r2": scope()})
    platform = LocalPlatform(artifacts, REGISTRY, runs, beyond=None)
    triples = offered(platform)
    artifacts.delete("a")
    artifacts.delete("b")
    assert platform.withdrawn("r2", triples) == ()
    assert platform.withdrawn("r1", triples) == ("a", "b")


def test_what_the_run_has_chosen_before_is_not_judged(artifacts):
    platform = local(artifacts)
    triples = offered(platform)
    (ref,) = refs_of(artifacts, "a")
    platform.call(call("context-finalize", finalizing([ref])))
    artifacts.delete("a")
    artifacts.delete("b")
    assert platform.withdrawn("r1", triples) == ("b",)
    # As finalizing it has it, too.
    assert platform.call(call("context-finalize", finalizing([ref])))["wrote"] is False


@pytest.mark.parametrize(
    ("project", "id_", "moved_to"),
    [("", "a", "project:p1"), ("p1", "p", "org")],
    ids=["into a project", "out of one"],
)
def test_what_was_moved_into_a_project_or_out_of_one_is_withdrawn(
    artifacts, fresh_database, project, id_, moved_to
):
    artifacts.delete("b")  # the slot takes two at most
    platform = local(artifacts, run=scope(project_id=project))
    triples = offered(platform)
    assert id_ in [triple.artifact_id for triple in triples]
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        connection.execute("update objects set visibility = %s where id = %s", [moved_to, id_])
    assert platform.withdrawn("r1", triples) == (id_,)
    # Offered again as it is now, it may be chosen, in whichever of the two it was.
    again = local(artifacts, run=scope(project_id="" if project else "p1"))
    assert id_ in [triple.artifact_id for triple in offered(again)]
    assert platform.withdrawn("r1", triples) == ()


def test_no_artifact_is_a_projects_by_its_owner(artifacts, fresh_database):
    about = {"org_id": "o1", "owner_id": "ann", "visibility": "private", "owner_level": "project"}
    with pytest.raises(ContextError, match='"c" has the owner level "project"'):
        artifacts.add(artifact_id="c", **about)
    with pytest.raises(ContextError, match="give it the visibility project:ID"):
        artifacts.load([LoadedArtifact(id="c", extensions=(VOICE,), content="", **about)])
    with (
        psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection,
        pytest.raises(psycopg.errors.CheckViolation),
    ):
        connection.execute("update objects set owner_level = 'project' where id = 'a'")


@pytest.mark.parametrize(
    "runs",
    [
        FixedRuns({}),
        FixedRuns({"r1": scope(actor=None)}),
        FixedRuns({"r1": scope(org_id="o2")}),
        _Raises(),
    ],
    ids=["no such run", "nobody's", "of another organisation", "unreadable"],
)
def test_of_a_run_whose_owner_is_not_known_nothing_is_withdrawn(artifacts, runs):
    triples = offered(local(artifacts))
    artifacts.delete("a")
    assert LocalPlatform(artifacts, REGISTRY, runs, beyond=None).withdrawn("r1", triples) == ()
