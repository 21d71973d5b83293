"""The hand-written orchestrator: approved, rejected, skipped, attacked, restarted."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Overwrite

from cinatra_sdk.activations import advance
from cinatra_sdk.errors import InputInvalid, NodeFailed, PolicyInvalid, ValueRefused
from cinatra_sdk.langgraph_threads.host_context import DERIVED, HostContext, host_context
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.runs import Stop
from graphs.orchestrator_v1 import NODES, POLICY, SAMPLES, build_graph

INPUT = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}
GATES = ["hitl_recipients_review", "hitl_drafts_review", "hitl_send_confirmation"]
STAGES = [
    "stage_0",
    "stage_1_recipients",
    "stage_2_generate_drafts",
    "stage_3_ai_review",
    "stage_4_send",
]
CALLED_BEFORE = {GATES[0]: STAGES[:2], GATES[1]: STAGES[:3], GATES[2]: STAGES[:4]}


class Ran:
    """One run of the graph on a simulated platform and a saver of its own."""

    def __init__(self, saver: InMemorySaver | None = None, **context: Any) -> None:
        self.platform = SimulatedPlatform(SAMPLES)
        self.graph = build_graph(self.platform, saver or InMemorySaver())
        self.config: Any = {"configurable": {"thread_id": "r1"}}
        self.context = host_context(run_id="r1", **context)
        self.asked: list[str] = []

    def to(self, *decisions: bool, given: Any = None) -> Stop:
        """Drive the run with these decisions at its gates, in order."""
        left = list(decisions)

        def answer(gate: Any) -> Any:
            if not left:
                return None
            self.asked.append(gate.id)
            return {"approved": left.pop(0), "by": "ann"}

        return advance(self.graph, given or INPUT, self.config, context=self.context, answer=answer)

    def invoke(self, command: Any) -> Any:
        return self.graph.invoke(command, self.config, context=self.context)

    @property
    def called(self) -> list[str]:
        return [call.node for call in self.platform.calls]

    @property
    def values(self) -> dict[str, Any]:
        values: dict[str, Any] = self.graph.get_state(self.config).values
        return values

    @property
    def waiting(self) -> Any:
        (interrupt,) = self.graph.get_state(self.config).interrupts
        return interrupt


def test_the_graph_has_the_ten_nodes_and_input_and_output_apart_from_the_state() -> None:
    graph = build_graph(SimulatedPlatform())
    assert [name for name in graph.get_graph().nodes if not name.startswith("__")] == list(NODES)
    assert len(NODES) == 10
    assert set(graph.get_input_jsonschema()["properties"]) == set(INPUT)
    assert set(graph.get_output_jsonschema()["properties"]) == {
        "status",
        "rejected_at",
        "stage_4_send_output",
    }


def test_approving_all_three_gates_sends_and_completes() -> None:
    ran = Ran()
    stop = ran.to(True, True, True)
    assert stop.status == "completed"
    assert ran.asked == GATES
    assert ran.called == STAGES
    assert ran.values["stage_4_send_output"] == {"sent": 2}
    assert ran.values["send_decision"]["by"] == "ann"
    assert ran.values["bearer_token"] == ""
    assert ran.values["run"]["run_id"] == "r1"


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_rejection_stops_the_run_and_no_later_stage_calls_the_platform(position: int) -> None:
    ran = Ran()
    stop = ran.to(*[True] * position, False)
    assert stop.status == "rejected"
    assert ran.asked == GATES[: position + 1]
    assert ran.called == CALLED_BEFORE[GATES[position]]
    assert ran.values["rejected_at"] == stop.rejected_at != ""
    assert "stage_4_send_output" not in ran.values


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_rejected_run_stays_rejected_whatever_is_sent_to_it(position: int) -> None:
    ran = Ran()
    rejected_at = ran.to(*[True] * position, False).rejected_at
    called = ran.called
    for attack in (
        {**INPUT, "campaign_goal": "again"},
        Command(goto="stage_4_send"),
        Command(update={"rejected_at": "", "status": "running"}),
        Command(update={"rejected_at": Overwrite(""), "status": {"__overwrite__": "completed"}}),
    ):
        ran.invoke(attack)
    assert (ran.values["status"], ran.values["rejected_at"]) == ("rejected", rejected_at)
    assert ran.called == called


def test_each_gate_shows_the_domain_data_and_no_secret() -> None:
    ran = Ran(run_token="canary-run-token", bearer_token="canary-bearer-token")
    shown = []
    ran.to()
    for _ in GATES:
        shown.append(ran.waiting.value)
        ran.invoke(Command(resume={ran.waiting.id: {"approved": True}}))
    recipients, drafts, sending = (payload["values"] for payload in shown)
    assert [person["email"] for person in recipients["recipients"]] == [
        "ada@example.com",
        "alan@example.com",
    ]
    assert [draft["subject"] for draft in drafts["drafts"]] == ["Hello Ada", "Hello Alan"]
    assert sending["recipientCount"] == 2
    assert sending["senderEmail"] == "me@example.com"
    assert [payload["xRenderer"] for payload in shown] == [
        "@cinatra-agents/email-recipients:output",
        "@cinatra-agents/email-drafts:output",
        "@cinatra-agents/email-delivery:send-confirmation",
    ]
    assert "canary" not in json.dumps(shown)


def test_no_credential_of_the_host_is_kept_anywhere_in_the_checkpoints() -> None:
    saver = InMemorySaver()
    ran = Ran(saver, run_token="canary-run-token", bearer_token="canary-bearer-token")
    ran.to(True, True, True)
    kept = repr((dict(saver.storage), dict(saver.writes), dict(saver.blobs)))
    assert "campaign-1" in kept  # the dump does hold what the run knows
    assert "canary" not in kept
    assert "canary" not in repr(ran.platform.calls)


# ------------------------------------------------------------------------- the policy


def steps(**required: bool) -> dict[str, Any]:
    entries = [{"stepNumber": int(key[1:]), "requiresApproval": on} for key, on in required.items()]
    return {"steps": entries}


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (steps(s2=False, s3=True, s5=True), GATES[1:]),
        (steps(s2=False, s3=False, s5=True), GATES[2:]),
        (steps(s5=True), GATES[2:]),
        (steps(s2=False, s3=False, s5=False), []),
    ],
    ids=["step 2 waived", "steps 2 and 3 waived", "steps 2 and 3 absent", "all waived"],
)
def test_a_step_that_the_policy_waives_or_lacks_is_skipped(
    policy: dict[str, Any], asked: list[str]
) -> None:
    ran = Ran(approval_policy=policy)
    assert ran.to(*[True] * len(asked)).status == "completed"
    assert ran.asked == asked
    assert ran.called == STAGES
    assert ran.values["recipients_decision"]["skipped"] is (GATES[0] not in asked)


@pytest.mark.parametrize(
    "policy",
    [None, {"steps": []}, steps(s2=True, s3=True), "steps", {"steps": [{"stepNumber": 5}]}],
    ids=["null", "no steps", "no entry for the send", "text", "malformed entry"],
)
def test_a_policy_that_leaves_the_send_without_an_entry_refuses_to_start(policy: Any) -> None:
    ran = Ran(approval_policy=policy)
    with pytest.raises(PolicyInvalid):
        ran.to(True, True, True)
    assert ran.called == []


@pytest.mark.parametrize(
    "context",
    [None, {"approval_policy": steps(s2=False, s3=False, s5=False)}, HostContext(run_id="x")],
    ids=["no context", "JSON", "unmarked object"],
)
def test_without_the_hosts_own_word_the_graphs_policy_is_in_force(context: Any) -> None:
    ran = Ran()
    ran.graph.invoke(INPUT, ran.config, context=context)
    assert ran.values["approval_policy"] == POLICY
    assert ran.values["run"]["run_id"] == "r1"
    assert ran.waiting.response_schema["x-gate"]["id"] == GATES[0]


# ------------------------------------------------------------------- what callers try

FORMS = {
    "plain": lambda value: value,
    "overwrite key": lambda value: {"__overwrite__": value},
    "overwrite type": lambda value: {"type": "__overwrite__", "value": value},
    "typed overwrite": Overwrite,
}
WAIVED = steps(s2=False, s3=False, s5=False)
APPROVED = {"approved": True, "skipped": False}
FORGED: dict[str, Any] = {
    "approval_policy": WAIVED,
    "bearer_token": "stolen",
    "run": {"run_id": "other", "tenant": "other"},
    "input_params": {"campaign_goal": "other"},
    "stage_1_recipients_output": {"recipients": [{"email": "victim@example.com"}]},
    "recipients_decision": APPROVED,
    "send_decision": APPROVED,
}
ENDINGS = {"rejected_at": "2020-01-01", "status": "completed"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", [*FORGED, *ENDINGS])
def test_an_input_cannot_set_what_is_not_an_input(key: str, form: str) -> None:
    ran = Ran()
    ran.invoke({**INPUT, key: FORMS[form]({**FORGED, **ENDINGS}[key])})
    assert ran.values["approval_policy"] == POLICY
    assert ran.values["bearer_token"] == ""
    assert ran.values["run"]["run_id"] == "r1"
    assert ran.values["status"] == "running"
    assert "rejected_at" not in ran.values
    assert ran.values["input_params"] == INPUT
    assert ran.waiting.response_schema["x-gate"]["id"] == GATES[0]
    assert ran.called == STAGES[:2]


@pytest.mark.parametrize("form", ["overwrite key", "overwrite type"])
def test_an_input_that_looks_like_an_instruction_of_the_engine_is_refused(form: str) -> None:
    ran = Ran()
    with pytest.raises(ValueRefused, match="reserved for the engine"):
        ran.invoke({**INPUT, "campaign_goal": FORMS[form]("x")})
    assert ran.called == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"campaign_goal": "x", "audience": "y"}, "required input 'sender_email'"),
        ({**INPUT, "audience": 5}, "input 'audience' does not fit"),
        ({**INPUT, "campaign_goal": ""}, "input 'campaign_goal' does not fit"),
    ],
)
def test_an_input_that_does_not_fit_is_named_and_nothing_is_called(given: Any, named: str) -> None:
    ran = Ran()
    with pytest.raises(InputInvalid, match=named):
        ran.invoke(given)
    assert ran.called == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", FORGED)
def test_command_update_on_a_waiting_run_changes_no_sealed_key(key: str, form: str) -> None:
    ran = Ran()
    ran.to()
    before = {name: ran.values.get(name) for name in FORGED}
    ran.invoke(Command(update={key: FORMS[form](FORGED[key])}))
    assert {name: ran.values.get(name) for name in FORGED} == before
    assert ran.called == STAGES[:2]


@pytest.mark.parametrize("key", FORGED)
def test_update_state_on_a_fresh_thread_sets_nothing_and_the_run_begins_as_usual(key: str) -> None:
    ran = Ran()
    ran.graph.update_state(ran.config, {key: FORGED[key]}, as_node="host_node")
    assert key not in ran.values
    ran.invoke(INPUT)
    assert ran.values["approval_policy"] == POLICY
    assert ran.values["run"]["run_id"] == "r1"
    assert ran.values["input_params"] == INPUT
    assert ran.waiting.response_schema["x-gate"]["id"] == GATES[0]


@pytest.mark.parametrize("as_node", ["host_node", "stage_3_ai_review", "hitl_send_confirmation"])
def test_going_on_after_update_state_on_a_fresh_thread_calls_nothing(as_node: str) -> None:
    ran = Ran()
    forged = {**FORGED, "status": "running"}
    ran.graph.update_state(ran.config, forged, as_node=as_node)
    with pytest.raises(NodeFailed):
        ran.invoke(None)
    assert ran.called == []


def test_update_state_as_the_last_gate_does_not_send() -> None:
    ran = Ran()
    ran.to(True, True)
    ran.graph.update_state(ran.config, {"send_decision": APPROVED}, as_node=GATES[2])
    with pytest.raises(NodeFailed, match=r"'stage_4_send' was reached without .* 'send_decision'"):
        ran.invoke(None)
    assert ran.called == STAGES[:4]


@pytest.mark.parametrize("target", [*STAGES[2:], "hitl_send_confirmation", "terminal_node"])
def test_a_jump_past_a_gate_is_refused_and_the_run_can_still_be_finished(target: str) -> None:
    ran = Ran()
    ran.to()
    with pytest.raises(NodeFailed, match="was reached"):
        ran.invoke(Command(goto=target))
    assert ran.called == STAGES[:2]
    assert ran.values["status"] == "running"
    ran.invoke(INPUT)
    assert ran.to(True, True, True).status == "completed"
    assert ran.called == STAGES


def test_a_jump_on_a_fresh_thread_names_the_missing_key() -> None:
    ran = Ran()
    # The first node, which lacks its input, and the stage, which lacks the host's part, run side
    # by side: either may be the first to say so.
    with pytest.raises(ValueError, match=r"the state has no key 'bearer_token'|'campaign_goal'"):
        ran.invoke(Command(goto="stage_4_send"))
    assert ran.called == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", ENDINGS)
def test_a_forged_ending_can_stop_the_run_but_never_makes_it_send(key: str, form: str) -> None:
    ran = Ran()
    ran.to(True, True)
    with contextlib.suppress(NodeFailed):
        ran.invoke(Command(update={key: FORMS[form](ENDINGS[key])}))
    ran.graph.update_state(ran.config, {key: FORMS[form](ENDINGS[key])}, as_node=GATES[2])
    with contextlib.suppress(NodeFailed):
        ran.invoke(None)
    snapshot = ran.graph.get_state(ran.config)
    assert "stage_4_send_output" not in snapshot.values
    assert ran.called == STAGES[:4]


def test_a_second_input_on_a_waiting_run_asks_the_same_question_and_calls_nothing_twice() -> None:
    ran = Ran()
    ran.to(True)
    ran.invoke({**INPUT, "campaign_goal": "other", "approval_policy": WAIVED})
    assert ran.waiting.response_schema["x-gate"]["id"] == GATES[1]
    assert ran.values["input_params"] == INPUT
    assert ran.values["approval_policy"] == POLICY
    assert ran.to(True, True).status == "completed"
    assert ran.called == STAGES


def test_a_second_input_on_a_completed_run_sends_nothing_again() -> None:
    ran = Ran()
    ran.to(True, True, True)
    ran.invoke({**INPUT, "campaign_goal": "other"})
    assert ran.values["status"] == "completed"
    assert ran.values["stage_4_send_output"] == {"sent": 2}
    assert ran.called == STAGES


def test_another_context_on_a_later_activation_does_not_change_the_policy() -> None:
    ran = Ran()
    ran.to()
    ran.context = host_context(run_id="other", approval_policy=WAIVED)
    ran.invoke(INPUT)
    assert ran.values["approval_policy"] == POLICY
    assert ran.values["run"]["run_id"] == "r1"
    assert host_context().approval_policy is DERIVED


@pytest.mark.parametrize(
    "answer", [True, "yes", {}, {"approved": "true"}, {"approved": True, "extra": 1}], ids=repr
)
def test_an_answer_that_does_not_fit_leaves_the_gate_open(answer: Any) -> None:
    ran = Ran()
    ran.to()
    with pytest.raises(ValueError, match=r"the answer|'approved'"):
        ran.invoke(Command(resume={ran.waiting.id: answer}))
    assert ran.waiting.response_schema["x-gate"]["id"] == GATES[0]
    assert ran.to(True, True, True).status == "completed"
    assert ran.called == STAGES


# ------------------------------------------------------------------ restart and async


def test_another_saver_on_the_same_storage_goes_on_and_repeats_no_call() -> None:
    first = InMemorySaver()
    before = Ran(first)
    before.to(True)
    second = InMemorySaver()
    second.storage, second.writes, second.blobs = first.storage, first.writes, first.blobs
    after = Ran(second)
    assert after.to(True, True).status == "completed"
    assert before.called == STAGES[:3]
    assert after.called == STAGES[3:]


def test_an_async_run_uses_the_platforms_async_form_only() -> None:
    class AsyncOnly(SimulatedPlatform):
        def call(self, call: Any) -> Any:
            raise AssertionError("the event loop was blocked")

        async def acall(self, call: Any) -> Any:
            return super().call(call)

    platform = AsyncOnly(SAMPLES)
    graph = build_graph(platform, InMemorySaver())
    config: Any = {"configurable": {"thread_id": "r1"}}
    context = host_context(run_id="r1")

    async def drive() -> dict[str, Any]:
        result = await graph.ainvoke(INPUT, config, context=context)
        for _ in GATES:
            (waiting,) = result["__interrupt__"]
            answer = Command(resume={waiting.id: {"approved": True}})
            result = await graph.ainvoke(answer, config, context=context)
        return result

    assert asyncio.run(drive()) == {"status": "completed", "stage_4_send_output": {"sent": 2}}
    assert [call.node for call in platform.calls] == STAGES
