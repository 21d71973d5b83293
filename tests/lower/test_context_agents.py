"""The public agents that select context, unchanged, over the real resolver on Postgres."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.context import AgentContextSlot, read_slots
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.host import FixedRuns, LocalPlatform, RunScope
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.runs import Run
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from cinatra_sdk.testing import simulation
from oas_compiler import compile_flow
from tests.lower.context_shelf import (
    ANN,
    FIVE,
    GROUPS,
    IN_ORDER,
    ORG,
    Shelf,
    Watched,
    audit,
    registry,
)

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "cinatra"
pytestmark = pytest.mark.skipif(
    not CORPUS.exists(), reason="the corpus of public flows is not beside the project"
)
RUN, TOKEN, KEY = "r1", "run-token-0123", "attest-key-0123"
SELECTOR = "@cinatra-ai/context-selection-agent:context-selector"


@dataclass(frozen=True)
class Agent:
    """A public agent, whose slot it is that it selects for, and what uses the selection."""

    folder: str
    parent: str
    """The agent that declares the slot; its file is where the host reads it."""
    slot: str
    accepted: tuple[str, str]
    """The first two extensions that the slot accepts."""
    prefix: str
    """Of the selecting nodes' ids."""
    around: str
    """Path of the FlowNode around them."""
    consumer: str
    """The node that uses the selection; empty where it is the flow's output."""
    project_input: str
    before: tuple[str, ...] = ()
    """Calls before the selection."""
    after: tuple[str, ...] = ()
    """Calls after it."""
    gates: tuple[str, ...] = ()
    """Every gate but the selection's, in order."""
    badges: tuple[str, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def package(self) -> str:
        return f"@cinatra-ai/{self.parent}"

    @property
    def gate(self) -> str:
        own = f"{self.prefix}context_select_gate"
        return f"{self.around}/{own}" if self.around else own

    def about(self, mode: str) -> dict[str, str]:
        by = "user" if mode == "interactive" else "autonomous"
        return {"run": RUN, "package": self.package, "slot": self.slot, "by": by, "mode": mode}


BLOG = "blog-draft-writer-agent"
ALONE = Agent(
    folder="context-selection-agent", parent=BLOG, slot="draftContext",
    accepted=("@cinatra-ai/brand-voice-artifact", "@cinatra-ai/blog-idea-artifact"),
    prefix="", around="", consumer="", project_input="projectId",
    params={"parentRunId": RUN, "parentPackageName": f"@cinatra-ai/{BLOG}", "slotId": "draftContext"},
)  # fmt: skip
WRITER = replace(
    ALONE, folder=BLOG, prefix="ctx-draftContext-", around="context_draftContext",
    consumer="write", after=("write",), params={"idea": {"title": "Tides", "summary": "", "outline": []}},
)  # fmt: skip
OUTREACH = Agent(
    folder="email-outreach-agent", parent="email-outreach-agent", slot="offeringContext",
    accepted=("@cinatra-ai/marketing-icp-artifact", "@cinatra-ai/marketing-strategy-artifact"),
    prefix="ctx-offeringContext-", around="context_offeringContext",
    consumer="drafts-draft", project_input="contextProjectId",
    before=("context_setup", "recipients-generate"), after=("drafts-draft", "sender-send"),
    gates=(
        "setup_gate", "recipients_flow/recipients-scope_gate",
        "recipients_flow/recipients-review_gate", "skills_flow/skills-recommend_gate",
        "drafts_flow/drafts-data_gate", "drafts_flow/drafts-approval_gate",
        "sender_flow/sender-approval_gate",
    ),
    badges=("readableOnly",),
)  # fmt: skip
AGENTS = pytest.mark.parametrize("agent", [ALONE, WRITER, OUTREACH], ids=lambda one: one.folder)
PARENTS = pytest.mark.parametrize("agent", [WRITER, OUTREACH], ids=lambda one: one.folder)


@cache
def compiled(folder: str) -> Any:
    return compile_flow(CORPUS / folder)


def declared(agent: Agent, **changes: Any) -> AgentContextSlot:
    """The slot as the parent's installed file declares it, with the host's `changes`."""
    file = json.loads((CORPUS / agent.parent / "cinatra" / "oas.json").read_text("utf-8"))
    (slot,) = read_slots(file["metadata"]["cinatra"]["contextSlots"])
    assert (slot.selection_mode, slot.resolution_mode, slot.min_items, slot.max_items) == (
        "interactive", "accumulate", 0, 5,
    )  # fmt: skip
    return slot.model_copy(update=changes)


class Host:
    """One run of one agent, on one database."""

    def __init__(self, dsn: str, agent: Agent) -> None:
        self.dsn, self.agent = dsn, agent
        self.database = Database.open(dsn)
        self.shelf = Shelf(ArtifactStore(self.database)).fill(*agent.accepted)
        self.runs = RunStore(self.database)
        self.gates: list[Gate] = []
        self.platform: Any = None

    def start(self, *, project: str = "", params: Any = None, **slot: Any) -> Run:
        scope = RunScope(
            org_id=ORG, actor=ANN, package_name=self.agent.package,
            slots=(declared(self.agent, **slot),), project_id=project,
            context_id="c1", run_token=TOKEN,
        )  # fmt: skip
        flow = compiled(self.agent.folder)
        self.platform = Watched(
            LocalPlatform(
                self.shelf.store,
                registry(self.agent.accepted[0]),
                FixedRuns({RUN: scope}),
                beyond=simulation(flow),
                attestation_key=KEY,
            )
        )
        given = self.agent.params | (params or {})
        run = self.runs.start(flow.with_platform(self.platform), given, RUN, context=self.context())
        return self.through(run)

    def context(self) -> Any:
        return host_context(context_id="c1", run_token=TOKEN)

    def answer(self, gate: str, decision: Decision) -> Run:
        return self.runs.answer(RUN, gate, decision, context=self.context())

    def through(self, run: Run) -> Run:
        """On to the gate of the selection, or to the end."""
        while run.waiting:
            (gate,) = run.waiting
            self.gates.append(gate)
            if gate.id == self.agent.gate:
                return run
            run = self.answer(gate.id, Decision.approve(by="ann", value=gate.example()))
        return run

    def pick(self, *ids: str, mode: str = "accumulate") -> Run:
        return self.through(self.answer(self.agent.gate, self.picking(*ids, mode=mode)))

    def picking(self, *ids: str, mode: str = "accumulate") -> Decision:
        pinned = ("artifactId", "representationRevisionId", "semanticAssertionId")
        refs = [{key: ref[key] for key in pinned} for ref in self.shelf.of(*ids)]
        text = json.dumps({"slotId": self.agent.slot, "resolutionMode": mode, "selectedRefs": refs})
        return Decision.approve(by="ann", value=text)

    @property
    def used(self) -> Any:
        """The bindings as whoever uses them got them: the flow's output, or a node's request."""
        if not self.agent.consumer:
            outputs = self.runs.get(RUN).outputs
            assert outputs is not None
            return outputs["contextSlotBindings"]
        text = self.platform.body(self.agent.consumer)["user"]
        return json.loads(text.partition("\n- contextSlotBindings: ")[2])

    def bindings(self, *ids: str) -> Any:
        return [{"slotId": self.agent.slot, "refs": self.shelf.of(*ids)}]

    def selecting(self, *kinds: str) -> list[str]:
        return [f"{self.agent.prefix}{kind}" for kind in kinds]


@pytest.fixture
def host(fresh_database: str, agent: Agent) -> Iterator[Host]:
    made = Host(fresh_database, agent)
    yield made
    made.database.close()


# ---------------------------------------------------------------------- a person picks


@AGENTS
def test_a_person_sees_what_the_owner_may_see_and_what_they_pick_reaches_the_consumer(
    host: Host, agent: Agent
) -> None:
    assert host.start().status == "waiting"
    gate = host.gates[-1]
    assert (gate.id, gate.renderer, gate.values["selectedRefs"]) == (agent.gate, SELECTOR, [])
    assert gate.values["candidates"] == host.shelf.of(*IN_ORDER)
    assert gate.values["selector"] == {
        "groups": GROUPS,
        "limits": {"minItems": 0, "maxItems": 5, "chosen": 0, "atCap": False},
        "badges": list(agent.badges),
    }
    assert audit(host.dsn) == ([], [])
    run = host.pick("style", "team")
    assert run.status == "completed", run.error
    assert host.platform.answer("context-finalize") == {
        "contextSlotBindings": host.bindings("style", "team"), "wrote": True,
    }  # fmt: skip
    assert host.used == host.bindings("style", "team")
    rows, batches = audit(host.dsn)
    assert rows == host.shelf.rows("style", "team", about=agent.about("interactive"))
    assert batches == [["0", "1"]]
    assert host.platform.nodes == [
        *agent.before, *host.selecting("resolve_context", "finalize_interactive"), *agent.after,
    ]  # fmt: skip
    assert [one.id for one in host.gates if one.id != agent.gate] == list(agent.gates)


@AGENTS
def test_what_a_person_may_not_pick_is_refused_and_the_gate_stays_open(
    host: Host, agent: Agent
) -> None:
    host.start()
    with pytest.raises(AnswerInvalid, match="above_max_items"):
        host.answer(agent.gate, host.picking(*IN_ORDER))
    for stranger in ("plan-1", "x-org", "x-draft", "x-deleted", "style-loud"):
        with pytest.raises(AnswerInvalid, match="ref_not_in_candidates"):
            host.answer(agent.gate, host.picking("own", stranger))
    assert host.runs.get(RUN).waiting[0].id == agent.gate
    assert host.pick("own").status == "completed"
    assert audit(host.dsn)[0] == host.shelf.rows("own", about=agent.about("interactive"))


@PARENTS
def test_a_person_may_pick_nothing_and_the_consumer_gets_an_empty_selection(
    host: Host, agent: Agent
) -> None:
    host.start()
    assert host.pick().status == "completed"
    assert host.used == host.bindings()
    assert audit(host.dsn) == ([], [])


@AGENTS
def test_nothing_is_called_and_nothing_recorded_after_a_rejection_at_the_selection(
    host: Host, agent: Agent
) -> None:
    host.start()
    run = host.answer(agent.gate, Decision.reject(by="ann"))
    assert (run.status, run.waiting) == ("rejected", ())
    assert host.platform.nodes == [*agent.before, *host.selecting("resolve_context")]
    assert audit(host.dsn) == ([], [])


@PARENTS
def test_a_person_sees_only_the_narrowest_scope_of_an_override_slot_and_picks_one(
    host: Host, agent: Agent
) -> None:
    for taken in ("own", "team"):
        host.shelf.store.delete(taken)
    host.start(resolution_mode="override")
    gate = host.gates[-1]
    assert gate.values["candidates"] == host.shelf.of("brief", "style")
    assert gate.values["selector"]["groups"] == [{"scope": "organization", "candidates": [0, 1]}]
    assert gate.values["selector"]["limits"]["maxItems"] == 1
    with pytest.raises(AnswerInvalid, match="override_multi_select"):
        host.answer(agent.gate, host.picking("brief", "style", mode="override"))
    assert host.pick("style", mode="override").status == "completed"
    assert host.used == host.bindings("style")
    assert audit(host.dsn)[0] == host.shelf.rows("style", about=agent.about("interactive"))


# ---------------------------------------------------------------------- nobody is asked


@AGENTS
def test_an_autonomous_slot_takes_all_up_to_its_cap_without_a_gate(
    host: Host, agent: Agent
) -> None:
    run = host.start(selection_mode="autonomous")
    assert run.status == "completed", run.error
    assert [gate.id for gate in host.gates] == list(agent.gates)
    assert host.used == host.bindings(*FIVE)
    rows, batches = audit(host.dsn)
    assert rows == host.shelf.rows(*FIVE, about=agent.about("autonomous"))
    assert batches == [["0", "1", "2", "3", "4"]]
    assert host.platform.nodes == [
        *agent.before, *host.selecting("resolve_context", "finalize_autonomous"), *agent.after,
    ]  # fmt: skip


@AGENTS
def test_an_autonomous_override_slot_takes_the_first_of_the_narrowest_scope_and_no_other(
    host: Host, agent: Agent
) -> None:
    for taken in ("own", "team"):
        host.shelf.store.delete(taken)
    run = host.start(selection_mode="autonomous", resolution_mode="override")
    assert run.status == "completed", run.error
    assert host.platform.answer("context-resolve")["candidates"] == host.shelf.of("brief", "style")
    assert host.used == host.bindings("brief")
    rows = host.shelf.rows("brief", about=agent.about("autonomous"))
    assert audit(host.dsn) == (rows, [["0"]])


@PARENTS
@pytest.mark.parametrize("mode", ["interactive", "autonomous"])
def test_too_few_artifacts_stop_the_agent_before_its_consumer(
    host: Host, agent: Agent, mode: str
) -> None:
    for id_ in FIVE[:-1]:
        host.shelf.store.delete(id_)
    run = host.start(selection_mode=mode, min_items=3)
    assert run.status == "failed"
    assert run.error is not None
    assert f'the slot "{agent.slot}" needs at least 3, 2' in str(run.error["message"])
    assert not set(agent.after) & set(host.platform.nodes)
    assert agent.gate not in [gate.id for gate in host.gates]
    assert audit(host.dsn) == ([], [])


# ------------------------------------------------------------------------------ projects


@PARENTS
def test_a_project_given_to_the_flow_offers_what_is_the_projects_and_nothing_else(
    host: Host, agent: Agent
) -> None:
    host.start(params={agent.project_input: "p1"})
    assert host.gates[-1].values["candidates"] == host.shelf.of("plan-1", "plan-2")
    assert host.pick("plan-2").status == "completed"
    assert host.used == host.bindings("plan-2")
    assert audit(host.dsn)[0] == host.shelf.rows("plan-2", about=agent.about("interactive"))


@PARENTS
@pytest.mark.parametrize("own", ["", "p1"])
def test_a_strangers_project_offers_nothing_and_the_runs_own_project_wins(
    host: Host, agent: Agent, own: str
) -> None:
    host.start(project=own, params={agent.project_input: "p2"})
    offered = host.shelf.of("plan-1", "plan-2") if own else []
    assert host.gates[-1].values["candidates"] == offered
