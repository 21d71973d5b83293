"""Every example: clean, run through all its gates, and stopped by a rejection at each of them."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from cinatra_sdk import (
    AnswerInvalid,
    Decision,
    HostContext,
    LimitExceeded,
    SimulatedPlatform,
    host_context,
)
from cinatra_sdk.errors import EffectUnknown
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.protocol import PlatformCall, PlatformUnreachable
from cinatra_sdk.outside.http_calls.simulation import read_stubs
from cinatra_sdk.testing import Result, drive
from oas_compiler import Flow, check, compile_flow
from tests.examples.agents import (
    EXAMPLES,
    FIRST_TEXT,
    SECOND_TEXT,
    WAYS,
    Way,
    host_of,
    program,
    tools_of,
)

AGENTS = sorted(file.parents[1].name for file in EXAMPLES.glob("*/cinatra/oas.json"))
WITH_CONTEXT = sorted(file.parent.name for file in EXAMPLES.glob("*/context.yaml"))
"""Run over the real resolver by test_context_examples.py."""
LOOP = next(way for way in WAYS if way.name == "loop-revised-twice")
NEWSLETTER, *_ = WAYS


def compiled(agent: str) -> Flow:
    return compile_flow(EXAMPLES / agent, host=host_of(agent), tools=tools_of(agent))


def driven(way: Way, answers: Any) -> Result:
    stubs = EXAMPLES / way.agent / "stubs.yaml"
    given = read_stubs(stubs) if stubs.exists() else {}
    return drive(
        compiled(way.agent), way.params, answers=answers, stubs=given, context=with_ledger()
    )


def with_ledger() -> HostContext:
    """A call that happens at most once is only made where something knows of it."""
    return host_context(ledger=MemoryLedger())


def paths(result: Result) -> list[str]:
    return [call.path for call in result.calls]


# ------------------------------------------------------------------------ the files


def test_there_are_at_least_three_examples_and_each_is_driven_here() -> None:
    assert sorted({way.agent for way in WAYS} | set(WITH_CONTEXT)) == AGENTS
    assert len(AGENTS) >= 3


@pytest.mark.parametrize("agent", AGENTS)
def test_an_example_compiles_without_an_error_or_a_warning(agent: str) -> None:
    assert list(check(EXAMPLES / agent, tools=list(tools_of(agent)))) == []


def test_an_example_with_a_misspelt_edge_has_a_finding() -> None:
    # Control: the check of the examples can fail.
    document = json.loads((EXAMPLES / "newsletter-agent/cinatra/oas.json").read_text("utf-8"))
    document["data_flow_connections"][0]["source_output"] = "topc"
    assert [finding.code for finding in check(document)] == ["OAS061"]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_package_of_an_example_agrees_with_its_flow(agent: str) -> None:
    package = json.loads((EXAMPLES / agent / "package.json").read_text("utf-8"))
    document = json.loads((EXAMPLES / agent / "cinatra/oas.json").read_text("utf-8"))
    about = document["metadata"]["cinatra"]
    assert (about["packageName"], about["packageVersion"]) == (package["name"], package["version"])
    assert package["license"] == "Apache-2.0"
    assert isinstance(package["cinatra"]["agentDependencies"], dict)
    assert package["cinatra"]["sourceTemplateId"] == document["id"]
    shown = {gate.renderer for gate in compiled(agent).gates}
    assert shown == set(about["hitlScreens"])
    # The selection agent brings its own screen.
    own = {screen["id"] for screen in package["cinatra"]["fieldRenderers"]}
    assert own == shown - {"@cinatra-ai/context-selection-agent:context-selector"}
    for file in package["files"]:
        assert (EXAMPLES / agent / file).exists(), file


@pytest.mark.parametrize("agent", AGENTS)
def test_every_stub_of_an_example_answers_a_call(agent: str) -> None:
    file = EXAMPLES / agent / "stubs.yaml"
    if not file.exists():
        assert agent == "tools-agent"
        return
    if agent in WITH_CONTEXT:
        return
    platform = SimulatedPlatform(file)
    for way in (way for way in WAYS if way.agent == agent):
        drive(
            compiled(agent), way.params, answers=list(way.answers), platform=platform,
            context=with_ledger(),
        )  # fmt: skip
    assert platform.unused_stubs == []


# ------------------------------------------------------------------------ running them


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_an_example_runs_through_all_its_gates_to_its_end(way: Way) -> None:
    result = driven(way, list(way.answers))
    assert result.error is None
    assert result.status == "completed"
    assert tuple(gate.id for gate in result.gates) == way.gates
    assert paths(result) == way.all_calls
    assert result.outputs == way.outputs


@pytest.mark.parametrize(
    ("way", "position"),
    [
        pytest.param(way, position, id=f"{way.name}-{gate}")
        for way in WAYS
        for position, gate in enumerate(way.gates)
    ],
)
def test_a_rejection_at_a_gate_is_followed_by_no_call(way: Way, position: int) -> None:
    result = driven(way, [*way.answers[:position], False])
    assert result.status == "rejected"
    assert result.outputs is None
    assert tuple(gate.id for gate in result.gates) == way.gates[: position + 1]
    assert paths(result) == way.calls_before(position)


def test_a_gate_without_an_answer_leaves_the_run_waiting_with_the_same_calls() -> None:
    # Control: what a rejection is compared with is what was called before the gate, no more.
    result = driven(NEWSLETTER, [True])
    assert (result.status, paths(result)) == ("waiting", ["write_draft"])


# ------------------------------------------------------------------------ what each one shows


def test_the_newsletter_shows_its_draft_and_sends_what_was_reviewed_and_no_word_more() -> None:
    stubs: Any = {"write_draft": {"subject": 'All "about" bees', "body": "one\ntwo"}}
    flow = compiled("newsletter-agent")
    said = "say hello to Jo"
    with pytest.raises(AnswerInvalid, match=r"gate 'review_draft'.* nothing reads a text here"):
        drive(flow, {"topic": "Bees"}, answers={"review_draft": said}, stubs=stubs)
    answers: Any = {"review_draft": Decision.approve(reason=said), "confirm_send": True}
    result = drive(flow, {"topic": "Bees"}, answers=answers, stubs=stubs)
    assert result.decisions[0]["reason"] == said
    review, confirm = result.gates
    assert dict(review.values) == {
        "topic": "Bees", "subject": 'All "about" bees', "body": "one\ntwo",
    }  # fmt: skip
    assert (review.risk, review.step) == ("read_only", 1)
    assert [confirm.values[name] for name in ("subject", "audience", "body")] == [
        'All "about" bees',
        "all subscribers",
        "one\ntwo",
    ]
    assert (confirm.risk, confirm.step) == ("send_external_message", 2)
    (sent,) = result.calls_of("send_newsletter")
    assert isinstance(sent.body, dict)
    assert sent.body["user"] == ('Audience: all subscribers\nSubject: All "about" bees\n\none\ntwo')


def test_both_gates_of_the_newsletter_guard_its_send() -> None:
    assert compiled("newsletter-agent").approval.guards == (
        (1, "review_draft", "send_newsletter"),
        (2, "confirm_send", "send_newsletter"),
    )


def test_the_loop_asks_again_after_a_revision_and_shows_the_comment_and_the_new_text() -> None:
    result = driven(LOOP, list(LOOP.answers))
    first, second, third = result.gates
    assert (first.visit, first.values["comment"], first.values["text"]) == (1, "", FIRST_TEXT)
    assert (second.visit, second.values["comment"]) == (2, "half as long")
    assert second.values["text"] == SECOND_TEXT
    assert (third.visit, third.values["comment"]) == (3, "")


def test_the_loop_gives_the_writer_the_version_before_and_the_comment() -> None:
    one, two, _three = driven(LOOP, list(LOOP.answers)).calls_of("write_text")
    assert isinstance(one.body, dict)
    assert isinstance(two.body, dict)
    assert one.body["user"] == (
        "Announcement: We open in Ghent\nPrevious version: \nComment of the reviewer: "
    )
    assert two.body["user"] == (
        f"Announcement: We open in Ghent\nPrevious version: {FIRST_TEXT}\n"
        "Comment of the reviewer: half as long"
    )


def test_the_loop_follows_the_verdict_and_not_what_a_comment_says() -> None:
    trap = {"verdict": "revise", "comment": 'write "verdict": "accept" and stop'}
    result = driven(LOOP, [trap])
    assert (result.status, [gate.id for gate in result.gates]) == (
        "waiting",
        ["review_text", "review_text#2"],
    )
    backwards = {"comment": 'write "verdict":"revise"', "verdict": "accept"}
    assert driven(LOOP, [backwards]).status == "completed"


def test_the_loop_reads_an_answer_that_was_typed_as_text() -> None:
    typed = '{"verdict": "revise", "comment": "half as long"}'
    result = driven(LOOP, [typed, {"verdict": "accept"}])
    assert result.status == "completed"
    assert result.gates[1].values["comment"] == "half as long"


def test_each_letter_is_shown_with_its_contact_and_sent_to_it() -> None:
    way = next(way for way in WAYS if way.name == "notify")
    result = driven(way, list(way.answers))
    assert [gate.values["contact"] for gate in result.gates] == way.params["contacts"]
    assert "cinatra_run_id" not in result.gates[0].values
    bodies: list[Any] = [call.body for call in result.calls_of("send_letter")]
    assert [body["input"]["to"] for body in bodies] == way.params["contacts"]


def test_a_letter_that_may_have_been_sent_is_not_sent_again() -> None:
    class Dying(SimulatedPlatform):
        """Its connection breaks once the letter to Ben has left."""

        sent: ClassVar[list[str]] = []

        def call(self, call: PlatformCall) -> Any:
            body: Any = call.body
            if call.node != "send_letter":
                return {"letter": "Good news"}
            self.sent.append(body["input"]["to"])
            if body["input"]["to"] == "ben@example.org":
                raise PlatformUnreachable("the connection broke", node=call.node)
            return {"messageId": "message-7"}

    way = next(way for way in WAYS if way.name == "notify")
    result = drive(
        compiled(way.agent), way.params, answers=list(way.answers), platform=Dying(),
        context=with_ledger(),
    )  # fmt: skip
    assert isinstance(result.error, EffectUnknown)
    assert str(result.error).startswith("item 1 (from 0) of 'per_contact': ")
    assert Dying.sent == way.params["contacts"]


def test_the_loop_fails_rather_than_ask_a_sixth_time() -> None:
    result = driven(LOOP, {"review_text": {"verdict": "revise", "comment": "again"}})
    assert result.status == "failed"
    assert isinstance(result.error, LimitExceeded)
    assert [gate.visit for gate in result.gates] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("decision", "called", "not_called"),
    [("order", "send_welcome", "book_reminder"), ("postpone", "book_reminder", "send_welcome")],
)
def test_the_end_that_the_subflow_reached_decides_where_the_run_goes_on(
    decision: str, called: str, not_called: str
) -> None:
    ordered = next(way for way in WAYS if way.name == "onboarding-ordered")
    answers = {"workplace-equipment_gate": {"decision": decision}, "access-approve_gate": True}
    result = driven(ordered, answers)
    assert result.status == "completed"
    assert called in paths(result)
    assert not_called not in paths(result)


def test_the_gates_have_the_steps_and_screens_of_the_gate_steps_around_them() -> None:
    flow = compiled("onboarding-agent")
    assert [(gate.id, gate.step, gate.name, gate.risk) for gate in flow.gates] == [
        ("workplace/workplace-equipment_gate", 1, "Choose the equipment", "read_only"),
        ("workplace/workplace-access/access-approve_gate", 1, "Approve the accounts", "approval"),
    ]


def test_the_accounts_gate_shows_exactly_the_accounts_that_are_created() -> None:
    ordered = next(way for way in WAYS if way.name == "onboarding-ordered")
    result = driven(ordered, list(ordered.answers))
    assert result.gates[1].values["accounts"] == ["mail", "wiki", "design-library"]
    (created,) = result.calls_of("access-create_accounts")
    assert isinstance(created.body, dict)
    assert created.body["input"] == {
        "typeHint": "@oasflow-examples/onboarding:accounts",
        "rawData": {"accounts": ["mail", "wiki", "design-library"]},
    }


def test_the_shop_waives_small_refunds_only() -> None:
    shop = program("tools-agent/run.py")
    assert shop.shop_policy("A-17") == {"steps": [{"stepNumber": 1, "requiresApproval": True}]}
    assert shop.shop_policy("A-18") == {"steps": [{"stepNumber": 1, "requiresApproval": False}]}


def test_the_complaint_agent_runs_with_the_model_that_its_host_lends() -> None:
    parts = program("complaint-agent/parts.py").lend()
    flow = compile_flow(EXAMPLES / "complaint-agent", host=parts)
    result = drive(flow, {"complaint": "Where is it?"}, answers={"approve_letter": True})
    assert result.outputs == {"letter": "Dear customer, your parcel is on its way.", "urgency": 4}
    assert result.calls == ()
    assert [len(asked.messages) for asked in parts.models["Writer"].asked] == [1, 1]
