"""A client of a graph server, over HTTP: `langgraph dev` with the shipped `langgraph.json`.

The flows call a real server on loopback, so that what was sent is what arrived there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from langgraph_sdk import get_sync_client

from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start, tests_of
from tests.attacks.nested import around
from tests.flows import api, end, flow_of, gate, message, start
from tests.platform.loopback_server import LoopbackServer
from tests.studio_server import studio

SEND = api("send", risk="email_send")
FLOWS = {
    "nested": around(1),
    "deeper": around(2),
    "gated": flow_of(start(), gate("review"), SEND, end()),
    "message": flow_of(start(), message("review", "hello"), SEND, end()),
    "call": flow_of(start(), api("review"), SEND, end()),
}
BY_HAND = {name: f"tests.attacks.served:{name}" for name in ("by_hand", "around", "selects")}
REF: Any = {
    "artifactId": "a", "representationRevisionId": "r", "semanticAssertionId": "s", "displayName": "d",
}  # fmt: skip
SLOT: Any = {"slotId": "voice", "selectionMode": "interactive", "resolutionMode": "accumulate"}
ANSWER: Any = {
    "text": "the draft", "candidates": [REF], "selectedRefs": [], "slotMeta": {**SLOT, "maxItems": 2},
    "selectionMode": "interactive", "resolutionMode": "accumulate",
    "contextSlotBindings": [{"slotId": "voice", "refs": []}],
}  # fmt: skip
"""What the platform answers, whatever it is asked."""
CHOSEN: Any = {"slotId": "voice", "resolutionMode": "accumulate", "selectedRefs": []}
FIRST = {"topic": "x"}
CAMPAIGN = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}


@dataclass(frozen=True, slots=True)
class Server:
    client: Any
    http: httpx2.Client
    platform: LoopbackServer
    assistants: dict[str, str]
    """Flow → the assistant that has it chosen: the server then reads states with its graph too."""

    @property
    def sent(self) -> int:
        """Calls of a node `send`, of a flow or of a graph that was written by hand."""
        asked = self.platform.seen
        return sum(a.path == "/api/send" or b'"@t/send"' in a.body for a in asked)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    flows = tmp_path_factory.mktemp("flows")
    for name, flow in FLOWS.items():
        (flows / f"{name}.json").write_text(json.dumps(flow))
    (flows.parent / "outside.json").write_text(json.dumps(FLOWS["call"]))
    platform = LoopbackServer()
    platform.answers(ANSWER)
    given = {"OASFLOW_FLOWS": str(flows), "OASFLOW_FLOW": str(flows / "nested.json")}
    folder = tmp_path_factory.mktemp("studio")
    try:
        with (
            studio(folder, graphs=BY_HAND, CINATRA_BASE_URL=platform.url, **given) as url,
            get_sync_client(url=url, api_key=None) as client,
            httpx2.Client(base_url=url, trust_env=False, timeout=60) as http,
        ):
            yield Server(client, http, platform, assistants_of(client))
    finally:
        platform.close()


def assistants_of(client: Any) -> dict[str, str]:
    chosen = {name: {"configurable": {"flow": f"{name}.json"}} for name in FLOWS}
    made = {
        name: client.assistants.create("from_oas", config=config)["assistant_id"]
        for name, config in chosen.items()
    }
    return made | {name: name for name in BY_HAND}


class Thread:
    """One thread on the server, and what its client does."""

    def __init__(self, server: Server, flow: str) -> None:
        self.server = server
        self.flow = flow
        self.id = server.client.threads.create()["thread_id"]

    def run(self, given: Any = None, *, flow: str = "", graph: str = "", **more: Any) -> Any:
        """Run under the flow's assistant, or under its name where it has none."""
        name = flow or self.flow
        assistant = graph or self.server.assistants.get(name)
        if assistant is None:
            assistant, more = "from_oas", {"config": {"configurable": {"flow": f"{name}.json"}}}
        wait = self.server.client.runs.wait
        return wait(self.id, assistant, input=given, raise_error=False, **more)

    def state(self, **more: Any) -> Any:
        return self.server.client.threads.get_state(self.id, **more)

    def answer(self, approved: bool) -> Any:
        waiting = self.state()["interrupts"]
        if waiting:
            selects = "selector" in waiting[0]["value"]["values"]
            chosen = {"value": CHOSEN} if approved and selects else {}
            resume = {waiting[0]["id"]: {"approved": approved, **chosen}}
            return self.run(command={"resume": resume})
        return None

    def innermost(self) -> Any:
        """The checkpoint of the deepest graph that waits."""
        snapshot = self.state(subgraphs=True)
        while True:
            inner = [task["state"] for task in snapshot["tasks"] if task.get("state")]
            if not inner:
                return snapshot["checkpoint"]
            snapshot = inner[0]


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    server: Server = place.request.getfixturevalue("server")
    before = server.sent
    thread = Thread(server, how.get("flow", "nested"))
    result = thread.run(FIRST if thread.flow in BY_HAND else {"inputs": {}})
    if how.get("refused_at_start"):
        return said(result)
    require_start(said(result) == "no error", f"the run to attack: {said(result)}")
    came = ATTACKS[how["by"]](thread, how) if "by" in how else None
    if server.sent > before:
        return "sent"
    require_start(server.http.get("/ok").status_code == 200, "the server is gone")
    return said(came) if how.get("tells") else "nothing sent"


