from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, only, script, told

CODE = "OAS196"
IMPORTS = "from typing import TypedDict\nfrom langgraph.graph import StateGraph\n"
FIELDS = ("approval_policy: object", "bearer_token: str", "rejected_at: str", "status: str")
GRAPH = "graph = StateGraph(OrchestratorState)\n"


def state(*fields, name="OrchestratorState", base="TypedDict"):
    body = "".join(f"    {field}\n" for field in (*fields, "topic: str"))
    return f"class {name}({base}):\n{body}"


def test_the_four_fields_are_declared(tmp_path):
    assert told(script(tmp_path, IMPORTS + state(*FIELDS) + GRAPH), CODE) == []


@pytest.mark.parametrize("missing", FIELDS)
def test_each_missing_field_is_named_at_the_class(tmp_path, missing):
    fields = [field for field in FIELDS if field != missing]
    finding = only(script(tmp_path, IMPORTS + state(*fields) + GRAPH), CODE)
    assert (finding.severity, finding.line, finding.column) == ("error", 3, 1)
    name = missing.partition(":")[0]
    assert finding.message == f"the state OrchestratorState does not declare {name}"


def test_without_a_graph_a_typed_dict_is_only_a_dict(tmp_path):
    assert told(script(tmp_path, IMPORTS + state()), CODE) == []


def test_graph_and_state_may_be_in_two_files(tmp_path):
    files = {"state.py": IMPORTS + state(), "graph.py": IMPORTS + "from state import *\n" + GRAPH}
    assert told(agent(tmp_path, files=files), CODE) == [("state.py", 3, 1)]


def test_only_the_state_of_the_graph_counts_where_it_can_be_seen(tmp_path):
    other = state(name="InputState")
    assert told(script(tmp_path, IMPORTS + state(*FIELDS) + other + GRAPH), CODE) == []


def test_where_it_cannot_be_seen_every_typed_dict_named_state_counts(tmp_path):
    text = IMPORTS + state() + state(name="Topics") + "graph = StateGraph(schema)\n"
    assert told(script(tmp_path, text), CODE) == [("scripts/work.py", 3, 1)]


def test_fields_of_a_base_are_declared(tmp_path):
    base = state(*FIELDS, name="Base")
    text = IMPORTS + base + state(base="Base") + GRAPH
    assert told(script(tmp_path, text), CODE) == []
    poor = IMPORTS + state(name="Base") + state(base="Base") + GRAPH
    assert told(script(tmp_path / "b", poor), CODE) == [("scripts/work.py", 5, 1)]


@pytest.mark.parametrize("base", ["MessagesState", "BaseModel", "OrchestratorState"])
def test_what_a_foreign_base_declares_is_not_known(tmp_path, base):
    found = told(script(tmp_path, IMPORTS + state(base=base) + GRAPH), CODE)
    # a class that is its own base is nonsense, and ends all the same
    assert found == ([] if base != "OrchestratorState" else [("scripts/work.py", 3, 1)])


def test_the_written_out_form_counts(tmp_path):
    text = (
        IMPORTS
        + 'S = TypedDict("S", {"status": str, "bearer_token": str})\nStateGraph(state_schema=S)\n'
    )
    finding = only(script(tmp_path, text), CODE)
    assert finding.message.endswith("does not declare approval_policy, rejected_at")


@pytest.mark.parametrize("read", ['state["approved"]', 'state.get("approved")'])
def test_what_a_route_reads_is_declared(tmp_path, read):
    routing = f"def route(state):\n    return {read}\ngraph.add_conditional_edges('a', route)\n"
    package = script(tmp_path, IMPORTS + state(*FIELDS) + GRAPH + routing)
    assert only(package, CODE).message.endswith("does not declare approved")
    good = script(tmp_path, IMPORTS + state(*FIELDS, "approved: bool") + GRAPH + routing)
    assert told(good, CODE) == []


def test_what_another_function_reads_is_its_own_affair(tmp_path):
    other = 'def other(state):\n    return state["approved"]\n'
    assert told(script(tmp_path, IMPORTS + state(*FIELDS) + GRAPH + other), CODE) == []
