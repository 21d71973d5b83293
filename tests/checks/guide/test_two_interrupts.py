from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import only, script, told

CODE = "OAS193"
IMPORT = "from langgraph.types import interrupt\n"
GOOD = IMPORT + "def a(state):\n    return interrupt(1)\ndef b(state):\n    return interrupt(2)\n"
BAD = IMPORT + "def a(state):\n    interrupt(1)\n    return interrupt(2)\n"


def test_one_interrupt_per_function_and_no_more(tmp_path):
    assert told(script(tmp_path, GOOD), CODE) == []
    package = script(tmp_path, BAD)
    assert told(package, CODE) == [("scripts/work.py", 4, 12)]
    finding = only(package, CODE)
    assert finding.severity == "error"
    assert finding.message == "a calls interrupt a second time, the first is in line 3"


@pytest.mark.parametrize(
    "text",
    [
        "from langgraph.types import interrupt as ask\nasync def a(s):\n    ask(1)\n    ask(2)\n",
        "from langgraph import types\ndef a(s):\n    types.interrupt(1)\n    types.interrupt(2)\n",
        "import langgraph.types\ndef a(s):\n    langgraph.types.interrupt(1); langgraph.types.interrupt(2)\n",
        "import langgraph.types as t\ndef a(s):\n    return t.interrupt(t.interrupt(1))\n",
        IMPORT
        + "class A:\n    def a(self, s):\n        if s:\n            interrupt(1)\n        interrupt(2)\n",
        IMPORT + "a = lambda s: (interrupt(1), interrupt(2))\n",
        "from langgraph.types import *\ndef a(s):\n    interrupt(1)\n    interrupt(2)\n",
    ],
)
def test_every_way_of_calling_it_counts(tmp_path, text):
    assert len(told(script(tmp_path, text), CODE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        IMPORT + "def a(s):\n    def b():\n        interrupt(1)\n    interrupt(2)\n",
        "from signals import interrupt\ndef a(s):\n    interrupt(1)\n    interrupt(2)\n",
        "def interrupt(x): ...\ndef a(s):\n    interrupt(1)\n    interrupt(2)\n",
        IMPORT + "def a(s, thread):\n    thread.interrupt(1)\n    thread.interrupt(2)\n",
        IMPORT + "# interrupt(1)\ndef a(s):\n    'interrupt(1) interrupt(2)'\n    interrupt(3)\n",
    ],
)
def test_nested_functions_and_other_functions_of_that_name_are_fine(tmp_path, text):
    assert told(script(tmp_path, text), CODE) == []


def test_a_third_one_makes_no_second_finding(tmp_path):
    text = IMPORT + "def a(s):\n    interrupt(1)\n    interrupt(2)\n    interrupt(3)\n"
    assert told(script(tmp_path, text), CODE) == [("scripts/work.py", 4, 5)]


GATES = "from cinatra_sdk import build_hitl_gate\n"


@pytest.mark.parametrize(
    "text",
    [
        IMPORT + "def a(s):\n    while True:\n        interrupt(1)\n",
        IMPORT + "def a(s):\n    for d in s['drafts']:\n        interrupt(d)\n",
        IMPORT + "def a(s):\n    return [interrupt(d) for d in s['drafts']]\n",
        GATES + "def a(s):\n    one = build_hitl_gate(step_number=1)\n"
        "    two = build_hitl_gate(step_number=2)\n    one(s)\n    return two(s)\n",
        GATES + "one = build_hitl_gate(step_number=1)\ndef a(s):\n    one(s)\n    return one(s)\n",
        GATES + IMPORT + "one = build_hitl_gate(step_number=1)\n"
        "def a(s):\n    interrupt(1)\n    return one(s)\n",
        GATES + "def a(s):\n    for n in (1, 2):\n        build_hitl_gate(step_number=n)(s)\n",
    ],
)
def test_a_loop_and_gates_of_the_sdk_pause_a_second_time(tmp_path, text):
    assert len(told(script(tmp_path, text), CODE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        GATES + "def graph(b):\n    b.add_node('a', build_hitl_gate(step_number=1))\n"
        "    b.add_node('b', build_hitl_gate(step_number=2))\n",
        GATES + "def graph(b):\n    for n in (1, 2):\n"
        "        b.add_node(f'gate{n}', build_hitl_gate(step_number=n))\n",
        GATES + "one = build_hitl_gate(step_number=1)\ndef a(s):\n    return one(s)\n",
    ],
)
def test_gates_that_become_nodes_of_their_own_are_fine(tmp_path, text):
    assert told(script(tmp_path, text), CODE) == []