def said(result: Any) -> str:
    """The class of the error that a run ended with."""
    error = result.get("__error__") if isinstance(result, dict) else None
    return str(error["error"]) if error else "no error"


def _update(thread: Thread, how: Any) -> Any:
    body = {"values": how["values"], "checkpoint": thread.innermost()}
    if how.get("as_node"):
        body["as_node"] = how["as_node"]
    thread.server.http.post(f"/threads/{thread.id}/state", json=body)
    result = thread.run(None)
    for approved in how.get("then", []):
        result = thread.answer(approved)
    return result


def _command(thread: Thread, how: Any) -> Any:
    return thread.run(command=how["command"])


def _other_flow(thread: Thread, how: Any) -> Any:
    """The same thread under another flow."""
    graph = how.get("graph", "")
    if how["act"] == "resume":
        (waiting,) = thread.state()["interrupts"]
        # Rejected: only a node of the other flow, in the gate's place, would go on.
        command = {"resume": {waiting["id"]: {"approved": False}}}
        return thread.run(command=command, flow=how["other"], graph=graph)
    if how["act"] == "input":
        given: Any = CAMPAIGN if graph == "orchestrator_v1" else {"inputs": {}}
        return thread.run(given, flow=how["other"], graph=graph)
    return thread.run(None, flow=how["other"], graph=graph)


def _fork(thread: Thread, how: Any) -> Any:
    """Approved to the end, then once more from the checkpoint at the gate."""
    old = thread.state()["checkpoint"]
    thread.answer(how.get("first", True))
    if how["act"] == "copy":
        copied = thread.server.http.post(f"/threads/{thread.id}/copy").json()["thread_id"]
        thread.id = copied
        result = thread.run(None)
    elif how["act"] == "update":
        body = {"values": {"status": "running"}, "checkpoint": old, "as_node": "start"}
        thread.server.http.post(f"/threads/{thread.id}/state", json=body)
        result = thread.run(None)
    else:
        more: Any = {"checkpoint_id": old["checkpoint_id"]}
        if how["act"] == "context":
            more["context"] = {"effects": "forks", "mark": True}
        result = thread.run(None, **more)
    with suppress(Exception):
        result = thread.answer(True) or result
    return result


def _context(thread: Thread, how: Any) -> Any:
    if "context" in how:
        return thread.run({"inputs": {}}, context=how["context"])
    config = {"configurable": {"flow": "nested.json", **how["configurable"]}}
    return thread.run({"inputs": {}}, graph="from_oas", config=config)


def _steps(thread: Thread, how: Any) -> Any:
    """Requests in turn; `$gate`, `$inner` and the like stand for what the server said of the thread."""
    ids: dict[str, Any] = {"thread": thread.id, "assistant": thread.server.assistants[thread.flow]}
    for step in how["steps"]:
        if "answer" in step:
            thread.answer(step["answer"])
            continue
        for name, found in _found(thread).items():
            ids[name] = found
        (verb, path), *_ = [(k, v) for k, v in step.items() if k in ("post", "delete")]
        body = _filled(step["json"], ids) if "json" in step else None
        answered = thread.server.http.request(verb.upper(), _filled(path, ids), json=body)
        if step.get("takes"):  # the thread that the server made
            require_start(answered.status_code == 200, f"the thread to take: {answered.text}")
            ids["thread"] = thread.id = answered.json()["thread_id"]
    return None


def _found(thread: Thread) -> dict[str, Any]:
    state = thread.state()
    runs = thread.server.client.runs.list(thread.id)
    return {
        "gate": (state["interrupts"] or [{"id": "none"}])[0]["id"],
        "outer": state["checkpoint"],
        "inner": thread.innermost(),
        "last": max(runs, key=lambda run: run["created_at"])["run_id"] if runs else "",
        "first": thread.server.client.threads.get_history(thread.id)[-1]["checkpoint"],
    }


def _filled(value: Any, ids: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {_filled(key, ids): _filled(part, ids) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, ids) for part in value]
    if not isinstance(value, str):
        return value
    if value[:1] == "$" and value[1:] in ids:
        return ids[value[1:]]
    for name, found in ids.items():
        value = value.replace(f"${name}", found) if isinstance(found, str) else value
    return value


def _approve(thread: Thread, how: Any) -> Any:
    """Answer each gate in turn: a graph by hand may have two."""
    return [thread.answer(True) for _ in range(how.get("gates", 1))][-1]


ATTACKS: Any = {
    "update": _update,
    "command": _command,
    "other flow": _other_flow,
    "fork": _fork,
    "context": _context,
    "steps": _steps,
    "approve": _approve,
}


@contextmanager
def nobody_at_the_gate(place: Place) -> Iterator[None]:
    """The person approves: whoever watches the platform must see it."""
    with place.monkeypatch.context() as patch:
        patch.setitem(ATTACKS, "update", _approve)
        patch.setitem(ATTACKS, "other flow", _approve)
        patch.setitem(ATTACKS, "steps", _approve)
        yield


CONTROLS = {
    "a send is seen": Control(
        open=nobody_at_the_gate, row="update_state_in_the_subflow-outputs_as_end"
    ),
    "a send is seen, of a graph by hand": Control(
        open=nobody_at_the_gate, row="requests,_by_hand-what_the_parent_reads"
    ),
    "a send is seen, of another flow": Control(
        open=nobody_at_the_gate, row="another_flow_on_the_thread-call,_resume"
    ),
}

test_attack, test_twin, test_control = tests_of("server", attempt, CONTROLS)
