"""A Command that holds nothing is refused by an error that says what to give."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.errors import InputInvalid
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start

EMPTY = [
    Command(),
    Command(update={}),
    Command(update=[]),
    Command(resume=None),
    Command(goto=[]),
    Command(goto=""),
    Command(graph="other"),
]
ASKING = flow_of(
    start(port("x", default="hi")), gate("ask", inputs=[port("x")]), end(port("y")),
    edges=[("start", "x", "ask", "x"), ("ask", "userResponse", "end", "y")],
)  # fmt: skip


class Thread:
    """One thread of the flow, as a client of the graph has it."""

    def __init__(self, *, fuse: bool, saver: InMemorySaver | None) -> None:
        flow = compile_flow(ASKING)
        self.graph = flow.graph(saver, fuse=fuse)
        self.config = flow.config(run_id="r")
        self.context = flow.context(run_id="r")
        self.begin = flow.input({})

    def send(self, given: Any) -> Any:
        return self.graph.invoke(given, self.config, context=self.context)

    async def asend(self, given: Any) -> Any:
        return await self.graph.ainvoke(given, self.config, context=self.context)


@pytest.mark.parametrize("fuse", [True, False], ids=["fused", "drawn"])
@pytest.mark.parametrize("empty", EMPTY, ids=str)
def test_an_empty_command_is_refused_and_changes_nothing(empty: Command[Any], fuse: bool) -> None:
    thread = Thread(fuse=fuse, saver=InMemorySaver())
    for begin in (False, True):
        if begin:
            thread.send(thread.begin)
        before = thread.graph.get_state(thread.config)
        with pytest.raises(InputInvalid, match=r"the Command is empty.*Command\(resume=…\)"):
            thread.send(empty)
        with pytest.raises(InputInvalid, match="the Command is empty"):
            asyncio.run(thread.asend(empty))
        assert thread.graph.get_state(thread.config) == before
    assert thread.send(Command(resume={"approved": True}))["status"] == "completed"


def test_an_empty_command_is_refused_without_a_checkpointer() -> None:
    with pytest.raises(InputInvalid, match="the Command is empty"):
        Thread(fuse=True, saver=None).send(Command(update={}))


@pytest.mark.parametrize(
    "given", [Command(resume={}), Command(update={"x": 1}), Command(goto="ask"), None]
)
def test_what_is_not_empty_goes_to_the_engine(given: Any) -> None:
    thread = Thread(fuse=True, saver=InMemorySaver())
    thread.send(thread.begin)
    assert len(thread.send(given)["__interrupt__"]) == 1
