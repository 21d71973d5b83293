"""The context routes: every code with the call that earns it and the twin that does not."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
import pytest
from local_world import (
    ANN,
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
    signed,
    slot,
)

from cinatra_sdk.context import Actor, read_slots
from cinatra_sdk.context.selection_errors import STATUS
from cinatra_sdk.host import (
    BearerIdentity,
    FixedRuns,
    ParentSelection,
    RunScope,
    local_app,
)
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database

BRIDGE, KEY, TOKEN = "bridge-token-0123", "attest-key-0123", "run-token-0123"
BEARER = "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl"
OTHERS = Actor(org_id="o2", principal_id="ann")


@pytest.fixture
def artifacts(fresh_database: str):
    database = Database.open(fresh_database)
    store = ArtifactStore(database)
    fill(store)
    yield store
    database.close()


def app(store: ArtifactStore, run: RunScope | None = None, **settings: Any) -> Any:
    return local_app(
        store, REGISTRY, FixedRuns({"r1": run or scope()}), clock=lambda: NOW, **settings
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """One mistake: what is set up for both calls, what is wrong in one and right in its twin."""

    code: str
    route: str = "context-resolve"
    settings: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, Any] = field(default_factory=dict)
    right: dict[str, Any] = field(default_factory=dict)
    wrong_run: dict[str, Any] = field(default_factory=dict)
    wrong_settings: dict[str, Any] = field(default_factory=dict)


RESOLVES, FINALIZES = signed("ctx-voice-resolve_context"), signed("ctx-voice-finalize_interactive")
SIGNED = {"settings": {"attestation_key": KEY}, "right": {"headers": RESOLVES}}
FINALIZE = {"route": "context-finalize"}


def bearer(text: str) -> dict[str, Any]:
    return {"headers": {"Authorization": text}}


ANNS = BearerIdentity(org_id="o1", principal_id="ann")


def verifies(token: str) -> BearerIdentity | None:
    return ANNS if token == BEARER else None


def fails(token: str) -> BearerIdentity:
    raise ValueError(f"cannot read {token}")


VERIFIED = {"settings": {"verify_bearer": verifies}, "right": bearer(f"Bearer {BEARER}")}


def without(headers: dict[str, str], name: str) -> dict[str, Any]:
    return {"headers": {key: value for key, value in headers.items() if key != name}}


CASES = {
    "a body with a number for a text": Case(code="invalid_body", wrong={"slotId": 3}),
    "no bridge token": Case(
        code="forbidden",
        settings={"bridge_token": BRIDGE},
        right={"headers": {"X-Cinatra-Bridge-Token": BRIDGE}},
    ),
    "another bridge token": Case(
        code="forbidden",
        settings={"bridge_token": BRIDGE},
        right={"headers": {"X-Cinatra-Bridge-Token": BRIDGE}},
        wrong={"headers": {"X-Cinatra-Bridge-Token": BRIDGE[:-1]}},
    ),
    "no bearer token where one is verified": Case(code="forbidden", **VERIFIED),
    "another bearer token": Case(
        code="forbidden", wrong=bearer(f"Bearer {BEARER[:-1]}"), **VERIFIED
    ),
    "a bearer token of another scheme": Case(
        code="forbidden", wrong=bearer(f"Basic {BEARER}"), **VERIFIED
    ),
    "a bearer token that nobody verifies": Case(
        code="forbidden",
        settings={"bridge_token": BRIDGE},
        right={"headers": {"X-Cinatra-Bridge-Token": BRIDGE}},
        wrong=bearer(f"Bearer {BEARER}"),
    ),
    "a verifier that fails": Case(
        code="forbidden",
        wrong=bearer(f"Bearer {BEARER}"),
        wrong_settings={"verify_bearer": fails},
        **VERIFIED,
    ),
    **{
        f"a verifier that answers {value!r}": Case(
            code="forbidden",
            wrong=bearer(f"Bearer {BEARER}"),
            wrong_settings={"verify_bearer": lambda token, value=value: value},
            **VERIFIED,
        )
        for value in (True, "yes", ("o1", "ann"), {"org_id": "o1", "principal_id": "ann"})
    },
    **{
        f"a bearer token of {whose}": Case(
            code="run_mismatch",
            wrong=bearer(f"Bearer {BEARER}"),
            wrong_settings={"verify_bearer": lambda token, identity=identity: identity},
            **VERIFIED,
        )
        for whose, identity in {
            "another organisation": replace(ANNS, org_id="o2"),
            "somebody else in the organisation": replace(ANNS, principal_id="bob"),
            "nobody": BearerIdentity(org_id="", principal_id=""),
        }.items()
    },
    "a bearer token for the run of nobody": Case(
        code="run_mismatch",
        wrong=bearer(f"Bearer {BEARER}"),
        wrong_run={"actor": None},
        **VERIFIED,
    ),
    "no run token": Case(
        code="context_unresolved",
        run={"run_token": TOKEN},
        right={"headers": {"X-Cinatra-Run-Token": TOKEN}},
    ),
    "no conversation": Case(
        code="context_unresolved",
        run={"context_id": "c1"},
        right={"headers": {"X-Cinatra-A2A-Context-Id": "c1"}},
    ),
    "the token of another run": Case(
        code="run_mismatch",
        run={"run_token": TOKEN},
        right={"headers": {"X-Cinatra-Run-Token": TOKEN}},
        wrong={"headers": {"X-Cinatra-Run-Token": "another-token-01"}},
    ),
    "another conversation": Case(
        code="run_mismatch",
        run={"context_id": "c1"},
        right={"headers": {"X-Cinatra-A2A-Context-Id": "c1"}},
        wrong={"headers": {"X-Cinatra-A2A-Context-Id": "c2"}},
    ),
    "a run of no organisation": Case(code="run_unscoped", wrong_run={"org_id": ""}),
    "a run of no package": Case(code="package_unresolved", wrong_run={"package_name": ""}),
    "another package": Case(code="package_mismatch", wrong={"parentPackageName": "@x/other"}),
    "a run without an owner": Case(code="actor_unresolved", wrong_run={"actor": None}),
    "an owner elsewhere": Case(code="actor_unresolved", wrong_run={"actor": OTHERS}),
    "no such run": Case(code="run_missing", wrong={"parentRunId": "r2"}),
    "a package that is not installed": Case(code="oas_missing", wrong_run={"slots": None}),
    "no such slot": Case(code="slot_missing", wrong={"slotId": "voices"}),
    "two slots of one id": Case(code="slot_ambiguous", wrong_run={"slots": (slot(), slot())}),
    "a key for signatures that is not set": Case(
        code="attestation_unconfigured",
        wrong={"headers": RESOLVES},
        wrong_settings={"attestation_key": ""},
        **SIGNED,
    ),
    "a signature without a conversation": Case(
        code="attestation_context_required",
        wrong=without(RESOLVES, "X-Cinatra-A2A-Context-Id"),
        **SIGNED,
    ),
    "no signature": Case(
        code="attestation_missing",
        wrong=without(RESOLVES, "X-Cinatra-Context-Attestation"),
        **SIGNED,
    ),
    "a signature of nobody": Case(
        code="attestation_missing", wrong=without(RESOLVES, "X-Cinatra-Context-Node"), **SIGNED
    ),
    "a signature with another key": Case(
        code="attestation_invalid",
        wrong={"headers": signed("ctx-voice-resolve_context", key="another-key-012")},
        **SIGNED,
    ),
    "a signature of the old form": Case(
        code="attestation_invalid",
        wrong={"headers": signed("ctx-voice-resolve_context", version="v1")},
        **SIGNED,
    ),
    "an expired signature": Case(
        code="attestation_invalid",
        wrong={"headers": signed("ctx-voice-resolve_context", expiry=int(NOW) - 1)},
        **SIGNED,
    ),
    "a signature for another conversation": Case(
        code="attestation_invalid",
        wrong={"headers": RESOLVES | {"X-Cinatra-A2A-Context-Id": "c2"}},
        **SIGNED,
    ),
    "a signature of another node": Case(
        code="attestation_invalid",
        wrong={"headers": RESOLVES | {"X-Cinatra-Context-Node": "ctx-tone-resolve_context"}},
        **SIGNED,
    ),
    "a node that selects nothing": Case(
        code="attestation_node_unrecognized", wrong={"headers": signed("draft")}, **SIGNED
    ),
    "a node of a slot that is not declared": Case(
        code="attestation_node_unrecognized",
        wrong={"headers": signed("ctx-nowhere-resolve_context")},
        **SIGNED,
    ),
    "a node of another slot": Case(
        code="attestation_slot_mismatch",
        wrong={"headers": signed("ctx-tone-resolve_context")},
        **SIGNED,
    ),
    "a node placed by hand for another slot": Case(
        code="attestation_slot_mismatch",
        settings={"attestation_key": KEY},
        run={"context_nodes": {"my-resolve_context": "voice", "its-resolve_context": "tone"}},
        right={"headers": signed("my-resolve_context")},
        wrong={"headers": signed("its-resolve_context")},
    ),
    "a finalizing node that resolves": Case(
        code="attestation_kind_mismatch", wrong={"headers": FINALIZES}, **SIGNED
    ),
    "an autonomous node for a slot that asks a person": Case(
        code="attestation_kind_mismatch",
        settings={"attestation_key": KEY},
        right={"headers": FINALIZES},
        wrong={"headers": signed("ctx-voice-finalize_autonomous")},
        **FINALIZE,
    ),
    "another selection mode": Case(
        code="selection_mode_mismatch", wrong={"selectionMode": "autonomous"}, **FINALIZE
    ),
    "an envelope of another slot": Case(
        code="slot_mismatch", wrong={"envelope": {"slotId": "tone"}}, **FINALIZE
    ),
    "another resolution mode": Case(
        code="resolution_mode_mismatch",
        wrong={"envelope": {"resolutionMode": "override"}},
        **FINALIZE,
    ),
    "an envelope that is no JSON": Case(
        code="bad_envelope", wrong={"userResponse": "{"}, **FINALIZE
    ),
    "an envelope with an unknown key": Case(
        code="bad_envelope", wrong={"envelope": {"note": "x"}}, **FINALIZE
    ),
    "a ref with a revision made up": Case(
        code="ref_not_in_candidates", wrong={"ref": {"representationRevisionId": "r"}}, **FINALIZE
    ),
    "a ref that holds what no database takes": Case(
        code="ref_not_in_candidates", wrong={"ref": {"artifactId": "\x00"}}, **FINALIZE
    ),
    "nothing where one is needed": Case(
        code="below_min_items", wrong={"envelope": {"selectedRefs": []}}, **FINALIZE
    ),
    "as many as were planned, when fewer are allowed now": Case(
        code="above_max_items",
        wrong={"refs": ["a", "b"], "planned": True},
        right={"refs": ["a", "b"], "planned": True},
        wrong_run={"slots": (slot(maxItems=1),)},
        **FINALIZE,
    ),
    "two where the narrowest wins": Case(
        code="override_multi_select",
        run={"slots": (slot(resolutionMode="override"),)},
        wrong={"refs": ["a", "b"], "envelope": {"resolutionMode": "override"}},
        right={"envelope": {"resolutionMode": "override"}},
        **FINALIZE,
    ),
    "a token of no plan": Case(
        code="selection_incoherent",
        wrong={"allocationToken": "0" * 64},
        right={"planned": True},
        **FINALIZE,
    ),
    "a slot whose parent has selected nothing yet": Case(
        code="inherited_selection_mismatch",
        wrong_run={
            "inherited": {
                (PACKAGE, "voice"): ParentSelection(
                    run_id="r0", package_name="@x/parent", slot_id="style"
                )
            }
        },
    ),
}


def sent(store: ArtifactStore, case: Case, changes: dict[str, Any]) -> dict[str, Any]:
    """The body of a call: a right one, with `changes`."""
    ours = ("headers", "envelope", "ref", "refs", "planned")
    given = {key: value for key, value in changes.items() if key not in ours}
    if case.route == "context-resolve":
        return body(**given)
    refs = refs_of(store, *changes.get("refs", ["a"]))
    text = envelope([ref | changes.get("ref", {}) for ref in refs], **changes.get("envelope", {}))
    if changes.get("planned"):
        _, answer = ask(app(store, scope(**case.run)), "context-resolve", body())
        given["allocationToken"] = answer["allocationToken"]
    return body(**({"selectionMode": "interactive", "userResponse": text} | given))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_wrong_call_gets_its_code_and_writes_nothing_and_its_twin_is_answered(artifacts, case):
    settings = case.settings | case.wrong_settings
    wrong = app(artifacts, scope(**(case.run | case.wrong_run)), **settings)
    status, answer = ask(
        wrong, case.route, sent(artifacts, case, case.wrong), case.wrong.get("headers")
    )
    assert (status, answer["error"]) == (STATUS[case.code], case.code)
    assert sorted(answer) == ["error", "message"]
    assert artifacts.selections("o1", "r1") == []
    for secret in (BRIDGE, KEY, TOKEN, BEARER[:-1], "another-token-01"):
        assert secret not in json.dumps(answer)

    twin = app(artifacts, scope(**case.run), **case.settings)
    status, answer = ask(
        twin, case.route, sent(artifacts, case, case.right), case.right.get("headers")
    )
    assert status == 200, answer


def test_every_code_of_the_contract_has_a_case():
    assert {case.code for case in CASES.values()} == set(STATUS)


@pytest.mark.parametrize(
    ("setting", "code"),
    [("bridge_token", "forbidden"), ("attestation_key", "attestation_unconfigured")],
)
def test_a_secret_that_is_configured_empty_refuses_every_call(artifacts, setting, code):
    headers = RESOLVES | {"X-Cinatra-Bridge-Token": ""}
    status, answer = ask(app(artifacts, **{setting: ""}), "context-resolve", body(), headers)
    assert (status, answer["error"]) == (403, code)


BAD_BODIES = {
    "no JSON": b"{",
    "no UTF-8": b'{"slotId": "\xff"}',
    "empty": b"",
    "not a number of JSON": b'{"parentRunId": NaN}',
    "nested without end": b"[" * 100_000,
    "a list": b"[]",
    "null": b"null",
    "an unknown key": body(orgId="o2"),
    "a key that lacks": body(parentRunId=...),
    "an empty id": body(parentRunId=""),
    "a project that is a number": body(projectId=3),
    "an id without end": body(slotId="x" * 2000),
    "a run without end": body(parentRunId="r" * 2000),
    "a package without end": body(parentPackageName="@" + "p" * 2000),
    "a project without end": body(projectId="p" * 2000),
    "a run with NUL": body(parentRunId="r1\0"),
    "a package with NUL": body(parentPackageName="@x\0/y"),
    "a project with NUL": body(projectId="p\0"),
    "half of a pair": body(parentRunId="\ud800"),
}


@pytest.mark.parametrize("content", BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_body_that_is_not_the_contracts_is_refused(artifacts, content):
    status, answer = ask(app(artifacts), "context-resolve", content)
    assert (status, answer["error"]) == (400, "invalid_body")
    assert "o2" not in answer["message"]


@pytest.mark.parametrize(
    "changes",
    [
        {"userResponse": {}}, {"selectionMode": ...}, {"wrote": True}, {"allocationToken": "t\0"},
        {"userResponse": "\0"},
    ],
)  # fmt: skip
def test_finalizing_reads_its_own_keys_strictly_too(artifacts, changes):
    given = {"selectionMode": "interactive", "userResponse": envelope([])} | changes
    status, answer = ask(app(artifacts), "context-finalize", body(**given))
    assert (status, answer["error"]) == (400, "invalid_body")


def test_a_ref_that_no_database_takes_is_no_candidate(artifacts):
    odd = {"artifactId": "a\0", "representationRevisionId": "r", "semanticAssertionId": "s"}
    given = {"selectionMode": "interactive", "userResponse": envelope([odd])}
    status, answer = ask(app(artifacts), "context-finalize", body(**given))
    assert (status, answer["error"]) == (422, "ref_not_in_candidates")


def test_other_paths_methods_and_sizes_are_refused_and_parts_are_put_together(artifacts):
    local = app(artifacts)
    assert ask(local, "llm-bridge", body())[0] == 404
    assert ask(local, "context-resolve/more", body())[0] == 404
    assert ask(local, "context-resolve", body(), method="GET")[0] == 405
    assert ask(local, "context-resolve", b" " * 1_048_577, parts=3)[0] == 413
    assert ask(local, "context-resolve", body(), parts=5)[0] == 200
    assert ask(local, "context-resolve/", body())[0] == 200


def test_another_method_of_a_route_is_told_which_it_takes(artifacts):
    async def allowed(local: Any, path: str, method: str) -> tuple[int, Any]:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        async def send(message: Any) -> None:
            sent.append(message)

        about = {"type": "http", "method": method, "path": path, "query_string": b""}
        await local({**about, "headers": [(b"host", b"127.0.0.1")]}, receive, send)
        return sent[0]["status"], dict(sent[0]["headers"]).get(b"allow")

    platform = SimulatedPlatform(fallback={})
    routes = ["POST /api/llm-bridge", "GET /api/models", "PUT /api/models"]
    local = app(artifacts, beyond=platform, hands_on=routes)
    for path, method, expected in (
        ("/api/context-resolve", "TRACE", (405, b"POST")),
        ("/api/llm-bridge", "DELETE", (405, b"POST")),
        ("/api/models", "POST", (405, b"GET, PUT")),
        ("/api/other", "POST", (404, None)),
        ("/api/models/", "POST", (404, None)),
    ):
        assert asyncio.run(allowed(local, path, method)) == expected, path


def test_an_error_does_not_echo_a_token_that_was_put_where_a_name_belongs(artifacts):
    status, answer = ask(
        app(artifacts, scope(run_token=TOKEN)),
        "context-resolve",
        body(slotId=TOKEN),
        {"X-Cinatra-Run-Token": TOKEN},
    )
    assert (status, answer["error"]) == (404, "slot_missing")
    assert TOKEN not in answer["message"]


def test_a_bridge_token_sent_twice_opens_nothing(artifacts):
    headers = {"X-Cinatra-Bridge-Token": BRIDGE, "x-cinatra-bridge-token": BRIDGE}
    assert ask(app(artifacts, bridge_token=BRIDGE), "context-resolve", body(), headers)[0] == 403


# ------------------------------------------------------------------- bearer tokens


def test_a_bridge_token_or_a_bearer_token_is_enough_and_the_verifier_is_asked_only_for_its_own(
    artifacts,
):
    asked: list[str] = []

    def noted(token: str) -> BearerIdentity | None:
        asked.append(token)
        return verifies(token)

    local = app(artifacts, bridge_token=BRIDGE, verify_bearer=noted)
    bridge = {"X-Cinatra-Bridge-Token": BRIDGE}
    assert ask(local, "context-resolve", body(), bridge)[0] == 200
    assert asked == []
    right = {"Authorization": f"bearer  {BEARER}"}
    assert ask(local, "context-resolve", body(), right)[0] == 200
    assert ask(local, "context-resolve", body(), right | {"X-Cinatra-Bridge-Token": "x"})[0] == 200
    assert asked == [BEARER, BEARER]
    assert ask(local, "context-resolve", body())[0] == 403
    assert asked == [BEARER, BEARER]


def test_an_empty_bridge_token_opens_nothing_beside_a_verifier_and_the_bearer_still_does(artifacts):
    local = app(artifacts, bridge_token="", verify_bearer=verifies)
    for headers in ({"X-Cinatra-Bridge-Token": ""}, {"Authorization": "Bearer "}, None):
        assert ask(local, "context-resolve", body(), headers)[1]["error"] == "forbidden"
    assert ask(local, "context-resolve", body(), {"Authorization": f"Bearer {BEARER}"})[0] == 200


def test_two_bearer_tokens_reach_no_verifier(artifacts):
    local = app(artifacts, verify_bearer=lambda token: ANNS)
    twice = {"Authorization": f"Bearer {BEARER}", "authorization": f"Bearer {BEARER}"}
    assert ask(local, "context-resolve", body(), twice)[0] == 403
    assert ask(local, "context-resolve", body(), {"Authorization": f"Bearer {BEARER}"})[0] == 200


def test_a_bearer_token_is_in_no_error_even_where_a_name_belongs(artifacts):
    local = app(artifacts, verify_bearer=verifies)
    status, answer = ask(
        local, "context-resolve", body(slotId=BEARER), {"Authorization": f"Bearer {BEARER}"}
    )
    assert (status, answer["error"]) == (404, "slot_missing")
    assert BEARER not in answer["message"]


def test_a_bearer_token_does_not_stand_for_the_token_of_the_run(artifacts):
    local = app(artifacts, scope(run_token=TOKEN), verify_bearer=verifies)
    headers = {"Authorization": f"Bearer {BEARER}"}
    assert ask(local, "context-resolve", body(), headers)[1]["error"] == "context_unresolved"
    whole = headers | {"X-Cinatra-Run-Token": TOKEN}
    assert ask(local, "context-resolve", body(), whole)[0] == 200


def test_a_bearer_token_of_another_organisation_records_nothing_for_the_run(artifacts):
    text = envelope(refs_of(artifacts, "a"))
    given = body(selectionMode="interactive", userResponse=text)
    headers = {"Authorization": f"Bearer {BEARER}"}
    foreign = app(artifacts, verify_bearer=lambda token: replace(ANNS, org_id="o2"))
    status, answer = ask(foreign, "context-finalize", given, headers)
    assert (status, answer["error"]) == (403, "run_mismatch")
    assert artifacts.selections("o1", "r1") == []
    own = app(artifacts, verify_bearer=verifies)
    assert ask(own, "context-finalize", given, headers)[0] == 200


# ---------------------------------------------------------------- embedded packages


CHILD = "@x/drafts"


def test_a_child_embedded_in_the_run_selects_for_its_own_slots_under_its_own_name(artifacts):
    run = scope(embedded={CHILD: (slot(slotId="brand", maxItems=1),)})
    local = app(artifacts, run)
    asked = body(parentPackageName=CHILD, slotId="brand")
    status, answer = ask(local, "context-resolve", asked)
    assert (status, ids(answer["candidates"])) == (200, ["a", "b"])
    refs = refs_of(artifacts, "a")
    given = {"selectionMode": "interactive", "userResponse": envelope(refs, slotId="brand")}
    status, answer = ask(local, "context-finalize", asked | given)
    assert (status, answer["wrote"]) == (200, True)
    (row,) = artifacts.selections("o1", "r1")
    assert (row.parent_package_name, row.slot_id) == (CHILD, "brand")


def test_the_slots_of_one_package_are_not_those_of_another_of_the_run(artifacts):
    run = scope(embedded={CHILD: (slot(slotId="brand"),)})
    wrong = {
        "slot_missing": [
            {"parentPackageName": CHILD, "slotId": "voice"},
            {"parentPackageName": PACKAGE, "slotId": "brand"},
        ],
        "package_mismatch": [{"parentPackageName": "@x/other", "slotId": "brand"}],
    }
    for code, calls in wrong.items():
        for changes in calls:
            assert ask(app(artifacts, run), "context-resolve", body(**changes))[1]["error"] == code
    assert ask(app(artifacts, run), "context-resolve", body())[0] == 200


def test_an_embedded_child_does_not_need_the_file_of_the_runs_own_package(artifacts):
    run = scope(slots=None, embedded={CHILD: (slot(),)})
    assert ask(app(artifacts, run), "context-resolve", body(parentPackageName=CHILD))[0] == 200
    assert ask(app(artifacts, run), "context-resolve", body())[1]["error"] == "oas_missing"


def test_the_node_that_signs_for_a_child_is_one_of_the_childs_slots(artifacts):
    run = scope(embedded={CHILD: (slot(slotId="brand"),)})
    local = app(artifacts, run, attestation_key=KEY)
    asked = body(parentPackageName=CHILD, slotId="brand")
    own, parents = signed("ctx-brand-resolve_context"), signed("ctx-voice-resolve_context")
    assert ask(local, "context-resolve", asked, own)[0] == 200
    status, answer = ask(local, "context-resolve", asked, parents)
    assert (status, answer["error"]) == (403, "attestation_node_unrecognized")
    assert ask(local, "context-resolve", body(), parents)[0] == 200


# ------------------------------------------------------------------------ resolving


def resolved(store: ArtifactStore, slot_id: str, run: RunScope | None = None, **changes) -> Any:
    status, answer = ask(app(store, run), "context-resolve", body(slotId=slot_id, **changes))
    assert status == 200, answer
    return answer


def ids(refs: list[dict[str, str]]) -> list[str]:
    return [ref["artifactId"] for ref in refs]


def test_a_slot_that_asks_a_person_preselects_nothing_and_tells_its_bounds(artifacts):
    answer = resolved(artifacts, "voice")
    assert ids(answer["candidates"]) == ["a", "b"]
    assert answer["selectedRefs"] == []
    assert (answer["selectionMode"], answer["resolutionMode"]) == ("interactive", "accumulate")
    assert answer["slotMeta"]["maxItems"] == 2
    assert sorted(answer["candidates"][0]) == [
        "artifactId", "extension", "ownerId", "representationRevisionId", "semanticAssertionId",
        "sourceScope",
    ]  # fmt: skip


def test_an_autonomous_slot_takes_the_narrowest_or_all_of_them(artifacts):
    assert ids(resolved(artifacts, "tone")["selectedRefs"]) == ["a"]
    assert ids(resolved(artifacts, "all")["selectedRefs"]) == ["a", "b"]


def test_the_runs_own_project_wins_over_the_bodys(artifacts):
    assert ids(resolved(artifacts, "voice", projectId=" p1 ")["candidates"]) == ["p"]
    own = scope(project_id="p1")
    assert ids(resolved(artifacts, "voice", own, projectId="p2")["candidates"]) == ["p"]
    assert ids(resolved(artifacts, "voice", own)["candidates"]) == ["p"]
    foreign = scope(project_id="p2")
    assert resolved(artifacts, "voice", foreign, projectId="p1")["candidates"] == []


def test_slots_that_the_host_cannot_read_are_an_error_of_the_package(artifacts):
    class Unreadable:
        def scope(self, run_id: str) -> RunScope:
            return scope(slots=read_slots([{"slotId": "voice"}]))

    status, answer = ask(local_app(artifacts, REGISTRY, Unreadable()), "context-resolve", body())
    assert (status, answer["error"]) == (404, "oas_missing")


# ----------------------------------------------------------------------- finalizing


def finalize(local: Any, refs: Any, slot_id: str = "voice", **changes: Any) -> tuple[int, Any]:
    chosen = next(each for each in SLOTS if each.slot_id == slot_id)
    text = envelope(refs, slotId=slot_id, resolutionMode=chosen.resolution_mode)
    given = {"slotId": slot_id, "selectionMode": chosen.selection_mode, "userResponse": text}
    return ask(local, "context-finalize", body(**(given | changes)))


def test_a_selection_is_bound_as_the_resolver_knows_it_and_recorded_once(artifacts):
    a, b = refs_of(artifacts, "a", "b")
    forged = b | {"sourceScope": "workspace", "ownerId": "mallory"}
    answer = {"contextSlotBindings": [{"slotId": "voice", "refs": [b, a]}], "wrote": True}
    assert finalize(app(artifacts), [forged, a, b]) == (200, answer)
    assert finalize(app(artifacts), [b, a]) == (200, answer | {"wrote": False})
    rows = artifacts.selections("o1", "r1")
    assert [(row.triple.artifact_id, row.selected_by) for row in rows] == [
        ("a", "user"),
        ("b", "user"),
    ]
    assert {row.parent_package_name for row in rows} == {PACKAGE}


def test_one_slot_that_overrides_takes_one_ref(artifacts):
    status, answer = finalize(app(artifacts), refs_of(artifacts, "a", "b"), "pick")
    assert (status, answer["error"]) == (422, "override_multi_select")
    assert finalize(app(artifacts), refs_of(artifacts, "b"), "pick")[0] == 200


def test_a_person_is_offered_more_than_the_slot_takes_and_held_to_it(artifacts):
    artifacts.add(artifact_id="c", org_id="o1", owner_id="bob", visibility="workspace", content="c")
    artifacts.classify("c", VOICE)
    answer = resolved(artifacts, "voice")
    assert ids(answer["candidates"]) == ids(answer["plannedRefs"]) == ["a", "b", "c"]
    status, refused = finalize(app(artifacts), refs_of(artifacts, "a", "b", "c"))
    assert (status, refused["error"]) == (422, "above_max_items")
    assert finalize(app(artifacts), refs_of(artifacts, "a", "c"))[0] == 200


def test_only_what_an_autonomous_slot_takes_is_cut(artifacts):
    run = scope(slots=(slot(slotId="all", selectionMode="autonomous", maxItems=1),))
    answer = resolved(artifacts, "all", run)
    assert ids(answer["candidates"]) == ["a", "b"]
    assert ids(answer["selectedRefs"]) == ids(answer["plannedRefs"]) == ["a"]


def test_candidates_carry_the_names_of_the_artifacts_and_what_is_pinned_does_not(artifacts):
    names = {"c": "Voice of the house", "d": "sk-" + "a1" * 20, "e": "n" * 300}
    for id_, name in names.items():
        about = {"org_id": "o1", "owner_id": "bob", "visibility": "org", "content": id_}
        artifacts.add(artifact_id=id_, name=name, **about)
        artifacts.classify(id_, VOICE)
    answer = resolved(artifacts, "voice")
    shown = {ref["artifactId"]: ref.get("displayName") for ref in answer["candidates"]}
    # What looks like a credential is in no gate, and a long name is cut.
    assert shown == {
        "a": None, "b": None, "c": names["c"], "d": "[redacted]", "e": "n" * 200,
    }  # fmt: skip
    assert answer["plannedRefs"] == answer["candidates"]
    (c,) = (ref for ref in answer["candidates"] if ref["artifactId"] == "c")
    status, bound = finalize(app(artifacts), [c], allocationToken=answer["allocationToken"])
    assert status == 200
    del c["displayName"]
    assert bound["contextSlotBindings"] == [{"slotId": "voice", "refs": [c]}]


def test_an_artifact_that_goes_between_resolving_and_recording_writes_nothing_at_all(artifacts):
    class Overtaken(ArtifactStore):
        def resolve(self, *given: Any) -> Any:
            found = super().resolve(*given)
            self.delete("a")
            return found

    overtaken = Overtaken(artifacts._database)
    status, answer = finalize(app(overtaken), refs_of(artifacts, "a", "b"))
    assert (status, answer["error"]) == (409, "selection_incoherent")
    assert artifacts.selections("o1", "r1") == []


def move_on(store: ArtifactStore, ref: dict[str, str]) -> None:
    """Everything that can happen to an artifact after it was chosen."""
    store.revise(ref["artifactId"], "changed")
    store.archive(ref["semanticAssertionId"])
    store.delete(ref["artifactId"])


@pytest.mark.parametrize(("slot_id", "chosen"), [("voice", ["b", "a"]), ("tone", ["a"])])
def test_a_consumer_that_crashed_gets_the_pinned_refs_again_though_all_has_changed(
    artifacts, slot_id, chosen
):
    refs = refs_of(artifacts, *chosen)
    status, first = finalize(app(artifacts), refs, slot_id)
    assert (status, first["wrote"]) == (200, True)
    before = artifacts.selections("o1", "r1")
    for ref in refs:
        move_on(artifacts, ref)
    assert finalize(app(artifacts), refs, slot_id) == (200, first | {"wrote": False})
    assert artifacts.selections("o1", "r1") == before


def test_a_ref_that_is_still_a_candidate_is_given_again_with_the_scope_it_was_chosen_in(
    artifacts, fresh_database
):
    refs = refs_of(artifacts, "a")
    _, first = finalize(app(artifacts), refs)
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        connection.execute("update objects set visibility = 'workspace' where id = 'a'")
    (now,) = refs_of(artifacts, "a")
    assert (refs[0]["sourceScope"], now["sourceScope"]) == ("organization", "workspace")
    assert finalize(app(artifacts), refs) == (200, first | {"wrote": False})


def test_only_exactly_what_was_recorded_is_given_again(artifacts):
    a, b = refs_of(artifacts, "a", "b")
    assert finalize(app(artifacts), [a, b])[0] == 200
    move_on(artifacts, a)
    for refs, slot_id in (([a], "voice"), ([a, b], "all"), ([a], "pick")):
        status, answer = finalize(app(artifacts), refs, slot_id)
        assert (status, answer["error"]) == (422, "ref_not_in_candidates")
    other_run = local_app(artifacts, REGISTRY, FixedRuns({"r2": scope()}))
    assert finalize(other_run, [a, b], parentRunId="r2")[1]["error"] == "ref_not_in_candidates"
    twins = app(artifacts, scope(slots=(slot(), slot(slotId="twin"))))
    text = envelope([a, b], slotId="twin")
    status, answer = finalize(twins, [a, b], slotId="twin", userResponse=text)
    assert answer["error"] == "ref_not_in_candidates"
    renamed = app(artifacts, scope(package_name="@x/other"))
    status, answer = finalize(renamed, [a, b], parentPackageName="@x/other")
    assert answer["error"] == "ref_not_in_candidates"
    assert finalize(app(artifacts), [b])[1]["wrote"] is True
    assert [row.triple.artifact_id for row in artifacts.selections("o1", "r1")] == ["a", "b", "b"]


def test_a_selection_that_another_writes_just_before_the_artifacts_change_is_given_too(artifacts):
    refs = refs_of(artifacts, "a", "b")
    plain = app(artifacts)

    class Overtaken(ArtifactStore):
        def resolve(self, *given: Any) -> Any:
            assert finalize_inside(plain, refs)
            move_on(self, refs[0])
            return super().resolve(*given)

    status, answer = finalize(app(Overtaken(artifacts._database)), refs)
    assert (status, answer["wrote"]) == (200, False)
    assert answer["contextSlotBindings"] == [{"slotId": "voice", "refs": refs}]
    assert len(artifacts.selections("o1", "r1")) == 2


def finalize_inside(local: Any, refs: Any) -> bool:
    """A finalize by another thread, ended when this returns."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(finalize(local, refs)))
    thread.start()
    thread.join()
    return answers[0][1]["wrote"] is True


