"""The examples with a context slot: run on Postgres over the real resolver, in both modes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision, Run, RunStore
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.host.context_file import ContextFile, read_context_file
from cinatra_sdk.host.standalone_platform import standalone
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from oas_compiler import compile_flow
from tests.examples.agents import EXAMPLES

PRODUCT, REPLY = "product-text-agent", "reply-agent"


class Host:
    """A standalone host with one example's context file loaded."""

    def __init__(self, dsn: str, agent: str) -> None:
        self.store = RunStore.open(dsn)
        self.artifacts = ArtifactStore(self.store.database)
        self.file: ContextFile = read_context_file(EXAMPLES / agent / "context.yaml")
        self.artifacts.load(self.file.loaded)
        self.beyond = SimulatedPlatform(EXAMPLES / agent / "stubs.yaml")
        platform = standalone(self.store.database, self.file.settings, beyond=self.beyond)
        self.flow = compile_flow(EXAMPLES / agent, platform=platform)

    def start(self, **params: Any) -> Run:
        return self.store.start(self.flow, params, "r1")

    def pick(self, run: Run, *ids: str) -> Run:
        (gate,) = run.waiting
        assert isinstance(gate.form, SelectionForm)
        chosen = [one.triple for one in gate.form.selector.candidates if one.triple[0] in ids]
        assert len(chosen) == len(ids)
        envelope = gate.form.selector.envelope(chosen)
        return self.store.answer("r1", gate.id, Decision.approve(by="ann", value=envelope))

    def audit(self) -> list[tuple[str, str, str, str, str]]:
        return [
            (row.slot_id, row.triple.artifact_id, row.source_scope, row.selected_by,
             row.selection_mode)
            for row in self.artifacts.selections("acme", "r1")
        ]  # fmt: skip

    def context_of(self, node: str) -> Any:
        (call,) = [call for call in self.beyond.calls if call.node == node]
        assert isinstance(call.body, dict)
        return json.loads(str(call.body["user"]).partition("Context: ")[2])


@pytest.fixture
def product(fresh_database: str) -> Iterator[Host]:
    host = Host(fresh_database, PRODUCT)
    yield host
    host.store.close()


@pytest.fixture
def reply(fresh_database: str) -> Iterator[Host]:
    host = Host(fresh_database, REPLY)
    yield host
    host.store.close()


def test_an_interactive_slot_offers_what_the_person_may_see_from_narrow_to_broad(
    product: Host,
) -> None:
    run = product.start(product="Honey")
    (gate,) = run.waiting
    assert [(ref["artifactId"], ref["sourceScope"]) for ref in gate.values["candidates"]] == [
        ("honey-facts", "user"),
        ("shop-voice", "team"),
        ("house-voice", "organization"),
    ]
    shown: Any = gate.values["selector"]
    assert shown["limits"] == {"minItems": 1, "maxItems": 3, "chosen": 0, "atCap": False}
    assert shown["badges"] == ["readableOnly"]
    with pytest.raises(AnswerInvalid, match='slot "brand" needs at least 1'):
        product.pick(run)
    assert product.audit() == []


def test_the_text_is_written_with_the_revisions_that_were_picked(product: Host) -> None:
    run = product.start(product="Honey")
    (gate,) = run.waiting
    offered: Any = gate.values["candidates"]
    product.artifacts.revise("shop-voice", "No jokes any more.")
    done = product.pick(run, "honey-facts", "shop-voice")
    assert done.status == "completed", done.error
    assert [ref["displayName"] for ref in offered[:2]] == [
        "Honey, facts and figures",
        "Voice of the shop team",
    ]
    pins = [{key: ref[key] for key in ref if key != "displayName"} for ref in offered[:2]]
    assert product.context_of("write_text") == [{"slotId": "brand", "refs": pins}]
    pinned = offered[1]["representationRevisionId"]
    assert product.artifacts.content(pinned) == "As the house voice, and one joke per text."
    assert product.audit() == [
        ("brand", "honey-facts", "user", "user", "interactive"),
        ("brand", "shop-voice", "team", "user", "interactive"),
    ]


def test_a_rejected_selection_writes_neither_text_nor_row(product: Host) -> None:
    (gate,) = product.start(product="Honey").waiting
    done = product.store.answer("r1", gate.id, Decision.reject(by="ann", reason="none fits"))
    assert done.status == "rejected"
    assert product.beyond.calls == []
    assert product.audit() == []


def test_in_a_project_only_its_artifacts_are_offered(product: Host) -> None:
    (gate,) = product.start(product="Honey", projectId="spring").waiting
    candidates: Any = gate.values["candidates"]
    assert [ref["artifactId"] for ref in candidates] == ["spring-voice"]


def test_an_autonomous_slot_takes_the_narrowest_ref_and_asks_nobody(reply: Host) -> None:
    done = reply.start(message="broken jar")
    assert done.status == "completed", done.error
    ((binding,),) = [reply.context_of("draft_reply")]
    assert [ref["artifactId"] for ref in binding["refs"]] == ["support-tone"]
    assert reply.audit() == [("tone", "support-tone", "team", "autonomous", "autonomous")]
    assert reply.store.decisions("r1") == []


def test_an_autonomous_slot_with_nothing_to_take_stops_the_run_before_it_drafts(
    reply: Host,
) -> None:
    failed = reply.start(message="broken jar", projectId="spring")
    assert failed.status == "failed"
    assert failed.error is not None
    assert 'slot "tone" needs at least 1, 0 were chosen' in str(failed.error["message"])
    assert reply.beyond.calls == []
