"""A run of a module equals the run of the compiled graph: calls with keys, gates, events, outputs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from oas_compiler import CompileError, compile_flow
from oas_compiler.lower.flow import Flow
from tests.agents.agent_flows import SEARCH, SEND, TEXT, agent, agent_flow
from tests.effort import tries
from tests.emit.modules import compile_whole, import_emitted
from tests.emit.test_emitted_plans import EXAMPLES
from tests.flow.random_flows import counting_tools, random_flow
from tests.flow.test_fusing import tell
from tests.samples import CINATRA, needs_corpus

ANSWERS: dict[str, Any] = {"approved": Gate.example, "rejected": lambda _gate: False, "none": None}


def require_equal_runs(flow: Flow, folder: Path, name: str) -> None:
    module, _ = import_emitted(flow, folder, name)
    own = module.flow.lent(flow.host)
    for answers in ANSWERS.values():
        assert tell(own, answers=answers) == tell(flow, answers=answers)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parts[-3])
def test_an_example_runs_alike(file: Path, tmp_path: Path) -> None:
    require_equal_runs(compile_whole(file), tmp_path, f"runs_{file.parts[-3].replace('-', '_')}")


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_a_public_agent_runs_alike(file: Path, tmp_path: Path) -> None:
    require_equal_runs(compile_whole(file), tmp_path, f"public_{file.parts[-3].replace('-', '_')}")


def test_random_flows_run_alike(tmp_path: Path) -> None:
    first = random.randrange(10**6)
    print(f"seeds from {first} on")
    count, compared = tries(16, 200), 0
    for seed in range(first, first + count):
        try:
            # A loop that nobody leaves ends after 40 visits of nodes, and not after 10,000.
            flow = compile_flow(random_flow(seed), tools=counting_tools(), max_steps=40)
        except CompileError:
            continue
        module, _ = import_emitted(flow, tmp_path, f"random_{seed}")
        own = module.flow.lent(flow.host)
        assert tell(own, tools=counting_tools()) == tell(flow, tools=counting_tools()), seed
        compared += 1
    assert compared > count / 4


def test_an_agent_with_a_confirmed_call_runs_alike(tmp_path: Path) -> None:
    document = agent_flow(agent(SEARCH, SEND, outputs=TEXT), TEXT)
    calls: list[str] = []

    def search(query: str) -> str:
        calls.append(f"search {query}")
        return "found"

    def send(to: str, copies: int) -> bool:
        calls.append(f"send {to} {copies}")
        return True

    def make_model() -> ScriptedModel:
        return ScriptedModel(
            [
                ScriptedReply(
                    tool_calls=({"name": "search", "args": {"query": "bees"}, "id": "1"},)
                ),
                ScriptedReply(tool_calls=({"name": "send", "args": {"to": "ann"}, "id": "2"},)),
                "Sent.",
            ]
        )

    told: list[Any] = []
    for emitted in (False, True):
        flow = compile_flow(
            document, tools={"search": search, "send": send}, models={"*": make_model()}
        )
        chosen: Any = flow
        if emitted:
            module, _ = import_emitted(flow, tmp_path, "own_agent")
            chosen = module.flow.lent(flow.host)
        told.append(tell(chosen, answers=[True]))
    assert told[0] == told[1]
    assert told[0]["outputs"] == {"report": "Sent."}
    assert calls == ["search bees", "send ann 1"] * 2


@pytest.mark.parametrize("fuse", [True, False])
def test_a_plain_graph_of_a_module_pauses_and_resumes(tmp_path: Path, fuse: bool) -> None:
    file = next(one for one in EXAMPLES if one.parts[-3] == "newsletter-agent")
    module, _ = import_emitted(compile_whole(file), tmp_path, f"plain_{fuse}")
    own = module.flow
    graph = own.graph(InMemorySaver(), fuse=fuse)
    config, context = own.config(run_id="r"), own.context(run_id="r")
    state = graph.invoke(own.input({"topic": "Bees"}), config, context=context)
    asked = []
    while "__interrupt__" in state:
        paused = state["__interrupt__"][0]
        asked.append(paused.response_schema["x-gate"]["id"])
        given = Command(resume={paused.id: {"approved": True}})
        state = graph.invoke(given, config, context=context)
    assert asked == ["review_draft", "confirm_send"]
    assert state["status"] == "completed"


def test_the_picture_of_a_module_is_that_of_the_file(tmp_path: Path) -> None:
    flow = compile_whole(EXAMPLES[0])
    module, _ = import_emitted(flow, tmp_path, "pictured")
    drawn, own = flow.graph().get_graph(xray=True), module.flow.graph().get_graph(xray=True)
    assert own.draw_mermaid() == drawn.draw_mermaid()


def test_what_langgraph_json_names_is_the_graph_of_the_flow(tmp_path: Path) -> None:
    module, _ = import_emitted(compile_whole(EXAMPLES[0]), tmp_path, "served")
    assert set(module.make_graph({}).nodes) - {"__start__"} == {
        node.id for node in module.flow.plan.nodes
    }
