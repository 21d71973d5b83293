"""Public agents of Cinatra, end to end on the local platform, with scripted models and real Postgres."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.host import standalone
from cinatra_sdk.host.host_settings import LocalSettings
from cinatra_sdk.host.model_routes import modelled, owned_by, read_models
from cinatra_sdk.store.artifacts.object_store import SavedObjects
from oas_compiler import compile_flow

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "cinatra"
pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the folder of real input is absent")
SETTINGS = LocalSettings.model_validate({"actor": {"orgId": "acme", "principalId": "ann"}})
RECIPIENTS = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
BUNDLE = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
DRAFT = {"recipientName": "Ben", "recipientEmail": "ben@example.org", "subject": "Hi", "body": "…"}


class Desk:
    """A store, and a script for the models of its platform."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.store = RunStore.open(dsn)
        self.objects = SavedObjects(self.store.database)
        self._folder = folder

    def start(self, agent: str, params: dict[str, Any], script: Any) -> Any:
        path = self._folder / "script.json"
        path.write_text(json.dumps(script))
        routed = modelled(
            self.store.database,
            read_models([f"scripted:{path}"]),
            identify=owned_by(SETTINGS.owner),
        )
        flow = compile_flow(CORPUS / agent)
        platform = standalone(self.store.database, SETTINGS, beyond=routed)
        return self.store.start(flow.with_platform(platform), params, "r1")

    def answer(self, run: Any, gate: str, value: Any) -> Any:
        """Data, or a text that a node reads."""
        return self._decide(run, gate, Decision.approve(value=value, by="ann"))

    def approve(self, run: Any, gate: str, reason: str) -> Any:
        """A yes where nothing reads a text; the reason is kept with it."""
        return self._decide(run, gate, Decision.approve(reason=reason, by="ann"))

    def _decide(self, run: Any, gate: str, decision: Decision) -> Any:
        """By another store, which builds the platform again from the run's row."""
        assert run.status == "waiting", run.error
        assert [one.id for one in run.waiting] == [gate]
        with RunStore.open(self.store.database.dsn) as other:
            return other.answer("r1", gate, decision)

    def used(self) -> dict[str, int]:
        return {node.node: node.calls for one in self.store.usage("r1") for node in one.nodes}


