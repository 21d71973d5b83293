"""A graph reads what it needs from the disk when it is built: its nodes may run in an event loop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

COMPILED = """
from oas_compiler import compile_flow
flow = compile_flow("graphs/flows/hello_gate.json")
graph = flow.graph(InMemorySaver())
asked, config, context = {"inputs": {"guest": "Ada"}}, flow.config(run_id="r"), flow.context(run_id="r")
"""
BY_HAND = """
from cinatra_sdk import host_context
from graphs.orchestrator_v1 import build_graph
graph = build_graph(checkpointer=InMemorySaver())
asked = {"campaign_goal": "Spring", "audience": "all", "sender_email": "ann@example.org"}
config = {"configurable": {"thread_id": "r"}}
context = host_context(run_id="r")
"""
PROGRAM = """
import asyncio, sys
from langgraph.checkpoint.memory import InMemorySaver
{build}
read = []

def look(event, about):
    if event in ("open", "os.listdir", "os.scandir") and "schemas" in str(about[0]):
        read.append((event, about[0]))

sys.addaudithook(look)
asyncio.run(graph.ainvoke(asked, config, context=context))
assert graph.get_state(config).interrupts, "the control: the graph has come to a gate"
print(read)
"""


@pytest.mark.parametrize("build", [COMPILED, BY_HAND], ids=["compiled", "by hand"])
def test_no_node_reads_the_schema_of_schemas(build: str) -> None:
    program = PROGRAM.format(build=build)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
