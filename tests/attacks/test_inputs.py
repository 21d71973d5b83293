"""Governed keys in answers are named and dropped; the ids of a run are its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import RunStore
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.flow.nodes import start_and_end as start_node
from cinatra_sdk.gates.gate import gates_of
from cinatra_sdk.governed import host_keys as governed_keys
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.attacks.nested import CONFIG
from tests.flows import api, end, flow_of, gate, port, start, tool

OBJECT: Any = {"type": "object", "properties": {"a": {"type": "integer"}}}


class Answers:
    """A platform that answers what it was given, without our simulation's own care."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def call(self, _call: PlatformCall) -> Any:
        return self.answer

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)

    def describe(self) -> dict[str, Any]:
        return {"kind": "answers"}


class Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def heard() -> Iterator[Heard]:
    handler, log = Heard(), logging.getLogger("oasflow.state")
    log.addHandler(handler)
    try:
        yield handler
    finally:
        log.removeHandler(handler)


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    if how["door"] == "identity":
        return identity(how, place)
    if how["door"] == "envelope":
        return envelope(how)
    with heard() as log:
        kept = KEPT[how["door"]](how, place)
    key = how["key"]
    if isinstance(kept, str):
        quoted = str(how["value"]) in kept
        return "quoted" if quoted else "AnswerInvalid" if f"'{key}'" in kept else kept
    if f'"{key}"' in json.dumps(kept):
        return "kept"
    named = any(line.startswith("R01_IGNORED") and f"'{key}'" in line for line in log.lines)
    return "named and dropped" if named else "dropped in silence"


def with_key(how: Any) -> Any:
    """An answer `{"data": …}` with the key somewhere in it."""
    planted = {how["key"]: how["value"]}
    if how["where"] == "top":
        return {"data": {"a": 1}, **planted}
    if how["where"] == "inside an output":
        return {"data": {"a": 1, **planted}}
    return {"data": {"a": 1, "list": [planted]}}


def from_platform(how: Any, _place: Place) -> Any:
    return ran(Answers(with_key(how)), how)


def from_stub(how: Any, _place: Place) -> Any:
    return ran(SimulatedPlatform({"ask": with_key(how)}), how)


def from_record(how: Any, place: Place) -> Any:
    record = place.folder / "record.jsonl"
    ran(SimulatedPlatform({"ask": with_key(how)}, record=str(record)), how)
    return json.loads(record.read_text())["answer"]


def ran(platform: Any, how: Any) -> Any:
    """The state that a flow with one call comes to."""
    outputs = [{"title": "data", **OBJECT}]
    if how["where"] == "top" and how["key"] == "status":
        outputs.append(port("status"))
    flow = compile_flow(flow_of(start(), api("ask", outputs=outputs), end()), platform=platform)
    graph = flow.graph(InMemorySaver())
    graph.invoke({"inputs": {}}, CONFIG)
    return graph.get_state(CONFIG).values["node.ask"]["out"]


def from_tool(how: Any, _place: Place) -> Any:
    outputs = [{"title": "data", **OBJECT}, port("more", default="")]
    described = flow_of(start(), tool("ask", "lookup", [], outputs), end())
    flow = compile_flow(
        described, platform=SimulatedPlatform(), tools={"lookup": lambda: with_key(how)}
    )
    graph = flow.graph(InMemorySaver())
    graph.invoke({"inputs": {}}, CONFIG)
    return graph.get_state(CONFIG).values["node.ask"]["out"]


def from_gate(how: Any, _place: Place) -> Any:
    answer = with_key(how)
    value = answer if how["where"] == "top" else answer["data"]
    graph, waiting = asked()
    try:
        graph.invoke(Command(resume={waiting.id: {"approved": True, "value": value}}), CONFIG)
    except AnswerInvalid as error:
        return str(error)
    return graph.get_state(CONFIG).values["node.review"]["out"]


def asked() -> Any:
    output = {"title": "userResponse", "type": "object"}
    flow = compile_flow(
        flow_of(start(), gate("review", output=output), end()), platform=SimulatedPlatform()
    )
    graph = flow.graph(InMemorySaver())
    graph.invoke({"inputs": {}}, CONFIG)
    (waiting,) = graph.get_state(CONFIG).interrupts
    return graph, waiting


def envelope(how: Any) -> str:
    _graph, waiting = asked()
    (shown,) = gates_of([waiting])
    try:
        shown.read({"approved": True, how["key"]: how["value"]})
    except AnswerInvalid as error:
        return "AnswerInvalid" if how["key"] in str(error) else f"unnamed: {error}"
    return "taken"


KEPT: Any = {
    "a platform's answer": from_platform,
    "a stub": from_stub,
    "a record": from_record,
    "a tool's result": from_tool,
    "a gate's answer": from_gate,
}


def identity(how: Any, place: Place) -> str:
    name = how["name"]
    described = flow_of(
        start(port(name, default=""), hidden=[name]),
        api("ask", inputs=[port(name)], data={"run": "{{ " + name + " }}"}),
        end(),
        edges=[("start", name, "ask", name)],
    )
    platform = SimulatedPlatform()
    flow = compile_flow(described, platform=platform)
    if how["by"] == "store":
        with RunStore.open(place.database) as store:
            run = store.start(flow, {name: "FORGED"}, "t1")
            forged = "FORGED" in str(store.get("t1").input) + str(run.input)
    else:
        forged = False
        with_saver = how["by"] != "no saver"
        graph = flow.graph(InMemorySaver() if with_saver else None)
        config = CONFIG if with_saver else {}
        if how["by"] == "update":
            graph.update_state(config, {"inputs": {name: "FORGED"}}, as_node="__start__")
        first = {"inputs": {} if how["by"] == "second" else {name: "FORGED"}}
        graph.invoke(first, config)
        if how["by"] == "second":
            graph.invoke({"inputs": {name: "FORGED"}}, config)
    own = "" if how["by"] == "no saver" else "t1"
    right = [call.body for call in platform.calls] == [{"run": own}]
    return "the run's own" if right and not forged else f"forged: {platform.calls}"


@contextmanager
def no_names(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(governed_keys, "GOVERNED_KEYS", frozenset())
        yield


@contextmanager
def callers_word(place: Place) -> Iterator[None]:
    """The StartNode takes the ids that a caller sent."""
    with place.monkeypatch.context() as patch:
        patch.setattr(start_node, "RUN_ID_INPUTS", ())
        yield


CONTROLS = {
    "no key is governed": Control(
        open=no_names, row="a_platform's_answer-approval_policy,_inside_an_output"
    ),
    "no key is governed at a gate": Control(
        open=no_names, row="a_gate's_answer-approval_policy,_inside_a_list"
    ),
    "a caller's id": Control(open=callers_word, row="cinatra_run_id-an_input_of_a_graph"),
}

test_attack, test_twin, test_control = tests_of("inputs", attempt, CONTROLS)
