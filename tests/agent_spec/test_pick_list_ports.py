"""The pick list of upstream cases, row 35: the inputs and outputs that follow from a component.

A case says what one node has, by title and type; or by which rule its declaration is refused.
"""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler import compile_flow
from oas_compiler.ir.printout import shown
from tests.agent_spec.documents import (
    array,
    call,
    codes_of,
    end,
    flow,
    inner,
    node,
    parts,
    port,
    start,
    tool,
)

A, B = port("a"), port("b", "integer")
MODEL = node("VllmConfig", "model", model_id="m", url="http://model.example")
TOOL = tool("work_on", [A, B], [port("c"), port("d", "number")])
SUB = inner(
    flow(
        start(A, B), call("work", {**TOOL, "id": "work_on_inside"}), end(port("c", default=""), port("d", "number", default=0)),
        data=[("start", "a", "work", "a"), ("start", "b", "work", "b"), ("work", "c", "end", "c"), ("work", "d", "end", "d")],
    ),
    "sub",
)  # fmt: skip
API = {"url": "https://h.example/x", "http_method": "POST"}


def llm(prompt: str, **more: Any) -> Any:
    return node("LlmNode", "it", llm_config=MODEL, prompt_template=prompt, **more)


def api(**more: Any) -> Any:
    return node("ApiNode", "it", **{**API, **more})


def mapped(kind: str = "MapNode", reducers: Any = None, **more: Any) -> Any:
    return node(kind, "it", subflow=SUB, **({"reducers": reducers} if reducers else {}), **more)


def one_of_two(name: str, given: Any, gives: Any) -> Any:
    made = flow(
        start(given), call("work", tool(f"make_{name}", [given], [gives])), end(gives),
        data=[("start", given["title"], "work", given["title"]), ("work", gives["title"], "end", gives["title"])],
    )  # fmt: skip
    return inner(made, name)


def parallel(first: Any, second: Any, **more: Any) -> Any:
    flows = [one_of_two("left", *first), one_of_two("right", *second)]
    return node("ParallelFlowNode", "it", subflows=flows, **more)


def agent(**more: Any) -> Any:
    return node("Agent", "who", llm_config=MODEL, system_prompt="Help {{a}}.", inputs=[A], outputs=[port("c")], **more)  # fmt: skip


Ports = dict[str, str]
LIST = "array<string>"
ITERATED: Ports = {
    "iterated_a": f"string | {LIST}",
    "iterated_b": "integer | array<integer>",
}


