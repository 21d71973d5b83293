"""What upstream's own tests refuse is refused here, each by its own rule and at its own place.

Every configuration stands beside the valid twin that it differs from in one thing; the twin has
no finding but OAS090, for nodes that do not run yet.  Plain Agent Spec files throughout.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.samples import INVALID, control, data, errors, found_in, needs_corpus, ref

Json = dict[str, Any]
Change = Callable[[Json], object]
BLOCK = "$referenced_components"
LLM = {"component_type": "VllmConfig", "id": "llm", "name": "llm", "url": "u", "model_id": "m"}


def p(title: str, type_: Any = "string", **more: Any) -> Json:
    return {"title": title, "type": type_, **more}


def node(kind: str, id_: str, **fields: Any) -> Json:
    return {"component_type": kind, "id": id_, "name": id_, **fields}


def server_tool(id_: str, inputs: list[Json], outputs: list[Json]) -> Json:
    return node("ServerTool", id_, inputs=inputs, outputs=outputs)


def tool_node(id_: str, inputs: list[Json], outputs: list[Json], **fields: Any) -> Json:
    return node("ToolNode", id_, tool=server_tool(f"{id_}_tool", inputs, outputs), **fields)


def flow(
    *middle: Json,
    inputs: list[Json] | None = None,
    outputs: list[Json] | None = None,
    id_: str = "main",
    **fields: Any,
) -> Json:
    """start -> the nodes in order -> end; data follow equal names."""
    first = node("StartNode", f"{id_}_start", inputs=inputs or [])
    last = node("EndNode", f"{id_}_end", outputs=outputs or [])
    nodes = [first, *middle, last]
    ids = [each["id"] for each in nodes]
    made = {
        **node("Flow", id_),
        "agentspec_version": "26.3.1",
        "inputs": inputs or [],
        "outputs": outputs or [],
        "start_node": ref(ids[0]),
        "nodes": [ref(each) for each in ids],
        "control_flow_connections": [control(a, b) for a, b in itertools.pairwise(ids)],
        "data_flow_connections": None,
        BLOCK: {each["id"]: each for each in nodes},
        **fields,
    }
    # written out, so that no two places share a list
    written: Json = json.loads(json.dumps(made))
    return written


def inner(id_: str, inputs: list[Json], outputs: list[Json]) -> Json:
    """A flow around one tool, without a version of its own."""
    made = flow(tool_node(f"{id_}_call", inputs, outputs), inputs=inputs, outputs=outputs, id_=id_)
    del made["agentspec_version"]
    return made


def over(kind: str, *subflows: Json, given: list[Json], **fields: Any) -> Json:
    """A flow whose one node runs other flows; `given` are the inputs of the flow."""
    runs: Json = (
        {"subflows": list(subflows)} if kind == "ParallelFlowNode" else {"subflow": subflows[0]}
    )
    return flow(node(kind, "runs", **runs, **fields), inputs=given)


RUNS = f"/{BLOCK}/runs"


def refused(made: Json, change: Change, **options: Any) -> list[tuple[str, str]]:
    """Errors after a change, OAS090 left out; before it there are none."""
    assert {code for code, _ in errors(made, **options)} <= {"OAS090"}, [
        str(found) for found in found_in(made, **options)
    ]
    broken = copy.deepcopy(made)
    change(broken)
    return [found for found in errors(broken, **options) if found[0] != "OAS090"]


def at(made: Json, id_: str) -> Json:
    found: Json = made[BLOCK][id_]
    return found


# ---------------------------------------------------------------------------- row 28


def test_28_a_server_tool_that_is_not_registered():
    made = flow(tool_node("call", [], []))

    def rename(broken: Json) -> None:
        at(broken, "call")["tool"]["name"] = "other"

    assert refused(made, rename, tools=["call_tool"]) == [("OAS092", f"/{BLOCK}/call")]


# ---------------------------------------------------------------------------- row 31

FILES = {
    "example_serialized_llm_node_as_nested_reference_with_incorrect_version": ("OAS025", 42),
    "example_serialized_llm_node_with_misplaced_agentspec_version": ("OAS025", 15),
    "flow_with_multiple_levels_of_references_with_repeated_key": ("OAS012", 45),
    "self_referencing_flow": ("OAS015", 59),
}


@needs_corpus
@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_31_a_file_that_upstream_refuses(file):
    found = [found for found in found_in(file) if found.severity == "error"]
    assert FILES[file.stem] in [(each.code, each.line) for each in found]
    assert all(each.line and each.column for each in found)


@needs_corpus
def test_31_every_file_is_looked_at():
    assert {file.stem for file in INVALID} == set(FILES)


# ---------------------------------------------------------------------------- row 32


def structural() -> Json:
    """start -> call -> end with one datum along explicit edges."""
    made = flow(
        tool_node("call", [p("x")], [p("y")]),
        inputs=[p("x")],
        outputs=[p("y")],
        data_flow_connections=[
            data("main_start", "x", "call", "x"),
            data("call", "y", "main_end", "y"),
        ],
    )
    made[BLOCK]["spare"] = tool_node("spare", [p("x")], [p("y")])
    return made


def edge(list_: str, member: str, target: str) -> Change:
    def change(broken: Json) -> None:
        broken[f"{list_}_flow_connections"].append(
            {
                **copy.deepcopy(broken[f"{list_}_flow_connections"][0]),
                member: ref(target),
                "name": "one more",
            }
        )

    return change


def second_start(broken: Json) -> None:
    broken[BLOCK]["again"] = node("StartNode", "again", inputs=[])
    broken["nodes"].append(ref("again"))
    broken["control_flow_connections"].append(control("again", "call"))


def second_end(*outputs: Json, edges: bool) -> Change:
    """A BranchingNode after the tool leads to another EndNode as well, if `edges`."""

    def change(broken: Json) -> None:
        late = node("EndNode", "late", outputs=list(outputs))
        pick = node("BranchingNode", "pick", inputs=[p("y")], mapping={"a": "late"})
        broken[BLOCK] |= {"late": late, "pick": pick}
        broken["nodes"] += [ref("late"), ref("pick")]
        broken["data_flow_connections"].append(data("call", "y", "pick", "y"))
        for port in outputs:
            source = ("main_start", "x") if port["title"] == "x" else ("call", "y")
            broken["data_flow_connections"].append(data(*source, "late", port["title"]))
        broken["control_flow_connections"][1:] = [
            control("call", "pick"),
            control("pick", "main_end", "default"),
            control("pick", "late" if edges else "main_end", "late"),
        ]

    return change


def drop(list_: str, index: int) -> Change:
    return lambda broken: broken[list_].pop(index)


STRUCTURE: dict[str, tuple[Change, list[tuple[str, str]]]] = {
    "a control edge from a node that is not listed": (
        edge("control", "from_node", "spare"),
        [("OAS042", "/control_flow_connections/2/from_node")],
    ),
    "a data edge from a node that is not listed": (
        edge("data", "source_node", "spare"),
        # the copied edge names the StartNode's output
        [("OAS060", "/data_flow_connections/2/source_node")],
    ),
    "a data edge to a node that is not listed": (
        edge("data", "destination_node", "spare"),
        [("OAS060", "/data_flow_connections/2/destination_node")],
    ),
    "two StartNodes": (second_start, [("OAS040", f"/{BLOCK}/again")]),
    "start_node is another node": (
        lambda broken: broken.update(start_node=ref("call")),
        [("OAS050", "/start_node")],
    ),
    "two edges leave the StartNode": (
        lambda broken: broken["control_flow_connections"].append(control("main_start", "main_end")),
        [("OAS044", "/control_flow_connections/2")],
    ),
    "no edge leaves the StartNode": (
        drop("control_flow_connections", 0),
        [("OAS045", f"/{BLOCK}/main_start")],
    ),
    "an edge into the StartNode": (
        lambda broken: broken["control_flow_connections"].append(
            control("call", "main_start", "again")
        ),
        [
            ("OAS043", "/control_flow_connections/2/from_branch"),
            ("OAS046", "/control_flow_connections/2/to_node"),
        ],
    ),
    "an EndNode without an edge": (
        second_end(p("y"), edges=False),
        [("OAS052", f"/{BLOCK}/late")],
    ),
    "an edge out of an EndNode": (
        lambda broken: broken["control_flow_connections"].append(control("main_end", "call")),
        [("OAS047", "/control_flow_connections/2/from_node")],
    ),
    "an output that no EndNode has": (
        lambda broken: broken["outputs"].append(p("z")),
        [("OAS066", "/outputs/1")],
    ),
    "an output of a wrong type": (
        lambda broken: broken["outputs"][0].update(type="integer"),
        [("OAS069", f"/{BLOCK}/main_end/outputs/0")],
    ),
    "an output with two types": (
        second_end(p("y", ["string", "null"]), edges=True),
        [("OAS072", f"/{BLOCK}/late/outputs/0")],
    ),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_32_a_flow_whose_structure_is_wrong(name: str):
    change, expected = STRUCTURE[name]
    assert refused(structural(), change) == expected


def test_32_a_second_end_node_that_is_connected_and_agrees_is_fine():
    assert refused(structural(), second_end(p("y"), edges=True)) == []


def test_32_a_flow_without_a_start_node():
    assert refused(structural(), drop("nodes", 0)) == [("OAS050", "/start_node")]


def test_32_a_flow_without_an_end_node():
    found = refused(structural(), drop("nodes", 2))
    assert [code for code, _ in found] == ["OAS042"]


def test_32_a_control_edge_to_a_node_that_is_not_listed():
    def change(broken: Json) -> None:
        broken["control_flow_connections"][0] = control("main_start", "spare")

    assert ("OAS042", "/control_flow_connections/0/to_node") in refused(structural(), change)


# rows 33 and 34, castable pairs, are the tables of test_castable.py

# ---------------------------------------------------------------------------- row 35


def llm(**fields: Any) -> Json:
    made = node("LlmNode", "ask", llm_config=LLM, prompt_template="About {{ x }}", **fields)
    return flow(made, inputs=[p("x")])


def agent(**fields: Any) -> Json:
    helper = node("Agent", "helper", llm_config=LLM, system_prompt="About {{ x }}", **fields)
    return flow(node("AgentNode", "ask", agent=helper), inputs=[p("x")])


def api(**fields: Any) -> Json:
    made = node("ApiNode", "call", url="https://h/{{ x }}", http_method="GET", **fields)
    return flow(made, inputs=[p("x")])


def parallel() -> Json:
    first = inner("first", [p("x")], [p("a")])
    second = inner("second", [p("x"), p("y")], [p("b")])
    return over("ParallelFlowNode", first, second, given=[p("x"), p("y")])


def caught() -> Json:
    made = over("CatchExceptionNode", inner("work", [p("x")], [p("y", default="")]), given=[p("x")])
    made["control_flow_connections"].append(control("runs", "main_end", "caught_exception_branch"))
    return made


def mapped(output: str = "number", **fields: Any) -> Json:
    numbers = inner("numbers", [p("n", "number")], [p("out", output), p("note")])
    given = [p("iterated_n", "array", items={"type": "number"})]
    return over("MapNode", numbers, given=given, **fields)


def messages(kind: str) -> Json:
    said = node(kind, "say", message="About {{ x }}", inputs=[p("x")])
    return flow(said, inputs=[p("x")])


def tool() -> Json:
    both = ([p("x"), p("z", default="")], [p("y"), p("w")])
    return flow(tool_node("call", *both), inputs=[p("x")])


def sub() -> Json:
    return over("FlowNode", inner("work", [p("x"), p("z", default="")], [p("y")]), given=[p("x")])


def declares(id_: str, field: str, *ports: Json) -> Change:
    return lambda broken: at(broken, id_).update({field: list(ports)})


X, Z, Y, W = p("x"), p("z", default=""), p("y"), p("w")
INFO = p("caught_exception_info", ["string", "null"], default=None)
NUMBERS = p("iterated_n", "array", items={"type": "number"})
OUT = p("collected_out", "array", items={"type": "number"})
NOTE = p("collected_note", "array", items={"type": "string"})

DECLARED: dict[str, tuple[Json, Change, Change, tuple[str, str]]] = {
    # name: the flow, what may be declared, what may not, the finding
    "LlmNode with a renamed input": (
        llm(),
        declares("ask", "inputs", X),
        declares("ask", "inputs", p("y", default="")),
        ("OAS081", f"/{BLOCK}/ask/prompt_template"),
    ),
    "LlmNode with one more input": (
        llm(),
        declares("ask", "inputs", X),
        declares("ask", "inputs", X, Z),
        ("OAS082", f"/{BLOCK}/ask/inputs/1"),
    ),
    "LlmNode without its input": (
        llm(),
        declares("ask", "inputs", X),
        declares("ask", "inputs"),
        ("OAS081", f"/{BLOCK}/ask/prompt_template"),
    ),
    "ApiNode with one more input": (
        api(),
        declares("call", "inputs", X),
        declares("call", "inputs", X, Z),
        ("OAS082", f"/{BLOCK}/call/inputs/1"),
    ),
    "ApiNode without its input": (
        api(),
        declares("call", "inputs", X),
        declares("call", "inputs"),
        ("OAS081", f"/{BLOCK}/call/url"),
    ),
    "ApiNode with a placeholder deep in its body": (
        api(data={"a": [{"b": "{{ x }}"}]}),
        declares("call", "inputs", X),
        lambda broken: at(broken, "call").update(
            inputs=[X], data={"a": [{"b": "{{ x }}", "{{ q }}": 1}]}
        ),
        ("OAS081", f"/{BLOCK}/call/data/a/0/{{{{ q }}}}"),
    ),
    "InputMessageNode with one more input": (
        messages("InputMessageNode"),
        declares("say", "inputs", X),
        declares("say", "inputs", X, Z),
        ("OAS082", f"/{BLOCK}/say/inputs/1"),
    ),
    "OutputMessageNode with one more input": (
        messages("OutputMessageNode"),
        declares("say", "inputs", X),
        declares("say", "inputs", X, Z),
        ("OAS082", f"/{BLOCK}/say/inputs/1"),
    ),
    "OutputMessageNode with an output": (
        messages("OutputMessageNode"),
        declares("say", "outputs"),
        declares("say", "outputs", Y),
        ("OAS067", f"/{BLOCK}/say/outputs/0"),
    ),
    "InputMessageNode with two outputs": (
        messages("InputMessageNode"),
        declares("say", "outputs", Y),
        declares("say", "outputs", Y, W),
        ("OAS035", f"/{BLOCK}/say/outputs"),
    ),
    "ToolNode with a renamed input": (
        tool(),
        declares("call", "inputs", X, Z),
        declares("call", "inputs", p("q", default=""), Z),
        ("OAS067", f"/{BLOCK}/call/inputs/0"),
    ),
    "ToolNode that leaves out an input": (
        tool(),
        declares("call", "inputs", Z, X),
        declares("call", "inputs", X),
        ("OAS067", f"/{BLOCK}/call/inputs"),
    ),
    "ToolNode that leaves out an output": (
        tool(),
        declares("call", "outputs", Y, W),
        declares("call", "outputs", Y),
        ("OAS067", f"/{BLOCK}/call/outputs"),
    ),
    "FlowNode with one more input": (
        sub(),
        declares("runs", "inputs", X, Z),
        declares("runs", "inputs", X, Z, p("q", default="")),
        ("OAS067", f"{RUNS}/inputs/2"),
    ),
    "FlowNode that leaves out an input": (
        sub(),
        declares("runs", "inputs", X, Z),
        declares("runs", "inputs", X),
        ("OAS067", f"{RUNS}/inputs"),
    ),
    "FlowNode with a renamed output": (
        sub(),
        declares("runs", "outputs", Y),
        declares("runs", "outputs", p("yy")),
        ("OAS067", f"{RUNS}/outputs/0"),
    ),
    "AgentNode with one more input": (
        agent(inputs=[X]),
        declares("ask", "inputs", X),
        declares("ask", "inputs", X, Z),
        ("OAS067", f"/{BLOCK}/ask/inputs/1"),
    ),
    "AgentNode with an output that the agent lacks": (
        agent(outputs=[Y]),
        declares("ask", "outputs", Y),
        declares("ask", "outputs", p("yy")),
        ("OAS067", f"/{BLOCK}/ask/outputs/0"),
    ),
    "AgentNode over a flow, with one more input": (
        flow(node("AgentNode", "ask", agent=inner("work", [X], [Y])), inputs=[X]),
        declares("ask", "inputs", X),
        declares("ask", "inputs", X, Z),
        ("OAS067", f"/{BLOCK}/ask/inputs/1"),
    ),
    "Agent with an input that its prompt does not use": (
        agent(),
        lambda made: at(made, "ask")["agent"].update(inputs=[X]),
        lambda broken: at(broken, "ask")["agent"].update(inputs=[X, Z]),
        ("OAS082", f"/{BLOCK}/ask/agent/inputs/1"),
    ),
    "StartNode whose outputs are not its inputs": (
        flow(inputs=[p("x", default="")]),
        declares("main_start", "outputs", X),
        declares("main_start", "outputs", p("q", default="")),
        ("OAS065", f"/{BLOCK}/main_start/inputs"),
    ),
    "EndNode whose inputs are not its outputs": (
        flow(inputs=[X], outputs=[X]),
        declares("main_end", "inputs", X),
        declares("main_end", "inputs", p("q", default="")),
        ("OAS065", f"/{BLOCK}/main_end/inputs"),
    ),
    "Flow whose inputs are not its StartNode's": (
        flow(inputs=[X]),
        lambda made: made.update(inputs=[X]),
        lambda broken: broken.update(inputs=[X, Z]),
        ("OAS068", f"/{BLOCK}/main_start"),
    ),
    "MapNode with an input that is not called iterated": (
        mapped(),
        declares("runs", "inputs", NUMBERS),
        declares("runs", "inputs", p("n", "array", default=[])),
        ("OAS067", f"{RUNS}/inputs/0"),
    ),
    "MapNode with a renamed output": (
        mapped(),
        declares("runs", "outputs", OUT, NOTE),
        declares("runs", "outputs", OUT, p("note", "array")),
        ("OAS067", f"{RUNS}/outputs/1"),
    ),
    "MapNode that leaves out an output": (
        mapped(),
        declares("runs", "outputs", NOTE, OUT),
        declares("runs", "outputs", OUT),
        ("OAS067", f"{RUNS}/outputs"),
    ),
    "MapNode with an output that has no reducer": (
        mapped(reducers={"out": "append"}),
        declares("runs", "outputs", OUT),
        declares("runs", "outputs", OUT, NOTE),
        ("OAS067", f"{RUNS}/outputs/1"),
    ),
    "ParallelFlowNode with one more input": (
        parallel(),
        declares("runs", "inputs", X, Y),
        declares("runs", "inputs", X, Y, Z),
        ("OAS067", f"{RUNS}/inputs/2"),
    ),
    "ParallelFlowNode that leaves out an output": (
        parallel(),
        declares("runs", "outputs", p("a"), p("b")),
        declares("runs", "outputs", p("a")),
        ("OAS067", f"{RUNS}/outputs"),
    ),
    "CatchExceptionNode with a renamed output": (
        caught(),
        declares("runs", "outputs", p("y", default=""), INFO),
        declares("runs", "outputs", p("yy", default=""), INFO),
        ("OAS067", f"{RUNS}/outputs/0"),
    ),
    "CatchExceptionNode without the information": (
        caught(),
        declares("runs", "outputs", p("y", default=""), INFO),
        declares("runs", "outputs", p("y", default="")),
        ("OAS067", f"{RUNS}/outputs"),
    ),
    "BranchingNode with two inputs": (
        structural(),
        second_end(p("y"), edges=True),
        lambda broken: (
            second_end(p("y"), edges=True)(broken),
            at(broken, "pick").update(inputs=[p("y"), Z]),
        ),
        ("OAS035", f"/{BLOCK}/pick/inputs"),
    ),
    "BranchingNode with an output": (
        structural(),
        second_end(p("y"), edges=True),
        lambda broken: (
            second_end(p("y"), edges=True)(broken),
            at(broken, "pick").update(outputs=[W]),
        ),
        ("OAS067", f"/{BLOCK}/pick/outputs/0"),
    ),
}


@pytest.mark.parametrize("name", DECLARED)
def test_35_declared_inputs_and_outputs_are_those_that_follow(name: str):
    made, fine, wrong, expected = DECLARED[name]
    assert refused(made, fine) == []
    assert refused(made, wrong) == [expected]


@pytest.mark.parametrize(
    ("reducer", "title"),
    [
        ({"out": "append"}, "collected_out"),
        ({"out": "sum"}, "collected_out"),
        ({"out": "average"}, "collected_out"),
        ({"out": "max"}, "collected_out"),
        ({"out": "min"}, "collected_out"),
        ({"note": "append"}, "collected_note"),
    ],
)
def test_35_each_reducer_makes_the_output_of_its_name(reducer: Json, title: str):
    def declare(wanted: str) -> Change:
        return declares("runs", "outputs", p(wanted, ["number", "array", "string"]))

    made = mapped(reducers=reducer)
    assert refused(made, declare(title)) == []
    (found,) = refused(made, declare("collected_other"))
    assert found == ("OAS067", f"{RUNS}/outputs/0")


@pytest.mark.parametrize(
    ("wrong", "title"),
    [
        ({"out": "product"}, "out"),
        ({"out": 7}, "out"),
        ({"outt": "sum"}, "outt"),
        ({"note": "sum"}, "note"),
    ],
)
def test_35_a_wrong_reducer(wrong: Json, title: str):
    made = mapped(reducers={"out": "sum"})
    assert refused(made, lambda broken: at(broken, "runs").update(reducers=wrong)) == [
        ("OAS075", f"{RUNS}/reducers/{title}")
    ]


def test_35_a_reduced_output_keeps_its_type_and_an_appended_one_is_a_list():
    made = mapped(reducers={"out": "sum"})
    made[BLOCK]["main_end"]["outputs"] = [p("collected_out", "number")]
    made["outputs"] = [p("collected_out", "number")]

    def append(broken: Json) -> None:
        at(broken, "runs")["reducers"] = {"out": "append"}

    assert refused(made, append) == [("OAS064", "")]


def test_35_a_map_takes_a_list_or_one_value_for_all():
    made = mapped()

    def give(kind: Json) -> Change:
        def change(broken: Json) -> None:
            broken["inputs"] = [kind]
            at(broken, "main_start")["inputs"] = [kind]

        return change

    assert refused(made, give(p("iterated_n", "number"))) == []
    assert refused(made, give(p("iterated_n", "array", items={"type": "string"}))) == [
        ("OAS064", "")
    ]


def test_35_parallel_flows_do_not_share_an_output():
    first, second = inner("first", [X], [p("a")]), inner("second", [X], [p("b")])
    made = over("ParallelFlowNode", first, second, given=[X])

    def collide(broken: Json) -> None:
        at(broken, "runs")["subflows"][1] = inner("second", [X], [p("a")])

    assert refused(made, collide) == [("OAS076", f"{RUNS}/subflows")]


def test_35_parallel_flows_share_an_input_of_one_type():
    first, second = inner("first", [X], [p("a")]), inner("second", [X], [p("b")])
    made = over("ParallelFlowNode", first, second, given=[X])

    def differ(broken: Json) -> None:
        at(broken, "runs")["subflows"][1] = inner("second", [p("x", ["string", "null"])], [p("b")])

    assert refused(made, differ) == [("OAS076", f"{RUNS}/subflows")]


def test_35_every_output_of_a_caught_flow_has_a_default():
    def remove(broken: Json) -> None:
        at(broken, "runs")["subflow"] = inner("work", [X], [Y])

    (found,) = refused(caught(), remove)
    assert found[0] == "OAS077"
    assert found[1].startswith(f"{RUNS}/subflow/")


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_35_both_kinds_of_map_have_the_same_ports(kind: str):
    made = mapped()
    made[BLOCK]["runs"]["component_type"] = kind
    wrong = declares("runs", "inputs", p("n", "array", default=[]))
    assert refused(made, wrong) == [("OAS067", f"{RUNS}/inputs/0")]


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("LlmNode", "prompt_template"),
        ("LlmNode", "llm_config"),
        ("AgentNode", "agent"),
        ("MapNode", "subflow"),
        ("ParallelFlowNode", "subflows"),
        ("CatchExceptionNode", "subflow"),
    ],
)
def test_35_a_node_that_does_not_run_yet_has_its_fields_checked(kind: str, field: str):
    made = {
        "LlmNode": llm(),
        "AgentNode": agent(),
        "MapNode": mapped(),
        "ParallelFlowNode": parallel(),
        "CatchExceptionNode": caught(),
    }[kind]
    id_ = "ask" if kind in {"LlmNode", "AgentNode"} else "runs"
    found = refused(made, lambda broken: at(broken, id_).pop(field))
    assert found == [("OAS023", f"/{BLOCK}/{id_}")]
    at(made, id_)["max_worker"] = 3
    assert ("OAS024", f"/{BLOCK}/{id_}/max_worker") in [
        (each.code, each.pointer) for each in found_in(made)
    ]


def test_35_edges_at_nodes_that_do_not_run_yet_are_checked():
    made = llm()
    made["data_flow_connections"] = [
        data("main_start", "x", "ask", "x"),
        data("ask", "generated_text", "main_end", "text"),
    ]
    made[BLOCK]["main_end"]["outputs"] = [p("text")]
    made["outputs"] = [p("text")]

    def misspell(broken: Json) -> None:
        broken["data_flow_connections"][1]["source_output"] = "generated_txt"

    assert refused(made, misspell) == [("OAS061", "/data_flow_connections/1/source_output")]


def test_35_a_flow_inside_a_node_that_does_not_run_yet_is_checked():
    def misspell(broken: Json) -> None:
        at(broken, "runs")["subflow"]["outputs"].append(p("z"))

    assert refused(mapped(), misspell) == [("OAS066", f"{RUNS}/subflow/outputs/2")]


# ---------------------------------------------------------------------------- row 36


def deciding(branches: Any = None) -> Json:
    pick = node("BranchingNode", "pick", inputs=[p("x")], mapping={"a": "yes", "b": "no"})
    if branches is not None:
        pick["branches"] = branches
    made = flow(pick, inputs=[p("x")])
    made["control_flow_connections"][1:] = [
        control("pick", "main_end", branch) for branch in ("yes", "no", "default")
    ]
    return made


@pytest.mark.parametrize(
    "branches",
    [
        ["yes", "no"],
        ["yes", "no", "default", "maybe"],
        ["yes", "no", "otherwise"],
        ["yes", "yes", "no", "default"],
        [],
    ],
)
def test_36_declared_branches_are_those_that_follow(branches: list[str]):
    assert refused(deciding(), lambda broken: at(broken, "pick").update(branches=branches)) == [
        ("OAS051", f"/{BLOCK}/pick/branches")
    ]
    assert not errors(deciding(["default", "no", "yes"]))


@pytest.mark.parametrize("branches", [["next"], ["next", "caught"], ["caught_exception_branch"]])
def test_36_a_caught_flow_has_the_branches_of_the_flow_and_one_more(branches: list[str]):
    def declare(*names: str) -> Change:
        return lambda broken: at(broken, "runs").update(branches=list(names))

    assert refused(caught(), declare("caught_exception_branch", "next")) == []
    assert refused(caught(), declare(*branches)) == [("OAS051", f"{RUNS}/branches")]


def test_36_the_branch_of_a_caught_exception_leads_somewhere():
    assert refused(caught(), lambda broken: broken["control_flow_connections"].pop()) == [
        ("OAS045", RUNS)
    ]


@pytest.mark.parametrize("kind", ["LlmNode", "MapNode", "ParallelFlowNode"])
def test_36_other_nodes_have_the_branch_next_alone(kind: str):
    made = {"LlmNode": llm(), "MapNode": mapped(), "ParallelFlowNode": parallel()}[kind]
    id_ = "ask" if kind == "LlmNode" else "runs"
    assert refused(made, lambda broken: at(broken, id_).update(branches=["next"])) == []
    assert refused(made, lambda broken: at(broken, id_).update(branches=["next", "more"])) == [
        ("OAS051", f"/{BLOCK}/{id_}/branches")
    ]


def test_36_an_edge_leaves_by_a_branch_of_the_subflow():
    made = over("FlowNode", inner("work", [X], [Y]), given=[X])

    def leave(broken: Json) -> None:
        broken["control_flow_connections"].append(control("runs", "main_end", "late"))

    assert refused(made, leave) == [("OAS043", "/control_flow_connections/2/from_branch")]
