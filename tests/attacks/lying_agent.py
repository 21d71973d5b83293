"""What a lying agent behind A2A says: its card, and its answers to a message and to looks at its task."""

from __future__ import annotations

import json
from typing import Any

from tests.attacks.lies import DIE, HANG, TOKEN, fault, result

Maker = Any


def make_card(lie: str, own: str) -> str:
    """The card, as text."""
    interface = {"url": own, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    card: dict[str, Any] = {
        "name": "a", "description": "b", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "supportedInterfaces": [interface],
    }  # fmt: skip
    match lie:
        case "card: another address":
            interface["url"] = "http://127.0.0.2:1/"
        case "card: another origin":
            interface["url"] = own.replace("127.0.0.1", "localhost")
        case "card: no interface":
            card["supportedInterfaces"] = []
        case "card: another protocol":
            interface["protocolBinding"] = "TELEPATHY"
        case "card: a later version" | "card: an older version" | "card: no version":
            versions = {"a later version": "2.0", "an older version": "0.2.5", "no version": ""}
            interface["protocolVersion"] = versions[lie.removeprefix("card: ")]
        case "card: a version of letters":
            interface["protocolVersion"] = "1.0\x1b[2J"
        case "card: a version to speak among others":
            later = {**interface, "url": f"{own}later/", "protocolVersion": "2.0"}
            card["supportedInterfaces"] = [later, interface]
        case "card: nan":
            card["version"] = float("nan")
        case "card: a list":
            return "[]"
        case "card: huge names":
            card["name"] = "x" * 300_000
        case "card: deep":
            return '{"a":' * 3000 + "1" + "}" * 3000
        case "card: rubbish in it":
            card["skills"] = [7]
        case "card: an address that is none":
            interface["url"] = "file:///etc/passwd"
    return json.dumps(card)


def task(
    state: str, *, id_: str = "t1", context: str = "c1", text: str = "Heard.", **more: Any
) -> Any:
    made = [{"artifactId": "a", "parts": [{"text": text}]}] if text else []
    found = {"id": id_, "contextId": context, "status": {"state": f"TASK_STATE_{state}"}}
    return {**found, "artifacts": made, **more}


def say(role: str = "ROLE_AGENT", **more: Any) -> Any:
    return {"message": {"messageId": "m", "role": role, "parts": [{"text": "Heard."}], **more}}


FIRST: dict[str, Maker] = {
    "right": lambda i, _m: result(i, {"task": task("COMPLETED")}),
    "a message": lambda i, _m: result(i, say()),
    "another id": lambda _i, _m: result("4711", {"task": task("COMPLETED")}),
    "an id in other letters": lambda i, _m: result(i.upper(), {"task": task("COMPLETED")}),
    "an id with a blank": lambda i, _m: result(f"{i} ", {"task": task("COMPLETED")}),
    "the id in a list": lambda i, _m: result([i], {"task": task("COMPLETED")}),
    "a task and a message": lambda i, _m: result(i, {"task": task("COMPLETED"), **say()}),
    "an answer and an error": lambda i, _m: json.dumps(
        {"jsonrpc": "2.0", "id": i, "result": {"task": task("COMPLETED")}, "error": {"code": 1, "message": "no"}}
    ),
    "7,000 parts": lambda i, _m: result(i, say(parts=[{"text": ""}] * 7000)),
    "half of a letter": lambda i, _m: result(i, say(parts=[{"text": "\ud800"}])),
    "a name twice": lambda i, _m: result(i, {"task": 1}).replace(
        '"task": 1', f'"task": {json.dumps(task("FAILED"))}, "task": {json.dumps(task("COMPLETED"))}'
    ),
    "no id": lambda _i, _m: '{"jsonrpc": "2.0", "result": {"task": {"id": "t1"}}}',
    "no task": lambda i, _m: result(i, {"task": task("COMPLETED", id_="")}),
    "done, and nothing": lambda i, _m: result(i, {"task": task("COMPLETED", text="")}),
    "nothing": lambda i, _m: result(i, {}),
    "null": lambda i, _m: result(i, None),
    "a list": lambda i, _m: result(i, []),
    "a text": lambda i, _m: result(i, "sent"),
    "dies": lambda _i, _m: DIE,
    "hangs": lambda _i, _m: HANG,
    "fails": lambda i, _m: fault(i, "no"),
    "an error that is none": lambda i, _m: json.dumps({"jsonrpc": "2.0", "id": i, "error": 7}),
    "an error of many values": lambda i, _m: fault(i, "no").replace(
        '"no"', '"no", "data": [' + "[]," * 9000 + "[]]"
    ),
    "words of a gateway": lambda _i, _m: '{"id": 999, "detail": "no such tenant"}',
    "nan": lambda i, _m: result(i, {"task": task("COMPLETED", metadata={"n": float("nan")})}),
    "a number out of bounds": lambda i, _m: result(i, {"task": task("COMPLETED")}).replace('"t1"', '"t1", "metadata": {"n": 1e400}'),
    "an echo": lambda i, m: result(i, {"message": {**m["params"]["message"]}}),
    "a person's words": lambda i, _m: result(i, say("ROLE_USER")),
    "an unknown state": lambda i, _m: result(i, {"task": {**task("COMPLETED"), "status": {"state": 99}}}),
    "failed": lambda i, _m: result(i, {"task": task("FAILED")}),
    "rejected": lambda i, _m: result(i, {"task": task("REJECTED")}),
    "wants a login": lambda i, _m: result(i, {"task": task("AUTH_REQUIRED")}),
    "escapes in its error": lambda i, _m: fault(i, "\x1b]0;owned\x07\x1b[2Jno\x9b31m"),
    "the token in its error": lambda i, _m: fault(i, f"no such key: {TOKEN}"),
    "the token in pieces": lambda i, _m: fault(i, "no such key: " + "\u200b".join(TOKEN)),
    "huge text": lambda i, _m: result(i, {"task": task("COMPLETED", text="x" * 300_000)}),
    "big": lambda i, _m: result(i, {"task": task("COMPLETED", text="x" * 150_000)}),
    "deep": lambda i, _m: result(i, {"task": 1}).replace(": 1}", ": " + '{"a":' * 3000 + "1" + "}" * 3001),
}  # fmt: skip
AT_WORK = lambda i: result(i, {"task": task("WORKING", text="")})  # noqa: E731 - as its neighbours are
LOOKS: dict[str, Maker] = {
    "slow": lambda i, n: result(i, task("COMPLETED") if n > 2 else task("WORKING", text="")),
    "another task": lambda i, _n: result(i, task("COMPLETED", id_="t2")),
    "another context": lambda i, _n: result(i, task("COMPLETED", context="c2")),
    "back to its beginning": lambda i, _n: result(i, task("SUBMITTED", text="")),
    "a look of another id": lambda _i, _n: result("4711", task("COMPLETED")),
    "works for ever": lambda i, _n: result(i, task("WORKING", text="")),
    "a message of another task": lambda i, _n: result(
        i, {**task("COMPLETED"), "status": {"state": "TASK_STATE_COMPLETED", "message": {
            "messageId": "m", "role": "ROLE_AGENT", "taskId": "t9", "parts": [{"text": "x"}]}}}),
    "hangs at a look": lambda _i, _n: HANG,
    "dies at a look": lambda _i, _n: DIE,
    "no task at a look": lambda i, _n: result(i, {}),
}  # fmt: skip


def repeat_as_agent(kind: str, id_: Any, sent: Any) -> str:
    """What was sent, given back in one of the ways in which an agent can say something."""
    told = json.dumps(sent)
    match kind:
        case "text":
            return result(id_, {"task": task("COMPLETED", text=told)})
        case "structured":
            return result(id_, say(parts=[{"data": {"said": sent}}]))
        case "failure":
            status = {
                "state": "TASK_STATE_FAILED",
                "message": say(parts=[{"text": told}])["message"],
            }
            return result(id_, {"task": {**task("FAILED"), "status": status}})
    return fault(id_, told)


def answer_agent(lie: str, message: dict[str, Any], looks: int) -> str:
    """What the agent says to a message, or to a look at its task."""
    id_ = message["id"]
    if message["method"] == "GetTask":
        found: str = LOOKS[lie](id_, looks)
        return found
    if lie in LOOKS or lie.endswith(" at a look"):
        return AT_WORK(id_)
    made: str = FIRST.get(lie, FIRST["right"])(id_, message)
    return made