INFERRED: dict[str, tuple[Any, Ports, Ports]] = {
    "prompt with two names": (llm("{{b}} of {{ a }}"), {"a": "any", "b": "any"}, {"generated_text": "string"}),
    "prompt with one name twice": (llm("{{a}} {{a}}"), {"a": "any"}, {"generated_text": "string"}),
    "prompt with a name in capitals": (llm("Hi {{NAME}}"), {"NAME": "any"}, {"generated_text": "string"}),
    "prompt without names": (llm("Hello"), {}, {"generated_text": "string"}),
    "prompt with declared input": (llm("{{a}}", inputs=[A]), {"a": "string"}, {"generated_text": "string"}),
    "renamed text of a model": (llm("Hi", outputs=[port("z")]), {}, {"z": "string"}),
    "several outputs of a model": (llm("Hi", outputs=[port("z"), B]), {}, {"z": "string", "b": "integer"}),
    "call without outputs": (api(), {}, {"response": "any"}),
    "call with outputs": (api(outputs=[B]), {}, {"b": "integer"}),
    "call with names in its address": (api(url="https://h.example/{{a}}/{{c}}"), {"a": "any", "c": "any"}, {"response": "any"}),
    "call with a name in its method": (api(http_method="{{a}}"), {"a": "any"}, {"response": "any"}),
    "call with a name in the address of its description": (
        api(api_spec_uri="https://h.example/{{a}}.json"), {"a": "any"}, {"response": "any"}),
    "call with a name in a sensitive header": (
        api(sensitive_headers={"X-Key": "{{a}}"}), {"a": "any"}, {"response": "any"}),
    "call with a name in capitals, which the host fills in": (api(url="https://{{HOST_NAME}}/x"), {}, {"response": "any"}),
    "call with names in query and headers": (
        api(query_params={"q": "{{a}}"}, headers={"X-H": "{{b}}"}), {"a": "any", "b": "any"}, {"response": "any"}),
    "call with names deep in its data": (
        api(data={"l": [{"m": "{{a}}"}, "x {{b}}"]}), {"a": "any", "b": "any"}, {"response": "any"}),
    "call with a name in a key of its data": (api(data={"{{a}}": 1}), {"a": "any"}, {"response": "any"}),
    "call whose braces are no names": (api(data={"k": "{{a.b}} {{ a|x }}"}), {}, {"response": "any"}),
    "tool": (node("ToolNode", "it", tool=TOOL), {"a": "string", "b": "integer"}, {"c": "string", "d": "number"}),
    "tool with a narrower input": (
        node("ToolNode", "it", tool=TOOL, inputs=[{**A, "maxLength": 3}, B]), {"a": "string", "b": "integer"},
        {"c": "string", "d": "number"}),
    "agent": (node("AgentNode", "it", agent=agent()), {"a": "string"}, {"c": "string"}),
    "flow in a FlowNode": (node("FlowNode", "it", subflow=SUB), {"a": "string", "b": "integer"}, {"c": "string", "d": "number"}),
    "flow in an AgentNode": (node("AgentNode", "it", agent=SUB), {"a": "string", "b": "integer"}, {"c": "string", "d": "number"}),
    "flow whose errors are caught": (
        node("CatchExceptionNode", "it", subflow=SUB), {"a": "string", "b": "integer"},
        {"c": "string", "d": "number", "caught_exception_info": "string | null"}),
    "map": (mapped(), ITERATED, {"collected_c": LIST, "collected_d": "array<number>"}),
    "map, append": (mapped(reducers={"c": "append"}), ITERATED, {"collected_c": LIST}),
    "map, sum": (mapped(reducers={"d": "sum"}), ITERATED, {"collected_d": "number"}),
    "map, average": (mapped(reducers={"d": "average"}), ITERATED, {"collected_d": "number"}),
    "map, max": (mapped(reducers={"d": "max"}), ITERATED, {"collected_d": "number"}),
    "map, min": (mapped(reducers={"d": "min"}), ITERATED, {"collected_d": "number"}),
    "map, two reducers": (mapped(reducers={"d": "max", "c": "append"}), ITERATED, {"collected_d": "number", "collected_c": LIST}),
    "parallel map": (mapped("ParallelMapNode"), ITERATED, {"collected_c": LIST, "collected_d": "array<number>"}),
    "parallel map, sum": (mapped("ParallelMapNode", {"d": "sum"}), ITERATED, {"collected_d": "number"}),
    "parallel flows": (parallel((A, port("x")), (B, port("y"))), {"a": "string", "b": "integer"}, {"x": "string", "y": "string"}),
    "parallel flows with one input": (parallel((A, port("x")), (A, port("y"))), {"a": "string"}, {"x": "string", "y": "string"}),
    "branching": (node("BranchingNode", "it", mapping={}), {"branching_mapping_key": "string"}, {}),
    "branching on a renamed input": (node("BranchingNode", "it", mapping={}, inputs=[A]), {"a": "string"}, {}),
    "question": (node("InputMessageNode", "it"), {}, {"user_input": "string"}),
    "question with a name": (node("InputMessageNode", "it", message="Hi {{a}}"), {"a": "any"}, {"user_input": "string"}),
    "question with a renamed answer": (node("InputMessageNode", "it", outputs=[port("z")]), {}, {"z": "string"}),
    "message": (node("OutputMessageNode", "it", message="{{a}} and {{b}}"), {"a": "any", "b": "any"}, {}),
}  # fmt: skip