def test_two_who_finalize_at_once_write_one_batch_and_get_the_same_refs(artifacts):
    refs = refs_of(artifacts, "b", "a")
    start = threading.Barrier(4)

    class Together(ArtifactStore):
        def record(self, choice: Any) -> bool:
            start.wait()
            return super().record(choice)

    local = app(Together(artifacts._database))
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(finalize(local, refs))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in answers] == [200] * 4
    assert sorted(answer["wrote"] for _, answer in answers) == [False, False, False, True]
    assert all(answer["contextSlotBindings"][0]["refs"] == refs for _, answer in answers)
    assert len(artifacts.selections("o1", "r1")) == 2


def test_an_optional_slot_may_be_left_empty(artifacts):
    optional = scope(slots=(slot(minItems=0),), actor=ANN)
    answer = {"contextSlotBindings": [{"slotId": "voice", "refs": []}], "wrote": False}
    assert finalize(app(artifacts, optional), []) == (200, answer)


def test_a_selection_of_nothing_is_given_again_though_the_slot_needs_one_now(artifacts):
    status, answer = finalize(app(artifacts), [])
    assert (status, answer["error"]) == (422, "below_min_items")
    _, first = finalize(app(artifacts, scope(slots=(slot(minItems=0),))), [])
    assert finalize(app(artifacts), []) == (200, first)
    other_run = local_app(artifacts, REGISTRY, FixedRuns({"r2": scope()}))
    assert finalize(other_run, [], parentRunId="r2")[1]["error"] == "below_min_items"


def test_a_selection_that_is_given_again_is_the_latest_one_though_its_artifact_is_gone(artifacts):
    a, b = refs_of(artifacts, "a", "b")
    for refs in ([a], [b]):
        assert finalize(app(artifacts), refs)[1]["wrote"] is True
    artifacts.delete("a")
    assert finalize(app(artifacts), [a])[1]["wrote"] is False
    latest = artifacts.latest("o1", run_id="r1", package_name=PACKAGE, slot_id="voice")
    assert [ref.wire() for ref in latest or ()] == [a]
