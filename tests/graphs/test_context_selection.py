"""The selection graph: the public agent's behaviour, over the real resolver, by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send
from typing_extensions import TypedDict

from cinatra_sdk.activations import advance
from cinatra_sdk.blocks.host_node import seal_host_fields, terminal_node
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.errors import AnswerInvalid, FlowError, NodeFailed
from cinatra_sdk.host import FixedRuns, LocalPlatform
from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from cinatra_sdk.outside.http_calls.protocol import PlatformError, PlatformResponseError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.runs import Stop
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from graphs.context_selection import build_graph, context_selection
from graphs.selection_words import NODES, SAMPLES
from tests.host.local_world import PACKAGE, REGISTRY, envelope, fill, refs_of, scope, slot

PUBLIC_NODES = (
    "start", "resolve_context", "select_mode", "emit_context_payload", "context_select_gate",
    "finalize_interactive", "finalize_autonomous", "end",
)  # fmt: skip


@pytest.fixture
def artifacts(fresh_database: str) -> Iterator[ArtifactStore]:
    database = Database.open(fresh_database)
    store = ArtifactStore(database)
    fill(store)
    yield store
    database.close()


class Ran:
    """One run `r1` of the graph over the local platform."""

    def __init__(self, store: ArtifactStore, slot_id: str, **settings: Any) -> None:
        run = settings.pop("run", None) or scope()
        self.beyond = SimulatedPlatform({"write": {"text": "Hello"}})
        self.platform = LocalPlatform(store, REGISTRY, FixedRuns({"r1": run}), beyond=self.beyond)
        self.config: Any = {"configurable": {"thread_id": "r1"}}
        self.context = host_context(run_id="r1", context_id="c1", **settings)
        self.graph = self.build()
        self.given: dict[str, Any] = {"parentPackageName": PACKAGE, "slotId": slot_id}
        self.asked: list[Any] = []

    def build(self) -> Any:
        return build_graph(self.platform, InMemorySaver())

    def to(self, *answers: Any) -> Stop:
        left = list(answers)

        def answer(gate: Any) -> Any:
            self.asked.append(gate)
            if not left:
                return None
            wire = left.pop(0)
            gate.read(wire)
            return wire

        return advance(self.graph, self.given, self.config, context=self.context, answer=answer)

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.graph.get_state(self.config).values)


def picking(text: Any) -> dict[str, Any]:
    return {"approved": True, "by": "ann", "userResponse": text}


def audit(store: ArtifactStore) -> list[tuple[str, ...]]:
    return [
        (row.slot_id, row.triple.artifact_id, row.selection_mode, row.selected_by)
        for row in store.selections("o1", "r1")
    ]


def test_the_graph_has_the_node_ids_of_the_public_agent_and_only_sealed_host_fields():
    graph = build_graph(SimulatedPlatform())
    assert [name for name in graph.get_graph().nodes if not name.startswith("__")] == list(NODES)
    assert NODES == PUBLIC_NODES
    assert set(graph.get_input_jsonschema()["properties"]) == {
        "parentRunId", "parentPackageName", "slotId", "projectId",
    }  # fmt: skip
    assert set(graph.get_output_jsonschema()["properties"]) == {
        "status", "rejected_at", "contextRefs", "contextSlotBindings",
    }  # fmt: skip


# ---------------------------------------------------------------------- interactive


def test_an_interactive_slot_asks_with_groups_and_limits_and_binds_what_is_picked(artifacts):
    ran = Ran(artifacts, "voice")
    a, b = refs_of(artifacts, "a", "b")
    assert ran.to().status == "waiting"
    (gate,) = ran.asked
    assert (gate.id, gate.renderer) == (
        "context_select_gate",
        "@cinatra-ai/context-selection-agent:context-selector",
    )
    assert gate.values["candidates"] == [a, b]
    assert gate.values["selector"] == {
        "groups": [{"scope": "organization", "candidates": [0, 1]}],
        "limits": {"minItems": 1, "maxItems": 2, "chosen": 0, "atCap": False},
        "badges": [],
    }
    stop = ran.to(picking(envelope([b])))
    assert stop.status == "completed"
    bindings = [{"slotId": "voice", "refs": [b]}]
    assert ran.values["contextRefs"] == ran.values["contextSlotBindings"] == bindings
    assert ran.values["selection_decision"]["by"] == "ann"
    assert audit(artifacts) == [("voice", "b", "interactive", "user")]


def test_candidates_of_a_project_stand_before_the_organisation_and_readable_only_is_a_badge(
    artifacts,
):
    artifacts.classify(
        artifacts.add(artifact_id="t", org_id="o1", owner_id="bob", visibility="team:t1"),
        "@x/voice",
    )
    ran = Ran(artifacts, "voice", run=scope(slots=(slot(maxItems=None, readableOnly=True),)))
    ran.to()
    (gate,) = ran.asked
    assert gate.values["selector"]["groups"] == [
        {"scope": "team", "candidates": [0]},
        {"scope": "organization", "candidates": [1, 2]},
    ]
    assert gate.values["selector"]["limits"]["maxItems"] is None
    assert gate.values["selector"]["badges"] == ["readableOnly"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda refs: "{", "bad_envelope"),
        (lambda refs: envelope(refs[:0]), "needs at least 1, 0 were chosen of 2"),
        (lambda refs: envelope(refs[:1], slotId="tone"), "slot_mismatch"),
        (lambda refs: envelope(refs[:1], resolutionMode="override"), "resolution_mode_mismatch"),
        (
            lambda refs: envelope([{**refs[0], "representationRevisionId": "rev_9"}]),
            "ref_not_in_candidates",
        ),
    ],
)
def test_a_choice_that_the_slot_does_not_allow_leaves_the_gate_open(artifacts, wrong, sentence):
    ran = Ran(artifacts, "voice")
    ran.to()
    refs = refs_of(artifacts, "a", "b")
    with pytest.raises(AnswerInvalid, match=sentence):
        ran.asked[0].read(picking(wrong(refs)))
    assert audit(artifacts) == []
    # The valid twin, at the same gate.
    assert ran.to(picking(envelope(refs))).status == "completed"


def test_an_override_slot_takes_one_of_the_narrowest_and_not_two(artifacts):
    ran = Ran(artifacts, "pick")
    ran.to()
    refs = refs_of(artifacts, "a", "b")
    two = envelope(refs, slotId="pick", resolutionMode="override")
    with pytest.raises(AnswerInvalid, match="takes one ref, the narrowest; 2 were chosen"):
        ran.asked[0].read(picking(two))
    assert ran.asked[0].values["selector"]["limits"]["maxItems"] == 1
    one = envelope(refs[1:], slotId="pick", resolutionMode="override")
    assert ran.to(picking(one)).status == "completed"
    assert audit(artifacts) == [("pick", "b", "interactive", "user")]


def test_an_answer_that_does_not_fit_is_refused_by_the_graph_itself_too(artifacts):
    ran = Ran(artifacts, "voice")
    ran.to()
    interrupt = ran.asked[0].interrupt
    with pytest.raises(ValueError, match="needs at least 1"):
        ran.graph.invoke(
            Command(resume={interrupt: picking(envelope([]))}), ran.config, context=ran.context
        )
    assert ran.to().status == "waiting"
    assert audit(artifacts) == []


def test_a_plain_approval_chooses_nothing_and_is_refused_with_what_to_send(artifacts):
    ran = Ran(artifacts, "voice")
    ran.to()
    with pytest.raises(AnswerInvalid, match="which refs are chosen for the slot 'voice'"):
        ran.asked[0].read({"approved": True})


def test_too_few_candidates_stop_the_run_before_anybody_is_asked(artifacts):
    poor = slot(acceptedArtifactExtensions=["@x/nothing"])
    ran = Ran(artifacts, "voice", run=scope(slots=(poor,)))
    with pytest.raises(NodeFailed, match=r'slot "voice" needs at least 1, 0 can be chosen'):
        ran.to()
    assert ran.asked == []


def test_a_rejection_records_nothing_and_ends_the_run(artifacts):
    ran = Ran(artifacts, "voice")
    ran.to()
    stop = ran.to({"approved": False, "by": "ann", "reason": "none fits"})
    assert stop.status == "rejected"
    assert ran.values["rejected_at"] == stop.rejected_at != ""
    assert "contextRefs" not in ran.values
    assert audit(artifacts) == []


def test_a_gate_that_the_policy_skips_chooses_nothing_and_the_slots_minimum_still_counts(artifacts):
    waived = {"steps": [{"stepNumber": 1, "requiresApproval": False}]}
    ran = Ran(artifacts, "voice", approval_policy=waived)
    with pytest.raises(PlatformResponseError, match="below_min_items"):
        ran.to()
    optional = Ran(artifacts, "voice", approval_policy=waived, run=scope(slots=(slot(minItems=0),)))
    assert optional.to().status == "completed"
    assert optional.values["contextRefs"] == [{"slotId": "voice", "refs": []}]
    assert optional.asked == []
    assert audit(artifacts) == []


# ----------------------------------------------------------------------- autonomous


@pytest.mark.parametrize(("slot_id", "chosen"), [("tone", ["a"]), ("all", ["a", "b"])])
def test_an_autonomous_slot_asks_nobody_and_override_takes_the_narrowest_ref(
    artifacts, slot_id, chosen
):
    ran = Ran(artifacts, slot_id)
    assert ran.to().status == "completed"
    refs = refs_of(artifacts, *chosen)
    assert ran.values["contextRefs"] == [{"slotId": slot_id, "refs": refs}]
    assert ran.asked == []
    assert audit(artifacts) == [(slot_id, id_, "autonomous", "autonomous") for id_ in chosen]


def test_override_takes_one_ref_even_where_a_platform_preselects_two():
    refs = [{**SAMPLES["resolve_context"]["candidates"][0], "artifactId": each} for each in "pq"]
    platform = SimulatedPlatform(
        {
            "resolve_context": {
                **SAMPLES["resolve_context"],
                "selectedRefs": refs, "selectionMode": "autonomous", "resolutionMode": "override",
            },
            "finalize_autonomous": {"contextSlotBindings": []},
        }
    )  # fmt: skip
    graph = build_graph(platform)
    graph.invoke({"parentPackageName": "@x/a", "slotId": "voice"}, context=host_context(run_id="r"))
    (finalize,) = [call for call in platform.calls if call.node == "finalize_autonomous"]
    pinned = ("artifactId", "representationRevisionId", "semanticAssertionId")
    assert json.loads(finalize.body["userResponse"])["selectedRefs"] == [
        {key: refs[0][key] for key in pinned}
    ]


@pytest.mark.long
def test_an_autonomous_slot_without_a_bound_takes_a_thousand_refs(artifacts):
    with artifacts._database.connection() as connection:
        connection.execute(
            "insert into objects (id, org_id, type, owner_id, visibility)"
            " select 'm' || n, 'o1', '@cinatra-ai/artifact:object', 'bob', 'org'"
            " from generate_series(1, 998) n;"
        )
        connection.execute(
            "insert into representations (id, org_id, artifact_id, revision)"
            " select 'rev-' || repeat('r', 30) || n, 'o1', 'm' || n, 1"
            " from generate_series(1, 998) n"
        )
        connection.execute(
            "insert into semantic_assertions"
            " (id, org_id, artifact_id, extension, asserted_by, eligibility)"
            " select 'sem-' || repeat('s', 30) || n, 'o1', 'm' || n, '@x/voice', 'user', 'eligible'"
            " from generate_series(1, 998) n"
        )
    every = slot(slotId="all", selectionMode="autonomous", maxItems=None)
    ran = Ran(artifacts, "all", run=scope(slots=(every,)))
    assert ran.to().status == "completed"
    ((bindings,),) = [ran.values["contextRefs"]]
    assert len(bindings["refs"]) == 1000
    assert len(audit(artifacts)) == 1000


def test_too_few_artifacts_fail_an_autonomous_slot_with_the_slots_own_words(artifacts):
    poor = slot(
        slotId="tone", selectionMode="autonomous", acceptedArtifactExtensions=["@x/nothing"]
    )
    ran = Ran(artifacts, "tone", run=scope(slots=(poor,)))
    with pytest.raises(PlatformResponseError, match=r'slot "tone" needs at least 1, 0 were chosen'):
        ran.to()


# ---------------------------------------------------------------------- R-01, jumps


def test_the_run_is_the_hosts_unless_another_is_named_and_the_platform_judges_that_one(artifacts):
    ran = Ran(artifacts, "all")
    ran.given["parentRunId"] = "r2"
    with pytest.raises(PlatformResponseError) as raised:
        ran.to()
    assert raised.value.code == "run_missing"


@pytest.mark.parametrize("node", ["finalize_autonomous", "finalize_interactive", "end"])
def test_a_jump_past_the_gate_finalizes_nothing(artifacts, node):
    ran = Ran(artifacts, "voice", run=scope(slots=(slot(minItems=0),)))
    ran.to()
    with pytest.raises(FlowError, match="was reached"):
        ran.graph.invoke(Command(goto=node), ran.config, context=ran.context)
    assert audit(artifacts) == []
    assert "contextRefs" not in ran.values


FORGED = [{"slotId": "voice", "refs": [{"artifactId": "other-org"}]}]


@pytest.mark.parametrize("rejected", [False, True])
def test_a_task_that_a_client_sends_with_a_state_of_its_own_puts_out_nothing(artifacts, rejected):
    ran = Ran(artifacts, "voice")
    ran.to()
    if rejected:
        ran.to({"approved": False, "by": "ann"})
    forged = {"finalize_interactive_output": {"contextSlotBindings": FORGED}}
    ran.graph.invoke(Command(goto=Send("end", forged)), ran.config, context=ran.context)
    assert "contextRefs" not in ran.values
    assert ran.values["status"] == ("rejected" if rejected else "running")
    offered = {"candidates": FORGED[0]["refs"], "slotMeta": {}, "selectedRefs": []}
    fresh: Any = {"configurable": {"thread_id": "r2"}}
    send = Send("emit_context_payload", {"resolve_context_output": offered})
    with pytest.raises(NodeFailed, match="was reached before 'emit_context_payload_output'"):
        ran.graph.invoke(Command(update=ran.given, goto=send), fresh, context=ran.context)
    assert "emit_context_payload_output" not in ran.graph.get_state(fresh).values


def test_a_second_input_on_the_thread_makes_no_call_again(artifacts):
    ran = Ran(artifacts, "all")
    ran.to()
    before = ran.values["contextRefs"]
    artifacts.revise("a", "newer")
    ran.graph.invoke({**ran.given, "slotId": "voice"}, ran.config, context=ran.context)
    assert ran.values["contextRefs"] == before
    assert len(audit(artifacts)) == 2


# ------------------------------------------------------------- inside another graph


class ParentInput(TypedDict, total=False):
    topic: str


class ParentState(GovernedState, total=False):
    topic: str
    input_params: Annotated[dict[str, Any], HostOnly]
    context_voice_output: Annotated[dict[str, Any], HostOnly]
    write_output: dict[str, Any]


class Writer(Ran):
    """A hand-written parent: select for the slot, then write with it."""

    def build(self) -> Any:
        builder = StateGraph(ParentState, context_schema=HostContext, input_schema=ParentInput)
        builder.add_node("host", seal_host_fields(inputs={"topic": {"type": "string"}}))
        builder.add_node(
            "context_voice",
            context_selection(
                self.platform, node="context_voice", slot_id="voice", package_name=PACKAGE,
                sealed=True,
            ),
        )  # fmt: skip
        builder.add_node(
            "write",
            llm_step(
                self.platform, node="write", agent_id=PACKAGE,
                user="{{ context_voice_output.contextRefs | tojson }}",
                outputs={"text": {"type": "string"}},
            ),
        )  # fmt: skip
        builder.add_node("terminal", terminal_node(requires=("write_output",)))
        names = ["host", "context_voice", "write", "terminal"]
        for before, after in zip([START, *names], [*names, END], strict=True):
            builder.add_edge(before, after)
        return builder.compile(checkpointer=InMemorySaver())

    def to(self, *answers: Any) -> Stop:
        self.given = {"topic": "bees"}
        return super().to(*answers)


def test_inside_a_parent_the_consumer_gets_the_pinned_refs_of_the_parents_own_run(artifacts):
    ran = Writer(artifacts, "voice")
    (b,) = refs_of(artifacts, "b")
    assert ran.to().status == "waiting"
    assert ran.asked[0].id == "context_voice/context_select_gate"
    assert ran.to(picking(envelope([b]))).status == "completed"
    (write,) = ran.beyond.calls
    assert json.loads(write.body["user"]) == [{"slotId": "voice", "refs": [b]}]
    assert audit(artifacts) == [("voice", "b", "interactive", "user")]


def test_a_rejection_inside_rejects_the_parent_and_the_consumer_is_never_called(artifacts):
    ran = Writer(artifacts, "voice")
    ran.to()
    assert ran.to({"approved": False, "by": "ann"}).status == "rejected"
    assert ran.beyond.calls == []
    assert audit(artifacts) == []


def test_the_graph_for_studio_runs_on_samples():
    graph = build_graph(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "r1"}}
    stop = advance(
        graph,
        {"parentPackageName": "@x/a", "slotId": "voice"},
        config,
        context=host_context(run_id="r1"),
        answer=lambda gate: {"approved": True, "value": gate.example()},
    )
    assert stop.status == "completed"
    assert graph.get_state(config).values["contextRefs"]


# ---------------------------------------------------------------------- asked again


class Meanwhile(Ran):
    """A run in which `gone` are deleted, one before each finalize."""

    def __init__(self, store: ArtifactStore, slot_id: str, *gone: str, **settings: Any) -> None:
        super().__init__(store, slot_id, **settings)
        left = list(gone)
        call = self.platform.call

        def meanwhile(asked: Any) -> Any:
            if asked.node.startswith("finalize_") and left:
                store.delete(left.pop(0))
            return call(asked)

        self.platform.call = meanwhile  # type: ignore[method-assign]


def test_a_choice_that_cannot_be_recorded_any_more_is_asked_again_and_both_decisions_stay(
    artifacts,
):
    ran = Meanwhile(artifacts, "voice", "b")
    a, b = refs_of(artifacts, "a", "b")
    assert ran.to(picking(envelope([a, b]))).status == "waiting"
    first, again = ran.asked
    assert (first.id, again.id) == ("context_select_gate", "context_select_gate#2")
    assert again.values["candidates"] == [a]
    assert again.values["refused"]["code"] == "ref_not_in_candidates"
    assert len(again.values["refused"]["selectedRefs"]) == 2
    assert audit(artifacts) == []
    stop = ran.to(picking(envelope([a])))
    assert stop.status == "completed"
    assert ran.values["contextRefs"] == [{"slotId": "voice", "refs": [a]}]
    assert [decided["gate"] for decided in stop.decisions] == [first.id, again.id]
    assert audit(artifacts) == [("voice", "a", "interactive", "user")]


def test_a_gate_that_asks_again_can_be_rejected(artifacts):
    ran = Meanwhile(artifacts, "voice", "b")
    ran.to(picking(envelope(refs_of(artifacts, "b"))))
    assert ran.to({"approved": False, "by": "ann", "reason": "none"}).status == "rejected"
    assert audit(artifacts) == []
    assert "finalize_interactive_output" not in ran.values


def test_an_autonomous_slot_resolves_again_without_a_person(artifacts):
    ran = Meanwhile(artifacts, "all", "b")
    stop = ran.to()
    assert (stop.status, ran.asked) == ("completed", [])
    assert audit(artifacts) == [("all", "a", "autonomous", "autonomous")]


def test_a_platform_that_always_refuses_ends_the_run_with_its_code():
    samples = {
        **SAMPLES,
        "resolve_context": {**SAMPLES["resolve_context"], "selectionMode": "autonomous"},
        "finalize_autonomous": {"$error": {"status": 409, "code": "selection_incoherent"}},
    }
    platform = SimulatedPlatform(samples)
    graph = build_graph(platform, InMemorySaver())
    config: Any = {"configurable": {"thread_id": "r1"}}
    with pytest.raises(PlatformError) as failed:
        graph.invoke(
            {"parentPackageName": PACKAGE, "slotId": "voice"},
            config,
            context=host_context(run_id="r1"),
        )
    assert failed.value.code == "selection_incoherent"
    assert [call.node for call in platform.calls].count("finalize_autonomous") == 4
