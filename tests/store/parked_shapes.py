"""Twelve shapes of runs, with all that a process lends to them, for the database of parked runs.

    with SHAPES["map"].open(dsn, calls) as world:      # calls: the key of each call that is made
        world.park("map-deep", "deep")

Each has at least two gates.  What is lent gives the same in every process, so that a run goes on in another one
as it would have in the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from cinatra_sdk import Decision, Gate, HostParts, Run, RunStore
from cinatra_sdk.first_turn import FirstTurn
from cinatra_sdk.first_turn.first_turn_records import Brief
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.host import LocalPlatform
from cinatra_sdk.outside.effects.door import current_key
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.models.model_scripts import AskedModel, ScriptedModel, ScriptedReply
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from tests.agents.agent_flows import SEARCH, SEND, agent
from tests.attachments.samples import RecordingPorts, ref
from tests.flow.containers import around, checked_item, mapped, parallel
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start, tool
from tests.governance.small_pack import make_small_pack
from tests.lower.context_shelf import ORG, Shelf, registry
from tests.slot_flows import declared, taking
from tests.store.selecting import BRAND, AnyRun, envelope
from tests.wired_flows import wired

Json = dict[str, Any]
Calls = list[str]
"""The idempotency key of each call that was made."""
TOPIC, TEXT = port("topic", default="bees"), port("text")
ANN = Decision.approve(by="ann")


class RecordingPlatform(SimulatedPlatform):
    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._keys = calls

    def call(self, call: Any) -> Any:
        self._keys.append(call.idempotency_key)
        return super().call(call)


def between_gates(
    *nodes: Json, edges: Any = (), first: Json | None = None, id_: str = "shape"
) -> Json:
    """start → first gate → a call → `nodes` → last gate → a call → end."""
    return flow_of(
        first or start(TOPIC),
        gate("first"),
        api("before", data={"t": "{{ topic }}"}, inputs=[port("topic")], outputs=[TEXT]),
        *nodes,
        gate("last", inputs=[TEXT]),
        api("after", data={"t": "{{ text }}"}, inputs=[TEXT], outputs=[port("id")]),
        end(port("id")),
        edges=[
            ("start", "topic", "before", "topic"), ("before", "text", "last", "text"),
            ("before", "text", "after", "text"), ("after", "id", "end", "id"), *edges,
        ],
        id_=id_,
    )  # fmt: skip


def side(name: str) -> Json:
    return flow_of(
        start(),
        gate(f"ask_{name}"),
        api(f"call_{name}", outputs=[port(f"o{name}")]),
        gate(f"again_{name}"),
        end(port(f"o{name}")),
        id_=f"side{name}",
        edges=[(f"call_{name}", f"o{name}", "end", f"o{name}")],
    )


def loop() -> Json:
    """Asks whether to go on until a person says no more; each round makes a call."""
    more = port("more")
    return flow_of(
        start(TOPIC),
        api("round", data={"t": "{{ topic }}"}, inputs=[port("topic")], outputs=[TEXT]),
        gate("ask", output=more, inputs=[TEXT]),
        branching("which", more, {"again": "again"}),
        end(TEXT),
        edges=[("start", "topic", "round", "topic"), ("round", "text", "ask", "text"),
               ("ask", "more", "which", "more"), ("round", "text", "end", "text")],
        routes=[("start", None, "round"), ("round", None, "ask"), ("ask", None, "which"),
                ("which", "again", "round"), ("which", "default", "end")],
    )  # fmt: skip


def with_agent(*tools: Json) -> Json:
    work = node("AgentNode", "work", agent=agent(*tools, outputs=[port("report")]))
    return between_gates(work, edges=[("start", "topic", "work", "topic")])


def with_model(title: str, use: str, value: Json) -> Json:
    """use: the member of the node's metadata that names the input `title`."""
    about: Any = {"imageId": title} if use == "firstTurn" else title
    llm = {"component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5"}
    ask = node(
        "LlmNode", "ask", llm_config=llm, prompt_template="About {{ topic }}",
        inputs=[port("topic"), value], outputs=[port("said")], metadata={"cinatra": {use: about}},
    )  # fmt: skip
    given = {**value, "default": None} if use == "attachments" else {**value, "default": "img"}
    edges = [("start", "topic", "ask", "topic"), ("start", title, "ask", title)]
    return between_gates(ask, edges=edges, first=start(TOPIC, given))


def at_most_once() -> Json:
    post = tool("post", "post", [port("topic")], [port("y")])
    post.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = "at_most_once"
    return between_gates(post, edges=[("start", "topic", "post", "topic")])


def selecting() -> Json:
    """A person selects context, which a call consumes; before and after that a gate."""
    look, last = gate("look"), gate("last")
    edges = (("start", "topic", "write", "topic"), ("write", "text", "end", "text"))
    flow = declared(consumers=(look, taking("contextSlotBindings"), last), edges=edges)
    return wired(flow)


def reply(asked: AskedModel) -> Any:
    """By how far the conversation has come, and by what the model may call."""
    said = sum(message.type == "ai" for message in asked.messages)
    named = {
        str(getattr(one, "name", "") or one.get("function", {}).get("name")) for one in asked.tools
    }
    if "send" in named and said < 2:
        return ScriptedReply(tool_calls=({"name": "send", "args": {"to": f"p{said}"}},))
    if "search" in named and said < 1:
        return ScriptedReply(tool_calls=({"name": "search", "args": {"query": "bees"}},))
    return "Done."