@pytest.fixture
def desk(fresh_database: str, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(fresh_database, tmp_path)
    yield made
    made.store.close()


def test_the_author_writes_a_draft(desk: Desk) -> None:
    run = desk.start(
        "author-agent", {"spec": "An agent", "packageSlug": "a"}, {"author": {"draft": "D"}}
    )
    assert (run.status, run.outputs) == ("completed", {"draft": "D"})
    assert desk.used() == {"author": 1}


def test_the_drafts_of_a_person_are_saved_over_those_of_the_model(desk: Desk) -> None:
    drafted = {"draftedEmails": [DRAFT], "summary": "one"}
    save = {
        "$calls": [
            {
                "name": "objects_save",
                "args": {
                    "typeHint": "@cinatra-ai/campaigns:email-draft-bundle",
                    "rawData": drafted,
                },
            }
        ]
    }
    final = {"draftBundle": drafted, "draftBundleTitle": "One", "draftBundleDocument": "## Ben"}
    params = {"campaignId": RECIPIENTS, "confirmedRecipients": [{"contactId": "c1"}]}
    run = desk.start("email-drafting-agent", params, {"draft": [[save, final]]})
    reviewed = [{**DRAFT, "subject": "Hello", "body": "On bees"}]
    words = json.dumps({"draftedEmails": reviewed})
    run = desk.answer(run, "approval_gate", words)
    assert run.status == "completed", run.error
    assert run.outputs == {
        "draftBundle": {"draftedEmails": reviewed, "summary": "one"},
        "draftBundleTitle": "One",
        "draftBundleDocument": "## Ben\n**Subject:** Hello\n\nOn bees\n\n---\n",
        "userResponse": words,
    }
    (kept,) = desk.objects.of_run("r1", org_id="acme")
    assert (kept.version, kept.run_id) == (2, "r1")
    first = desk.objects.get(kept.id, org_id="acme", version=1)
    assert first is not None
    value: Any = first.held.value()
    assert value == {**drafted, "cinatra_agent_run_id": "r1"}
    assert desk.objects.get(kept.id, org_id="other") is None
    assert desk.used() == {"draft": 2}


def test_a_draft_is_written_with_the_context_that_a_person_chose(desk: Desk) -> None:
    post = {"title": "T", "excerpt": "E", "content": "C", "sourcesUsed": ["s"], "notes": ""}
    run = desk.start(
        "blog-draft-writer-agent",
        {"idea": {"title": "Bees", "summary": "On the roof"}},
        {"write": post},
    )
    none = {"slotId": "draftContext", "resolutionMode": "accumulate", "selectedRefs": []}
    gate = "context_draftContext/ctx-draftContext-context_select_gate"
    run = desk.answer(run, gate, none)
    assert (run.status, run.outputs) == ("completed", post)
    assert desk.used() == {"write": 1}


def test_an_answer_of_a_wrong_type_fails_the_node_and_names_the_output(desk: Desk) -> None:
    post = {"title": "T", "excerpt": "E", "content": "C", "sourcesUsed": "s", "notes": ""}
    run = desk.start(
        "blog-draft-writer-agent",
        {"idea": {"title": "Bees", "summary": "On the roof"}},
        {"write": [[post, post]]},
    )
    none = {"slotId": "draftContext", "resolutionMode": "accumulate", "selectedRefs": []}
    run = desk.answer(run, "context_draftContext/ctx-draftContext-context_select_gate", none)
    assert run.status == "failed"
    assert run.error is not None
    assert "sourcesUsed: not of type 'array', got string" in run.error["message"]


def test_a_campaign_goes_through_every_gate_to_its_send(desk: Desk) -> None:
    script = {
        "recipients-generate": {
            "confirmedRecipientsRef": RECIPIENTS,
            "recipientCount": 1,
            "confirmedRecipients": [{"name": "Ben"}],
        },
        "drafts-draft": {"draftBundleRef": BUNDLE},
        "sender-send": {"sendResult": {"sent": 1}},
    }
    setup = {"offeringCompanyWebsite": "https://bees.example", "callToAction": "Call us"}
    run = desk.start("email-outreach-agent", {}, script)
    run = desk.answer(run, "setup_gate", json.dumps(setup))
    scope = json.dumps({"type": "list", "listId": "l1"})
    run = desk.answer(run, "recipients_flow/recipients-scope_gate", scope)
    run = desk.approve(run, "recipients_flow/recipients-review_gate", "fine")
    run = desk.answer(run, "skills_flow/skills-recommend_gate", json.dumps({"confirmed": True}))
    none = {"slotId": "offeringContext", "resolutionMode": "accumulate", "selectedRefs": []}
    gate = "context_offeringContext/ctx-offeringContext-context_select_gate"
    run = desk.answer(run, gate, none)
    run = desk.approve(run, "drafts_flow/drafts-approval_gate", "send them")
    run = desk.approve(run, "sender_flow/sender-approval_gate", "yes")
    assert run.status == "completed", run.error
    (campaign,) = desk.objects.of_run("r1", org_id="acme")
    assert campaign.held.value() == {**setup, "senderName": "", "cinatra_agent_run_id": "r1"}
    assert desk.used() == {
        "recipients_flow/recipients-generate": 1,
        "drafts_flow/drafts-draft": 1,
        "sender_flow/sender-send": 1,
    }


def test_a_trigger_keeps_its_settings(desk: Desk) -> None:
    run = desk.start("trigger-agent", {}, {})
    settings = {
        "triggerType": "recurring",
        "cronExpression": "0 9 * * 1",
        "timezone": "Europe/Berlin",
    }
    run = desk.answer(run, "configure_gate", json.dumps(settings))
    assert run.status == "completed", run.error
    kept: Any = desk.objects.of_run("r1", org_id="acme")[0].held.value()
    assert kept == {**settings, "scheduledAt": "", "enabled": True}


def test_a_test_send_is_refused_by_its_name_with_what_to_do(desk: Desk) -> None:
    run = desk.start("email-test-delivery-agent", {"campaignId": RECIPIENTS}, {})
    run = desk.answer(run, "test_form_gate", json.dumps({"action": "send"}))
    assert run.status == "failed"
    assert run.error is not None
    assert "email_test_delivery_run_send sends a real mail" in run.error["message"]
    assert "HostParts(passthrough=" in run.error["message"]