def with_node(one: Any, inputs: Ports) -> Any:
    """A document in which this node runs, every input of it fed by a default."""
    branches = {"BranchingNode": "default", "CatchExceptionNode": "next"}.get(one["component_type"])
    routes = [("it", branches, "end")] if branches else []
    if one["component_type"] == "CatchExceptionNode":
        routes.append(("it", "caught_exception_branch", "end"))
    kinds = {"integer": "integer", "any": {}}
    ins = []
    for title, kind in inputs.items():
        schema: Any = (
            array(kind.partition(" | ")[0]) if " | " in kind else kinds.get(kind, "string")
        )
        ins.append(port(title, schema))
    return flow(
        start(*ins), one, end(), routes=routes,
        data=[("start", title, "it", title) for title in inputs],
    )  # fmt: skip


@pytest.mark.parametrize("name", INFERRED)
def test_row_35_ports_that_are_not_declared_follow_from_what_the_node_is(name: str) -> None:
    one, inputs, outputs = INFERRED[name]
    document = with_node(one, inputs)
    assert codes_of(document) == set()
    tools = dict.fromkeys(("work_on", "make_left", "make_right"), len)
    (made,) = [found for found in compile_flow(document, tools=tools).ir.nodes if found.id == "it"]
    assert {own.title: shown(own.type) for own in made.inputs} == inputs
    assert {own.title: shown(own.type) for own in made.outputs} == outputs