@dataclass(frozen=True)
class Shape:
    flow: Callable[[], Json]
    inputs: Json | None = None
    governed: bool = False
    is_child: bool = False
    selects: bool = False
    loops: bool = False
    tenant: str = ""
    """Whose runs they are."""

    @contextmanager
    def open(self, dsn: str, calls: Calls) -> Iterator[World]:
        database = Database.open(dsn)
        try:
            host = self.lend(calls, database)
            with RunStore.open(dsn, host=host) as store:
                yield World(self, store, host)
        finally:
            database.close()

    def lend(self, calls: Calls, database: Database) -> HostParts:
        def kept(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(**given: Any) -> Any:
                calls.append(current_key())
                return function(**given)

            return call

        def answer(asked: AskedModel) -> Any:
            calls.append(current_key())
            return reply(asked)

        platform: Any = RecordingPlatform(calls)
        if self.selects:
            shelf = ArtifactStore(database)
            platform = LocalPlatform(shelf, registry(BRAND), AnyRun(), beyond=platform)
        pack = make_small_pack(
            [{"rule_id": "R", "then": {"requires_approval_gate": "G"}}],
            binds_to="*",
        )
        return HostParts(
            platform=platform,
            tools={
                "post": kept(lambda topic: f"{topic}!"),
                "search": kept(lambda query: f"{query}?"),
                "send": kept(lambda to, copies=1: bool(to)),
            },
            models={"*": ScriptedModel(answer)},
            attachments_for=lambda _run, _config: RecordingPorts(uploads={"a1": "file-1"}),
            first_turn=lambda image: FirstTurn(brief=Brief(intent=f"Of {image}.")),
            governance=Governance.of(pack) if self.governed else None,
        )

    def decide(self, gate_: Gate) -> Decision:
        """What a person says there."""
        if isinstance(gate_.form, SelectionForm):
            refs = gate_.values["candidates"][:2]
            return Decision.approve(by="ann", value=envelope(refs))
        if self.loops:
            return Decision.approve(by="ann", value="again" if gate_.visit < 3 else "no more")
        return ANN


@dataclass(frozen=True)
class World:
    """A store with all that the runs of one shape need."""

    shape: Shape
    store: RunStore
    host: HostParts

    def start(self, run_id: str) -> Run:
        more: Json = {"tenant": self.shape.tenant}
        if self.shape.is_child:
            parent = compile_flow(flow_of(start(), gate("wait"), end()), host=self.host)
            more["parent"] = self.store.start(parent, {}, run_id=f"{run_id}-parent", **more).id
        flow = compile_flow(self.shape.flow(), host=self.host)
        return self.store.start(flow, self.shape.inputs or {}, run_id=run_id, **more)

    def answer(self, run: Run) -> Run:
        return self.store.answer(run.id, run.waiting[0], self.shape.decide(run.waiting[0]))

    def finish(self, run: Run) -> list[str]:
        """The gates at which the run asked until it completed."""
        asked = []
        while run.status == "waiting":
            asked.append(run.waiting[0].id)
            run = self.answer(run)
        assert run.status == "completed", run.error
        return asked

    def park(self, run_id: str, depth: str) -> Run:
        run = self.start(run_id)
        assert run.status == "waiting", run.error
        if depth == "decided":
            return self.store.decide(run_id, run.waiting[0], self.shape.decide(run.waiting[0]))
        if depth == "deep":
            for _ in self.finish(self.start(f"{run_id}-counted"))[1:]:
                run = self.answer(run)
        return run


def fill_shelf(database: Database) -> None:
    """The artifacts from which persons select; once in a database."""
    Shelf(ArtifactStore(database)).fill(BRAND, BRAND)


_SHAPES = {
    "subflow": Shape(lambda: between_gates(flow_node("inside", between_gates(id_="inner")))),
    "parallel": Shape(
        lambda: between_gates(parallel(side("a"), side("b"))),
    ),
    "map": Shape(lambda: around(mapped(checked_item(gates=2)), items=2)),
    "agent": Shape(lambda: with_agent(SEARCH)),
    "governed": Shape(between_gates, governed=True),
    "child": Shape(between_gates, is_child=True),
    "at most once": Shape(at_most_once),
    "context selection": Shape(selecting, inputs={"topic": "bees"}, selects=True, tenant=ORG),
    "first turn": Shape(lambda: with_model("image_id", "firstTurn", port("image_id"))),
    "attachments": Shape(
        lambda: with_model("files", "attachments", {"title": "files"}),
        inputs={"files": [ref().wire()]},
    ),
    "loop": Shape(loop, loops=True),
    "tool loop": Shape(lambda: with_agent(SEND)),
}
SHAPES = {
    name: replace(shape, tenant=shape.tenant or name.replace(" ", "-"))
    for name, shape in _SHAPES.items()
}
DEPTHS = ("first", "decided", "deep")
"""At its first gate; with a decision there that nobody has carried out; at its last gate."""
