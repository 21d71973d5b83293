"""The printed IR: golden text for a flow with a gate, a branch, a loop and a subflow."""

from __future__ import annotations

import pytest

from oas_compiler.ir.printout import print_ir
from oas_compiler.pipeline import compile_ir
from tests.agents.agent_flows import agent, agent_flow, server_tool
from tests.flows import port
from tests.samples import CINATRA, control, data, needs_corpus, ref, small, text, with_node

GOLDEN = """\
flow small "Small" package=@acme/small
  in  topic: string
  out draft: string
  start StartNode "Inputs" (start)
    in  topic: string
    out topic: string
    required: "topic"
    next -> write
    .topic -> write.topic
    .topic -> sub.topic
  write ApiNode "Write"
    in  topic: string
    out draft: string
    url: "{{CINATRA_BASE_URL}}/api/llm-bridge"
    method: "POST"
    data: {"user":"Write about {{ topic }}"}
    next -> gate
    .draft -> end.draft
  gate InputMessageNode "Gate"
    in  last: object = null
    out choice: string {"enum":["again","go"]}
    risk_class: "approval"
    answer_schema: {"title":"choice"}
    renderer: "@acme/small:choose"
    max_visits: 3
    next -> choose
    .choice -> choose.value
  choose BranchingNode "choose"
    in  value: string
    mapping: "again" -> "again"
    again -> write
    default -> sub
  sub FlowNode "sub"
    in  topic: string
    out draft: string
    gate_steps: (name="One" gate_count=2)
    next -> end
    flow inner "Small" package=@acme/small
      in  topic: string
      out draft: string
      start StartNode "Inputs" (start)
        in  topic: string
        out topic: string
        required: "topic"
        next -> write
        .topic -> write.topic
      write ApiNode "Write"
        in  topic: string
        out draft: string
        url: "{{CINATRA_BASE_URL}}/api/llm-bridge"
        method: "POST"
        data: {"user":"Write about {{ topic }}"}
        next -> end
        .draft -> end.draft
      end EndNode "End"
        in  draft: string
        out draft: string
        branch_name: "next"
  end EndNode "End"
    in  draft: string
    out draft: string
    branch_name: "next"
"""


def test_the_printed_form_says_everything_that_a_run_depends_on():
    flow = with_node(
        {
            "component_type": "InputMessageNode",
            "id": "gate",
            "name": "Gate",
            "metadata": {
                "cinatra": {
                    "riskClass": "approval",
                    "renderer": "@acme/small:choose",
                    "maxGateVisits": 3,
                    "inputMessageSchema": {"title": "choice"},
                }
            },
            "inputs": [{"title": "last", "type": "object", "default": None}],
            "outputs": [text("choice", enum=["again", "go"])],
        },
        data("gate", "choice", "choose", "value"),
        data("start", "topic", "sub", "topic"),
    )
    block = flow["$referenced_components"]
    block["choose"] = {
        "component_type": "BranchingNode",
        "id": "choose",
        "inputs": [text("value")],
        "mapping": {"again": "again"},
    }
    block["sub"] = {
        "component_type": "FlowNode",
        "id": "sub",
        "subflow": ref("inner"),
        "metadata": {"cinatra": {"gateSteps": [{"name": "One", "gateCount": 2}]}},
    }
    block["inner"] = small(flow={"id": "inner"})
    flow["nodes"][3:3] = [ref("choose"), ref("sub")]
    flow["control_flow_connections"][2:] = [
        control("gate", "choose"),
        control("choose", "write", "again"),
        control("choose", "sub", "default"),
        control("sub", "end"),
    ]
    assert print_ir(compile_ir(flow).ir) == GOLDEN


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_printing_twice_gives_the_same_text_and_names_every_node(file):
    flow = compile_ir(file).ir
    printed = print_ir(flow)
    assert printed == print_ir(compile_ir(file).ir)
    for node in flow.nodes:
        assert f"\n  {node.id} {type(node).__name__} " in printed


def test_how_often_an_effect_may_happen_is_printed_where_it_is_not_the_usual() -> None:
    act = {
        "component_type": "ApiNode", "id": "act", "name": "Act", "http_method": "POST",
        "url": "{{CINATRA_BASE_URL}}/x", "metadata": {"cinatra": {"effect": "at_most_once"}},
    }  # fmt: skip
    assert '    effect: "at_most_once"\n' in print_ir(compile_ir(with_node(act)).ir)
    act["metadata"]["cinatra"]["effect"] = "at_least_once"  # type: ignore[index]  # a literal above
    assert "effect:" not in print_ir(compile_ir(with_node(act)).ir)


SHOP = {
    "component_type": "StreamableHTTPTransport", "id": "shop", "name": "shop",
    "url": "https://shop.example.com/mcp",
}  # fmt: skip
BOX = {"component_type": "MCPToolBox", "id": "box", "name": "Shop", "client_transport": SHOP}


@pytest.mark.parametrize("confirms", [True, False])
def test_a_tool_and_a_toolbox_that_require_confirmation_say_so(confirms: bool) -> None:
    asks = {"requires_confirmation": True} if confirms else {}
    tool = server_tool("search", [port("query")], [port("found")], **asks)
    flow = agent_flow(agent(tool, toolboxes=[{**BOX, **asks}]))
    printed = print_ir(compile_ir({**flow, "agentspec_version": "26.3.1"}).ir).splitlines()
    said = [line for line in printed if line.strip() == "requires_confirmation: true"]
    assert len(said) == (2 if confirms else 0)
    at = printed.index('      search ToolNode "search"')
    assert ("        requires_confirmation: true" in printed[at : at + 5]) is confirms


def test_an_agent_that_requires_approval_says_so() -> None:
    flow = agent_flow(agent(metadata={"cinatra": {"requiresApproval": True}}))
    printed = print_ir(compile_ir(flow).ir).splitlines()
    at = printed.index('  work AgentNode "The work"')
    assert "    requires_confirmation: true" in printed[at : at + 4]