REFUSED: dict[str, tuple[Any, set[str]]] = {
    "prompt: an input that it does not name": (llm("Hi", inputs=[A]), {"OAS082"}),
    "prompt: a name that is no input": (llm("{{a}} {{c}}", inputs=[A]), {"OAS081"}),
    "call: an input that nothing names": (api(inputs=[A]), {"OAS082"}),
    "call: a name that is no input": (api(data={"k": ["{{c}}"]}, inputs=[]), {"OAS081"}),
    "tool: a renamed output": (node("ToolNode", "it", tool=TOOL, outputs=[port("z"), port("d")]), {"OAS067"}),
    "tool: a further input": (node("ToolNode", "it", tool=TOOL, inputs=[A, B, port("z")]), {"OAS067"}),
    "tool: an input left out": (node("ToolNode", "it", tool=TOOL, inputs=[A]), {"OAS067"}),
    "agent: a further input": (node("AgentNode", "it", agent=agent(), inputs=[A, B]), {"OAS067"}),
    "flow: a renamed output": (node("FlowNode", "it", subflow=SUB, outputs=[port("z"), port("d")]), {"OAS067"}),
    "caught flow: an output without a default": (
        node("CatchExceptionNode", "it", subflow=one_of_two("left", A, port("x"))), {"OAS077"}),
    "map: an input without its prefix": (mapped(inputs=[A, B]), {"OAS067"}),
    "map: an output that is not reduced": (
        mapped(reducers={"d": "sum"}, outputs=[port("collected_c", array("string")), port("collected_d", "number")]), {"OAS067"}),
    "map: a sum of texts": (mapped(reducers={"c": "sum"}), {"OAS075"}),
    "map: a reducer of nothing": (mapped(reducers={"z": "append"}), {"OAS075"}),
    "parallel flows: one input of two types": (parallel((A, port("x")), (port("a", "object"), port("y"))), {"OAS076"}),
    "parallel flows: one output twice": (parallel((A, port("x")), (B, port("x"))), {"OAS076"}),
    "parallel flows: a further output": (
        parallel((A, port("x")), (B, port("y")), outputs=[port("x"), port("y"), port("z")]), {"OAS067"}),
    "branching: two inputs": (node("BranchingNode", "it", mapping={}, inputs=[A, port("z")]), {"OAS035"}),
    "branching: an output": (node("BranchingNode", "it", mapping={}, outputs=[A]), {"OAS067"}),
    "question: two outputs": (node("InputMessageNode", "it", outputs=[A, port("z")]), {"OAS035"}),
    "question: no output": (node("InputMessageNode", "it", outputs=[]), {"OAS035"}),
    "message: an output": (node("OutputMessageNode", "it", message="Hi", outputs=[A]), {"OAS067"}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_row_35_ports_that_do_not_follow_from_it_are_refused(name: str) -> None:
    one, codes = REFUSED[name]
    found = codes_of(with_node(one, {}))
    assert codes <= found
    assert found - codes <= {"OAS063"}  # nothing feeds the node here


def one_line(first: Any, last: Any, **more: Any) -> Any:
    return {**flow(first, last, data=[], outputs=[]), **more}


START_AND_END: dict[str, tuple[Any, set[str]]] = {
    "a StartNode by its inputs": (one_line({**start(A), "outputs": None}, end()), set()),
    "a StartNode by its outputs": (one_line({**start(A), "inputs": None}, end(), inputs=[A]), set()),
    "a StartNode with both": (one_line(start(A), end()), set()),
    "a StartNode whose two differ": (one_line({**start(A), "outputs": [B]}, end()), {"OAS065"}),
    "a StartNode with one title and two types": (one_line({**start(A), "outputs": [port("a", "integer")]}, end()), {"OAS065"}),
    "a StartNode whose outputs have a default": (one_line({**start(A), "outputs": [port("a", default="")]}, end()), {"OAS065"}),
    "a StartNode whose inputs have a default": (one_line({**start(port("a", default="")), "outputs": [A]}, end()), set()),
    "an EndNode by its outputs": (one_line(start(), {**end(port("a", default="")), "inputs": None}), set()),
    "an EndNode by its inputs": (one_line(start(), {**end(port("a", default="")), "outputs": None}), set()),
    "an EndNode whose two differ": (one_line(start(), {**end(port("a", default="")), "inputs": [B]}), {"OAS065"}),
    "a flow with the inputs of its StartNode": (one_line(start(A), end(), inputs=None), set()),
    "a flow with other inputs": (one_line(start(A), end(), inputs=[B]), {"OAS068"}),
    "a flow whose input is never of the type": (one_line(start(B), end(), inputs=[port("b", "object")]), {"OAS068"}),
    "a flow whose input can become the type": (one_line(start(B), end(), inputs=[port("b", "number")]), set()),
    "a flow with an output of no EndNode": (one_line(start(), end(), outputs=[A]), {"OAS066"}),
    "a flow with such an output and a default": (one_line(start(), end(), outputs=[port("a", default="")]), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", START_AND_END)
def test_row_35_inputs_and_outputs_of_start_and_end_are_one_set(name: str) -> None:
    document, codes = START_AND_END[name]
    found = codes_of(document)
    assert codes <= found
    assert found - codes <= {"OAS063"} if codes else not found


def test_row_35_a_flow_has_the_outputs_that_all_its_ends_have() -> None:
    given = [port("p", default="1"), port("q", default="2"), port("r", default="3")]
    document = flow(
        start(), node("BranchingNode", "choose", mapping={"x": "x"}, inputs=[port("key", default="x")]),
        end(*given[:2]), end(*given[1:], name="end2"),
        routes=[("choose", "x", "end"), ("choose", "default", "end2")], data=[],
    )  # fmt: skip
    document.pop("outputs")
    flow_ = compile_flow(document)
    assert [own.title for own in flow_.ir.outputs] == ["q"]
    assert parts(document)["end"]["outputs"] == given[:2]


def test_row_35_there_are_as_many_cases_as_upstream_has() -> None:
    assert len(INFERRED) + len(REFUSED) + len(START_AND_END) >= 44
