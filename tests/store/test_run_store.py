"""Durable runs on a real Postgres."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from cinatra_sdk import (
    AnswerInvalid,
    Decision,
    FlowChanged,
    GateClosed,
    InputInvalid,
    KindRefused,
    PolicyInvalid,
    RunBusy,
    RunEnded,
    RunNotCompleted,
    RunNotFound,
    RunStore,
    StoreError,
)
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import connect
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, message, port, start

FLOW = flow_of(
    start(port("topic", default="x")),
    gate("first", output=port("said")),
    api("work", inputs=[port("said")], data={"said": "{{ said }}"}, outputs=[port("done")]),
    gate("second"),
    end(port("done"), port("said")),
    edges=[("first", "said", "work", "said"), ("work", "done", "end", "done"), ("first", "said", "end", "said")],
)  # fmt: skip


@pytest.fixture
def store(fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as opened:
        yield opened


def compiled(**options: Any) -> Any:
    options.setdefault("platform", SimulatedPlatform())
    return compile_flow(FLOW, **options)


def ann(**more: Any) -> Decision:
    return Decision.approve(by="ann", **more)


def test_a_run_waits_at_its_gates_and_completes_when_they_are_answered(store: RunStore) -> None:
    flow = compiled()
    run = store.start(flow, {"topic": "t"}, run_id="r1", tenant="org1")
    assert (run.id, run.status, run.tenant, run.flow) == ("r1", "waiting", "org1", "The test-flow")
    assert run.input == {"topic": "t"}
    assert [gate.id for gate in run.waiting] == ["first"]
    run = store.answer("r1", "first", ann(value="hello"))
    assert [gate.id for gate in run.waiting] == ["second"]
    assert run.waiting[0].values == {"topic": "t", "done": "simulated done"}
    run = store.answer("r1", "second", ann())
    assert (run.status, run.branch, run.waiting) == ("completed", "next", ())
    assert run.outputs == {"done": "simulated done", "said": "hello"}
    assert store.get("r1") == run
    assert [call.node for call in flow.platform.calls] == ["work"]


def test_a_reject_ends_the_run_and_calls_nothing_more(store: RunStore) -> None:
    flow = compiled()
    store.start(flow, run_id="r1")
    run = store.answer("r1", "first", Decision.reject(by="ann", reason="no"))
    assert (run.status, run.outputs, run.waiting) == ("rejected", None, ())
    assert flow.platform.calls == []
    with pytest.raises(RunEnded, match="'r1' is rejected"):
        store.resume("r1")
    with pytest.raises(RunEnded, match="rejected"):
        store.answer("r1", "second", ann())


def test_every_decision_is_kept_with_who_when_why_and_what_was_shown(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    store.answer("r1", "first", ann(reason="looks right", value="v"))
    (kept,) = store.decisions("r1")
    assert kept["gate_id"] == "first"
    assert kept["kind"] == "approved"
    assert kept["decided_by"] == "ann"
    assert kept["reason"] == "looks right"
    assert kept["answer"]["value"] == "v"
    assert (kept["visit"], kept["step"]) == (1, 1)
    assert len(kept["payload_sha256"]) == 64
    assert len(kept["policy_sha256"]) == 64
    assert kept["decided_at"].tzinfo is not None


@pytest.mark.parametrize("change", ["update decisions set reason = 'x'", "delete from decisions", "truncate decisions"])  # fmt: skip
def test_nobody_changes_or_removes_a_decision(
    store: RunStore, fresh_database: str, owner_database: str, change: Any
) -> None:
    store.start(compiled(), run_id="r1")
    store.answer("r1", "first", ann())
    with connect(owner_database) as connection, pytest.raises(psycopg.errors.RestrictViolation):
        connection.execute(change)
    denied = psycopg.errors.InsufficientPrivilege
    with connect(fresh_database) as connection, pytest.raises(denied):
        connection.execute(change)
    assert len(store.decisions("r1")) == 1


def test_a_gate_takes_one_decision_and_the_second_is_told_who_was_first(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    store.answer("r1", "first", ann())
    with pytest.raises(GateClosed, match="gate 'first' of run 'r1' was already approved by ann at"):
        store.answer("r1", "first", Decision.reject(by="bob"))
    assert [row["decided_by"] for row in store.decisions("r1")] == ["ann"]
    assert store.get("r1").status == "waiting"


def test_an_answer_to_a_gate_that_is_not_open_yet_is_refused(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    with pytest.raises(
        GateClosed, match="gate 'second' is not waiting in run 'r1'; waiting: first"
    ):
        store.answer("r1", "second", ann())
    assert store.decisions("r1") == []


def test_an_answer_that_does_not_fit_writes_nothing(store: RunStore) -> None:
    flow = flow_of(
        start(),
        gate(
            "form",
            output=port("json"),
            inputMessageSchema={
                "type": "object",
                "properties": {"site": {"type": "string"}},
                "required": ["site"],
            },
        ),
        end(),
    )
    run = store.start(compile_flow(flow), run_id="r1")
    for bad in (
        ann(),
        ann(value={"site": 3}),
        ann(value="x\x00"),
        Decision.approve(value={"site": "s"}),
    ):
        with pytest.raises(ValueError):
            store.answer("r1", "form", bad)
    assert store.decisions("r1") == []
    assert store.get("r1") == run
    assert store.answer("r1", "form", ann(value={"site": "s"})).status == "completed"


def test_an_answer_without_a_name_is_refused(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    with pytest.raises(AnswerInvalid, match="gate 'first': the decision does not say who decides"):
        store.answer("r1", "first", Decision.approve(by="  "))


def test_a_run_stays_on_the_flow_it_was_started_with(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    other = compile_flow({**FLOW, "name": "Another version"})
    for attempt in (
        lambda: store.answer("r1", "first", ann(), flow=other),
        lambda: store.resume("r1", flow=other),
    ):
        with pytest.raises(FlowChanged, match="was started with flow 'The test-flow'"):
            attempt()
    assert store.decisions("r1") == []
    assert store.get("r1").status == "waiting"


def test_another_store_goes_on_with_the_stored_flow_alone(
    store: RunStore, fresh_database: str, tmp_path: Any
) -> None:
    record = tmp_path / "calls.jsonl"
    flow = compiled(platform=SimulatedPlatform({"work": {"done": "stubbed"}}, record=record))
    store.start(flow, run_id="r1")
    # The stubs come with the run, the file for the record is each process's own.
    with RunStore.open(fresh_database, record=record) as other:
        other.answer("r1", "first", ann())
        run = other.answer("r1", "second", ann())
    assert run.outputs == {"done": "stubbed", "said": "[Approved by operator]"}
    assert flow.platform.calls == []
    assert record.read_text().count("\n") == 1


def test_a_failed_node_fails_the_run_and_resume_tries_it_again(store: RunStore) -> None:
    error = {"$error": {"status": 503, "code": "NO_LLM_PROVIDER", "message": "no model today"}}
    flow = compiled(platform=SimulatedPlatform({"work": [error, {"done": "at last"}]}))
    store.start(flow, run_id="r1")
    run = store.answer("r1", "first", ann())
    assert run.status == "failed"
    assert run.error is not None
    assert run.error["node"] == "work"
    assert run.error["code"] == "NO_LLM_PROVIDER"
    assert "no model today" in str(run.error["message"])
    run = store.resume("r1")
    assert [gate.id for gate in run.waiting] == ["second"]
    assert store.answer("r1", "second", ann()).outputs == {
        "done": "at last",
        "said": "[Approved by operator]",
    }


def test_a_failed_run_is_told_by_the_log_and_by_its_result(
    store: RunStore, caplog: pytest.LogCaptureFixture
) -> None:
    error = {"$error": {"status": 503, "code": "NO_LLM_PROVIDER", "message": "no model today"}}
    store.start(compiled(platform=SimulatedPlatform({"work": error})), run_id="r1")
    run = store.answer("r1", "first", ann())
    (record,) = [record for record in caplog.records if record.name == "oasflow.store"]
    assert (record.levelname, record.getMessage()[:27]) == ("ERROR", "run 'r1' failed at 'work': ")
    with pytest.raises(
        RunNotCompleted, match=r"run 'r1' failed at 'work': .*no model today"
    ) as said:
        run.result()
    assert (said.value.status, said.value.code) == ("failed", "NO_LLM_PROVIDER")
    assert said.value.node == "work"


def test_only_a_completed_run_has_a_result(store: RunStore) -> None:
    waiting = store.start(compiled(), run_id="r1")
    with pytest.raises(RunNotCompleted, match="run 'r1' waits at first"):
        waiting.result()
    rejected = store.answer("r1", "first", Decision.reject(by="ann"))
    with pytest.raises(RunNotCompleted, match="run 'r1' is rejected") as said:
        rejected.result()
    assert said.value.code == "rejected"
    store.start(compiled(), run_id="r2")
    store.answer("r2", "first", ann())
    run = store.answer("r2", "second", ann())
    assert run.result() == run.outputs


def test_a_bug_in_a_platform_fails_the_run_instead_of_leaving_it_running(store: RunStore) -> None:
    class Broken(SimulatedPlatform):
        def call(self, call: Any) -> Any:
            raise ZeroDivisionError("oops")

    flow = compiled(platform=Broken())
    store.start(flow, run_id="r1")
    run = store.answer("r1", "first", ann())
    assert run.status == "failed"
    assert run.error is not None
    assert "ZeroDivisionError" in str(run.error["message"])


def test_parameters_and_policies_that_do_not_fit_store_nothing(store: RunStore) -> None:
    flow = compiled()
    with pytest.raises(InputInvalid):
        store.start(flow, {"topic": 3}, run_id="r1")
    # A name that the flow has no input for is a slip; what only the host sets is dropped.
    for begin in (store.start, store.create):
        with pytest.raises(InputInvalid, match=r'input topik: .*did you mean "topic"'):
            begin(flow, {"topik": "B"}, run_id="r1")
        with pytest.raises(InputInvalid, match=r"input inputs: not an input of this flow"):
            begin(flow, {"inputs": {"topic": "B"}}, run_id="r1")
    with pytest.raises(PolicyInvalid):
        store.start(flow, run_id="r1", context=flow.context(approval_policy={"steps": [{}]}))
    sending = compile_flow(
        flow_of(start(), gate("review"), api("send", risk="email_send"), end()),
        platform=SimulatedPlatform(),
    )
    for hole in (None, {"steps": []}):
        with pytest.raises(PolicyInvalid, match="no entry for step 1"):
            store.start(sending, context=sending.context(approval_policy=hole))
    with pytest.raises(InputInvalid, match="run id"):
        store.start(flow, run_id="a/b")
    assert store.list() == []
    hosts_own = {"topic": "B", "bearer_token": "x", "agent_run_id": "r9"}
    assert store.create(flow, hosts_own).input == {"topic": "B"}
    above = store.create(flow, {"topic": "B"})
    child = store.create(flow, {"topic": "C", "of_the_parent": 1}, parent=above.id)
    assert child.input == {"topic": "C"}


class _Unmade:
    """A flow whose graph cannot be made, as one over a broken package."""

    def __init__(self, flow: Any) -> None:
        self._flow = flow

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flow, name)

    def graph(self, checkpointer: Any = None) -> Any:
        raise KindRefused("EchoNode cannot be used")


def test_a_flow_whose_graph_cannot_be_made_stores_no_run(store: RunStore) -> None:
    flow: Any = _Unmade(compiled())
    with pytest.raises(KindRefused):
        store.start(flow, {"topic": "t"})
    assert store.list() == []


def test_a_waiting_run_stays_waiting_where_its_graph_cannot_be_made(store: RunStore) -> None:
    flow = compiled()
    store.start(flow, {"topic": "t"}, run_id="r1")
    unmade: Any = _Unmade(flow)
    with pytest.raises(KindRefused):
        store.answer("r1", "first", ann(value="yes"), flow=unmade)
    assert store.get("r1").status == "waiting"
    (gate,) = store.resume("r1", flow=flow).waiting
    assert gate.node == "second"


def test_a_run_id_is_taken_once(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    with pytest.raises(StoreError, match="there is a run 'r1' already"):
        store.start(compiled(), run_id="r1")


def test_the_hosts_policy_is_pinned_to_the_run(store: RunStore) -> None:
    flow = compiled()
    waiver = {"steps": [{"stepNumber": 1, "requiresApproval": False}, {"stepNumber": 2, "requiresApproval": True}]}  # fmt: skip
    run = store.start(flow, run_id="r1", context=flow.context(approval_policy=waiver))
    assert [gate.id for gate in run.waiting] == ["second"]
    (skipped,) = store.decisions("r1")
    assert (skipped["gate_id"], skipped["kind"], skipped["decided_by"]) == (
        "first",
        "auto_skipped",
        "policy",
    )
    # A later activation with another policy changes nothing.
    other = flow.context(approval_policy={"steps": []})
    assert store.answer("r1", "second", ann(), context=other).status == "completed"


def test_runs_are_listed_by_status_and_tenant(store: RunStore) -> None:
    flow = compiled()
    store.start(flow, run_id="a", tenant="t1")
    store.start(flow, run_id="b", tenant="t2")
    store.answer("b", "first", Decision.reject(by="x"))
    assert [run.id for run in store.list()] == ["b", "a"]
    assert [run.id for run in store.list(status="waiting")] == ["a"]
    assert [run.id for run in store.list(tenant="t2")] == ["b"]
    assert store.find("a") == "a"
    with pytest.raises(RunNotFound):
        store.find("zzz")
    with pytest.raises(RunNotFound, match="there is no run 'nope'"):
        store.get("nope")


def test_a_stopped_run_is_over(store: RunStore) -> None:
    store.start(compiled(), run_id="r1")
    assert store.stop("r1").status == "stopped"
    with pytest.raises(RunEnded):
        store.answer("r1", "first", ann())
    with pytest.raises(RunEnded):
        store.resume("r1")
    assert store.stop("r1").status == "stopped"


def test_a_gate_in_a_subflow_survives_another_process(store: RunStore, fresh_database: str) -> None:
    inner = flow_of(
        start(port("x")), api("before", outputs=[port("a")]), gate("ask", output=port("said")),
        end(port("said")), id_="inner", edges=[("ask", "said", "end", "said")],
    )  # fmt: skip
    flow = flow_of(
        start(port("x", default="1")), flow_node("sub", inner), end(port("said")),
        edges=[("start", "x", "sub", "x"), ("sub", "said", "end", "said")],
    )  # fmt: skip
    made = compile_flow(flow, platform=SimulatedPlatform())
    run = store.start(made, run_id="r1")
    assert [gate.id for gate in run.waiting] == ["sub/ask"]
    with RunStore.open(fresh_database) as other:
        assert other.answer("r1", "sub/ask", ann(value="hi")).outputs == {"said": "hi"}
    assert [call.node for call in made.platform.calls] == ["before"]


def test_two_deciders_at_once_have_one_winner(store: RunStore) -> None:
    flow = compiled()
    for round_ in range(10):
        run_id = f"r{round_}"
        store.start(flow, run_id=run_id)
        outcomes: list[str] = []
        barrier = threading.Barrier(4)

        def decide(number: int, run_id: str = run_id, outcomes: Any = outcomes, barrier: Any = barrier) -> None:  # fmt: skip
            decision = (
                Decision.approve(by=f"a{number}")
                if number % 2
                else Decision.reject(by=f"d{number}")
            )
            barrier.wait()
            try:
                store.answer(run_id, "first", decision)
                outcomes.append("won")
            except (GateClosed, RunEnded):
                outcomes.append("lost")

        threads = [threading.Thread(target=decide, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["lost", "lost", "lost", "won"]
        (kept,) = store.decisions(run_id)
        expected = "rejected" if kept["kind"] == "rejected" else "waiting"
        assert store.get(run_id).status == expected


def test_a_run_that_another_process_holds_is_busy_and_the_decision_counts(
    store: RunStore, fresh_database: str
) -> None:
    flow = compiled()
    store.start(flow, run_id="r1")
    with (
        RunStore.open(fresh_database) as other,
        other._claims.claim("r1", wait=0),
        pytest.raises(RunBusy, match="another process is working on run 'r1'"),
    ):
        store.answer("r1", "first", ann(), wait=0.05)
    assert flow.platform.calls == []
    assert [gate.id for gate in store.resume("r1").waiting] == ["second"]


def test_the_database_is_named_without_its_password() -> None:
    with pytest.raises(StoreError) as caught:
        RunStore.open("postgresql://me:hunter2secret@127.0.0.1:1/nowhere")
    assert "nowhere at 127.0.0.1" in str(caught.value)
    assert "hunter2secret" not in str(caught.value)
    assert "hunter2secret" not in repr(caught.value.__context__)
    with pytest.raises(StoreError) as caught:
        RunStore.open("hunter2secret=:::")
    assert "hunter2secret" not in str(caught.value)


def test_the_async_twins_do_the_same(fresh_database: str) -> None:
    async def scenario() -> None:
        with await asyncio.to_thread(RunStore.open, fresh_database) as store:
            run = await store.astart(compiled(), run_id="r1")
            run = await store.aanswer(run.id, "first", ann())
            assert [one.id for one in await store.alist(status="waiting")] == ["r1"]
            run = await store.aanswer(run.id, "second", ann())
            assert (await store.aget("r1")).status == "completed"

    asyncio.run(scenario())


def test_events_tell_nodes_by_name_also_inside_a_subflow(store: RunStore) -> None:
    seen: list[tuple[str, str]] = []
    flow = replace(compiled())
    store.start(flow, run_id="r1", on_event=lambda event: seen.append((event.name, event.node)))
    assert seen == [
        ("started", "start"),
        ("finished", "start"),
        ("started", "first"),
        ("paused", "first"),
    ]


def test_the_store_warns_of_nothing_on_the_way(store: RunStore, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING):
        store.start(compiled(), run_id="r1")
        store.answer("r1", "first", ann())
        store.answer("r1", "second", ann())
    assert [record.getMessage() for record in caplog.records] == []


def test_two_runs_of_one_file_keep_their_own_placeholders_tools_and_platforms(
    store: RunStore,
) -> None:
    file = flow_of(
        start(),
        gate("ask"),
        api("send", url="{{CRM_URL}}/send", outputs=[port("sent")]),
        end(),
    )
    flows = {
        name: compile_flow(
            file, env={"CRM_URL": f"https://{name}.example"}, platform=SimulatedPlatform()
        )
        for name in ("a", "b")
    }
    for name, flow in flows.items():
        store.start(flow, run_id=name)
    store.answer("a", "ask", ann())
    assert [call.url for call in flows["a"].platform.calls] == ["https://a.example/send"]
    assert flows["b"].platform.calls == []


def test_a_process_without_the_placeholders_values_is_told_which(
    store: RunStore, fresh_database: str
) -> None:
    file = flow_of(start(), gate("ask"), api("send", url="{{CRM_URL}}/send"), end())
    flow = compile_flow(file, env={"CRM_URL": "https://a.example"}, platform=SimulatedPlatform())
    store.start(flow, run_id="r1")
    with RunStore.open(fresh_database) as other:
        with pytest.raises(StoreError, match="compiled with a value for 'CRM_URL'"):
            other.answer("r1", "ask", ann())
        with pytest.raises(FlowChanged, match="with values for CRM_URL, not for none"):
            other.answer("r1", "ask", ann(), flow=compile_flow(file))
        assert other.decisions("r1") == []
    with RunStore.open(fresh_database, env={"CRM_URL": "https://a.example"}) as other:
        assert other.answer("r1", "ask", ann()).status == "completed"


def test_a_run_that_is_stopped_inside_a_call_makes_no_further_call(store: RunStore) -> None:
    class StopsTheRun(SimulatedPlatform):
        def call(self, call: Any) -> Any:
            if call.node == "first":
                store.stop("r1")
            return super().call(call)

    platform = StopsTheRun()
    flow = compile_flow(flow_of(start(), api("first"), api("second"), end()), platform=platform)
    run = store.start(flow, run_id="r1")
    assert run.status == "stopped"
    assert [call.node for call in platform.calls] == ["first"]
    assert store.get("r1").status == "stopped"


def test_a_run_that_is_working_shows_no_gate_that_was_decided(store: RunStore) -> None:
    seen: list[Any] = []

    class Looks(SimulatedPlatform):
        def call(self, call: Any) -> Any:
            run = store.get("r1")
            seen.append((run.status, run.waiting))
            return super().call(call)

    store.start(compiled(platform=Looks()), run_id="r1")
    store.answer("r1", "first", ann())
    assert seen == [("running", ())]


def test_what_was_skipped_is_kept_once_also_when_the_run_fails_in_a_subflow(
    store: RunStore,
) -> None:
    inner = flow_of(start(), gate("ask"), api("break"), gate("late"), end(), id_="inner")
    flow = compile_flow(
        flow_of(start(), flow_node("sub", inner), end()),
        platform=SimulatedPlatform({"break": {"$error": {"status": 500, "message": "no"}}}),
    )
    waiver = flow.context(approval_policy={"steps": [{"stepNumber": 1, "requiresApproval": False}]})
    run = store.start(flow, run_id="r1", context=waiver)
    assert run.status == "failed"
    assert [(row["gate_id"], row["kind"]) for row in store.decisions("r1")] == [
        ("sub/ask", "auto_skipped")
    ]
    store.resume("r1")
    assert len(store.decisions("r1")) == 1


def test_a_failed_run_keeps_its_messages(store: RunStore) -> None:
    from tests.flows import message

    flow = compile_flow(
        flow_of(start(), message("say", "hello"), api("break"), end()),
        platform=SimulatedPlatform({"break": {"$error": {"status": 500}}}),
    )
    run = store.start(flow, run_id="r1")
    assert (run.status, [m["content"] for m in run.messages]) == ("failed", ["hello"])


def test_an_answer_that_fits_the_schema_but_not_the_output_is_refused_before_it_is_kept(
    store: RunStore,
) -> None:
    schema = {"type": "object", "properties": {"n": {}}}
    flow = compile_flow(
        flow_of(
            start(), gate("ask", output=port("n", "integer"), inputMessageSchema=schema), end()
        ),
        platform=SimulatedPlatform(),
    )
    run = store.start(flow, run_id="r1")
    with pytest.raises(AnswerInvalid, match="does not fit 'n'"):
        store.answer("r1", "ask", ann(value={"n": "many"}))
    assert store.decisions("r1") == []
    example = run.waiting[0].example()
    assert store.answer("r1", "ask", ann(value=example)).status == "completed"


def test_a_credential_of_the_run_in_an_answer_is_refused(store: RunStore) -> None:
    flow = compiled()
    context = flow.context(run_token="tok-123456789")
    store.start(flow, run_id="r1", context=context)
    with pytest.raises(AnswerInvalid, match="holds a credential"):
        store.answer("r1", "first", ann(value="use tok-123456789"), context=context)
    assert store.decisions("r1") == []


@pytest.mark.parametrize(
    "given",
    ["tok-123456789", {"a": ["is tok-123456789!"]}, {"tok-123456789": 1}, "dG9rLTEyMzQ1Njc4OQ=="],
)
def test_a_credential_of_the_run_in_an_input_is_refused(store: RunStore, given: Any) -> None:
    flow = compile_flow(flow_of(start({"title": "x"}), end()))
    context = flow.context(run_token="tok-123456789")
    with pytest.raises(InputInvalid, match="an input holds a credential of this run") as refused:
        store.start(flow, {"x": given}, run_id="r1", context=context)
    assert "tok" not in str(refused.value)
    assert store.list() == []
    assert store.start(flow, {"x": "tok"}, run_id="r1", context=context).status == "completed"


@pytest.mark.parametrize("name", ["run_id", "tenant", "by"])
def test_a_credential_of_the_run_in_what_it_is_called_is_refused(
    store: RunStore, name: str
) -> None:
    flow = compiled()
    names = {"run_id": "r1", name: "of tok-123456789"}
    context = flow.context(run_token="tok-123456789")
    with pytest.raises(InputInvalid, match=f"{name} holds a credential of this run") as refused:
        store.start(flow, {}, context=context, **names)
    assert "tok" not in str(refused.value)
    assert store.list() == []
    names[name] = "of tok"
    assert store.start(flow, {}, context=context, **names).status == "waiting"


def test_a_run_may_be_called_setup(store: RunStore, fresh_database: str) -> None:
    with connect(fresh_database) as holder:
        holder.execute("select pg_advisory_lock(hashtextextended('oasflow:run:setup', 0))")
        with RunStore.open(fresh_database) as other:
            assert other.list() == []


def test_a_flow_compiled_without_a_platform_says_that_it_is_simulated(
    store: RunStore, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="oasflow.store"):
        store.start(compile_flow(FLOW), run_id="r1")
    assert "its HTTP calls are simulated" in caplog.text


@pytest.mark.parametrize(
    "flow",
    [
        flow_of(start(), gate("first"), end()),
        flow_of(start(), message("say", "hello"), gate("first"), end()),
    ],
)
def test_a_flow_that_asks_no_platform_does_not_say_that_calls_are_simulated(
    store: RunStore, caplog: pytest.LogCaptureFixture, flow: Any
) -> None:
    with caplog.at_level(logging.WARNING, logger="oasflow.store"):
        store.start(compile_flow(flow), run_id="r1")
    assert "simulated" not in caplog.text


def test_a_call_of_an_inner_flow_is_said_to_be_simulated(
    store: RunStore, caplog: pytest.LogCaptureFixture
) -> None:
    inner = flow_node("inner", flow_of(start(), api("work"), end(), name="inner"))
    with caplog.at_level(logging.WARNING, logger="oasflow.store"):
        store.start(compile_flow(flow_of(start(), gate("ask"), inner, end())), run_id="r1")
    assert "its HTTP calls are simulated" in caplog.text


def test_every_method_of_the_store_has_an_async_twin() -> None:
    methods = {
        name
        for name, value in vars(RunStore).items()
        if not name.startswith("_") and not isinstance(value, property)
    }
    plain = {name for name in methods if f"a{name}" in methods or not name.startswith("a")}
    plain -= {name for name in plain if name[0] == "a" and name[1:] in methods}
    assert "answer" in plain
    waits_for_nothing = {"lend_signer"}
    assert {name for name in plain if f"a{name}" not in methods} == waits_for_nothing
