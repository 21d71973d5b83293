"""A gate has one name, one screen and one risk class: in a run, in `explain` and in the pictures."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.gates.gate import gates_of
from oas_compiler import compile_flow
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.draw.picture_files import html_page
from oas_compiler.explain import explain
from tests.flows import end, flow_node, flow_of, gate, start

ENTRY = {"name": "Review the drafts", "renderer": "@p/q:shown", "riskClass": "draft_create"}
FLOW = flow_of(
    start(),
    flow_node(
        "sub",
        flow_of(start(), gate("own", name="Inner name", renderer="@x/y:own"), end(), id_="i"),
        gateSteps=[ENTRY],
    ),
    end(),
)


def test_what_a_person_is_asked_is_what_explain_and_the_pictures_name() -> None:
    compiled = compile_flow(FLOW)
    graph: Any = compiled.graph(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"inputs": {}}, config)
    (asked,) = gates_of(graph.get_state(config, subgraphs=True).interrupts)
    (told,) = explain(FLOW).gates
    assert (asked.name, asked.renderer, asked.risk) == tuple(ENTRY.values())
    assert (told.name, told.renderer, told.risk_class) == tuple(ENTRY.values())
    for picture in (mermaid_text(compiled.ir), html_page(compiled.ir)):
        assert "Review the drafts" in picture.replace("&#32;", " ")
        assert "The own" not in picture
        assert "Inner name" not in picture
