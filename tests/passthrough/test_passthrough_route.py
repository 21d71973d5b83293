"""`POST /api/agents/passthrough`, in process and over HTTP: the same calls, the same answers."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.data.text.documents import read_document
from cinatra_sdk.host.bridge.model_offers import Offer
from cinatra_sdk.host.model_routes import make_routes
from cinatra_sdk.host.passthrough.host_tools import BUNDLE_TYPE, format_document
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool, Passthrough
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.outside.http_calls.protocol import PlatformResponseError
from cinatra_sdk.outside.routes import RoutedPlatform
from cinatra_sdk.store.artifacts import object_store
from cinatra_sdk.store.artifacts.object_store import SavedObjects
from cinatra_sdk.store.database import Database
from tests.bridge.bridge_world import WAYS, ask, opened, outcome, own

VECTORS: Any = read_document(
    Path(__file__).parent / "vectors.yaml", what="file of vectors", most=1_000_000
)
needs_server = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="the extra `server` is not installed"
)
URL = "{{CINATRA_BASE_URL}}/api/agents/passthrough"


@pytest.fixture
def database(fresh_database: str) -> Iterator[Database]:
    made = Database.open(fresh_database)
    yield made
    made.close()


def platform(database: Database, **lent: Any) -> RoutedPlatform:
    routes = make_routes(database, Offer(), HostParts(passthrough=lent))
    return RoutedPlatform(routes, identify=own)


def calling(body: Any, run: str = "r1", key: str = "") -> Any:
    context = "c1" if run == "r1" else "unknown"
    return ask(body, url=URL, run_id=run, context_id=context, idempotency_key=key)


@needs_server
@pytest.mark.parametrize("way", WAYS)
def test_each_call_of_the_vectors_has_its_answer(way: str, database: Database) -> None:
    found: dict[str, Any] = {}
    with opened(way, platform(database)) as asked:
        for vector in VECTORS:
            got = outcome(asked, calling(vector["body"], vector.get("run", "r1")))
            if "status" in vector:
                expected: Any = (vector["status"], vector["code"], vector["about"])
                if isinstance(got, tuple) and vector["about"] in got[2]:
                    got = expected if got[:2] == expected[:2] else got
            else:
                expected = vector["value"]
                if isinstance(got, dict):
                    got = {name: got.get(name, "absent") for name in expected}
            if got != expected:
                found[vector["name"]] = (got, expected)
    assert found == {}
    assert len(VECTORS) > 30


def test_what_is_saved_bears_the_run_that_called_and_no_other(database: Database) -> None:
    raw = {"a": 1, "cinatra_agent_run_id": "r2"}
    body = {
        "tool": "objects_save",
        "agent_run_id": "r1",
        "input": {"typeHint": "@x/a", "rawData": raw},
    }
    made: Any = platform(database).call(calling({**body, "result_id_field": "campaignId"}))
    assert made["campaignId"] == made["objectId"]
    kept = SavedObjects(database).get(made["objectId"], org_id="o1")
    assert kept is not None
    assert kept.held.value() == {"a": 1, "cinatra_agent_run_id": "r1"}


def test_a_call_that_is_made_again_saves_once(database: Database) -> None:
    body = {
        "tool": "objects_save",
        "agent_run_id": "r1",
        "input": {"typeHint": "@x/a", "rawData": {}},
    }
    asked = platform(database)
    first: Any = asked.call(calling(body, key="k1"))
    again: Any = asked.call(calling(body, key="k1"))
    assert (again["objectId"], again["version"]) == (first["objectId"], 1)
    assert len(SavedObjects(database).of_run("r1", org_id="o1")) == 1


@needs_server
@pytest.mark.parametrize("way", WAYS)
def test_names_that_no_row_keeps_are_refused_with_words_and_not_by_the_driver(
    way: str, database: Database
) -> None:
    """A NUL, a type and a key without end, an id of a number: 400 each, and nothing is saved."""
    given = {"typeHint": "@x/a", "rawData": {}}
    odd: list[tuple[str, dict[str, Any], str, str]] = [
        ("objects_save", {**given, "typeHint": "@x/a\0"}, "", "typeHint holds a NUL"),
        ("objects_save", {**given, "typeHint": "t" * 301}, "", "more than 300 characters"),
        ("objects_save", given, "k" * 2_001, "more than 2,000 characters"),
        ("objects_save", {**given, "rawData": {"a": "\0"}}, "", "NUL"),
        ("objects_get", {"objectId": "o\0"}, "", "objectId holds a NUL"),
        ("objects_get", {"objectId": 7}, "", "objectId"),
    ]
    with opened(way, platform(database)) as asked:
        for tool, input_, key, said in odd:
            body = {"tool": tool, "agent_run_id": "r1", "input": input_}
            status, code, told = outcome(asked, calling(body, key=key))
            assert (status, code[:8]) == (400, "invalid_"), (tool, input_, told)
            assert said in told or 'idempotency-key" has more than 1,024 characters' in told
    assert SavedObjects(database).of_run("r1", org_id="o1") == []


def test_an_object_is_classified_updated_listed_and_read(database: Database) -> None:
    asked = platform(database)

    def use(tool: str, **given: Any) -> Any:
        return asked.call(calling({"tool": tool, "agent_run_id": "r1", "input": given}))

    id_ = use("objects_save", typeHint="@x/a", rawData={"a": 1})["objectId"]
    assert use("objects_classify", objectId=id_, typeHint="@x/b")["version"] == 2
    assert use("objects_update", objectId=id_, rawData={"a": 2})["typeHint"] == "@x/b"
    (listed,) = use("objects_list", typeHint="@x/b")["objects"]
    assert listed == use("objects_get", objectId=id_)["object"]
    assert (listed["version"], listed["rawData"]) == (3, {"a": 2, "cinatra_agent_run_id": "r1"})


def test_a_list_says_how_many_objects_it_leaves_out(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "MOST_LISTED_BYTES", 10)
    asked = platform(database)

    def use(tool: str, **given: Any) -> Any:
        return asked.call(calling({"tool": tool, "agent_run_id": "r1", "input": given}))

    use("objects_save", typeHint="@x/a", rawData={"a": 1})
    assert "leftOut" not in use("objects_list")
    use("objects_save", typeHint="@x/a", rawData={"a": 2})
    listed = use("objects_list")
    assert (len(listed["objects"]), listed["leftOut"]) == (1, 1)


def test_a_host_lends_a_tool_in_place_of_one_that_is_missing(database: Database) -> None:
    def send(call: NamedCall) -> Any:
        return {"lastSendResult": {"to": call.owner.person, "envelope": call.input["envelopeJson"]}}

    asked = platform(database, email_test_delivery_run_send=send)
    body = {
        "tool": "email_test_delivery_run_send", "agent_run_id": "r1",
        "input": {"envelopeJson": "{}"}, "result_shape": "test_delivery_send",
    }  # fmt: skip
    assert asked.call(calling(body)) == {"lastSendResult": {"to": "ann", "envelope": "{}"}}


def test_only_allowed_tools_are_called() -> None:
    made = Passthrough.of(
        [NamedTool(name="a", run=lambda _call: {"ok": True}), NamedTool(name="b", run=lambda _call: {})],
        allowed=["a", "c"],
    )  # fmt: skip
    asked = RoutedPlatform({"POST /api/agents/passthrough": made}, identify=own)
    assert asked.call(calling({"tool": "a", "agent_run_id": "r1"})) == {"ok": True}
    assert outcome(asked, calling({"tool": "b", "agent_run_id": "r1"}))[:2] == (
        403,
        "tool_not_allowed",
    )
    assert outcome(asked, calling({"tool": "c", "agent_run_id": "r1"}))[:2] == (
        404,
        "handler_missing",
    )


@pytest.mark.parametrize("route", ["run-skills", "exclude", "apply"])
def test_a_route_that_the_platform_lacks_is_refused_by_its_name(
    database: Database, route: str
) -> None:
    url = "{{CINATRA_BASE_URL}}/api/auditor/" + route
    with pytest.raises(PlatformResponseError, match=f"POST /api/auditor/{route}") as raised:
        platform(database).call(ask({}, url=url))
    assert (raised.value.status, raised.value.code) == (501, "route_unavailable")


def test_a_person_changes_the_summary_of_the_drafts_too(database: Database) -> None:
    asked = platform(database)

    def use(tool: str, **given: Any) -> Any:
        return asked.call(calling({"tool": tool, "agent_run_id": "r1", "input": given}))

    raw = {"draftedEmails": [{"subject": "Old"}], "summary": "One mail", "topic": "Bees"}
    use("objects_save", typeHint=BUNDLE_TYPE, rawData=raw)
    answer = json.dumps({"draftedEmails": [{"subject": "New"}], "summary": "A new mail"})
    update = "email_outreach_initial_drafts_update"
    reviewed = use(update, resumePayloadJson=answer)["reviewedBundle"]
    assert reviewed == {"draftedEmails": [{"subject": "New"}], "summary": "A new mail", "topic": "Bees"}  # fmt: skip
    assert use(update, resumePayloadJson="Approved")["reviewedBundle"] == reviewed


def test_drafts_of_many_long_mails_reach_the_tool_whole(database: Database) -> None:
    asked = platform(database)

    def use(tool: str, **given: Any) -> Any:
        return asked.call(calling({"tool": tool, "agent_run_id": "r1", "input": given}))

    use("objects_save", typeHint=BUNDLE_TYPE, rawData={"draftedEmails": []})
    drafts = [{"subject": f"S{number}", "body": "b" * 5_000} for number in range(50)]
    answer = json.dumps({"draftedEmails": drafts})
    got = use("email_outreach_initial_drafts_update", resumePayloadJson=answer)
    assert got["reviewedBundle"]["draftedEmails"] == drafts


@pytest.mark.parametrize("drafts", ["text", {"a": 1}, [1], ["x"]])
def test_a_saved_bundle_without_drafts_is_named(database: Database, drafts: Any) -> None:
    asked = platform(database)

    def use(tool: str, **given: Any) -> Any:
        return asked.call(calling({"tool": tool, "agent_run_id": "r1", "input": given}))

    use("objects_save", typeHint=BUNDLE_TYPE, rawData={"draftedEmails": drafts})
    with pytest.raises(PlatformResponseError, match="of the saved bundle is no list") as raised:
        use("email_outreach_initial_drafts_update", resumePayloadJson="Approved")
    assert (raised.value.status, raised.value.code) == (400, "invalid_input")


def test_what_a_person_chose_may_be_long(database: Database) -> None:
    answer = json.dumps({"action": "send", "note": "x" * 10_000})
    body = {
        "tool": "email_test_delivery_parse_action", "agent_run_id": "r1",
        "input": {"userResponse": answer},
    }  # fmt: skip
    assert platform(database).call(calling(body)) == {"action": "send"}


def test_a_document_of_drafts_has_a_section_for_each() -> None:
    drafts = [
        {"recipientName": "Ann", "subject": "S", "body": "B"},
        {"recipientEmail": "b@x.example"},
    ]
    assert format_document(drafts) == (
        "## Ann\n**Subject:** S\n\nB\n\n---\n\n## b@x.example\n**Subject:** \n\n\n\n---\n"
    )
