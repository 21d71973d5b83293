"""Runs one case in the environment of the peers: `python peers.py adapter|wayflow < case.json`.

In: {"flow": …, "inputs": …, "answers": […]}.  Out: {"status": "completed", "outputs": …}, or
"refused" where the file does not load, "failed" where the run ends with an error, "waits" where it
waits for more answers.  Imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import Any


def square(x: float) -> float:
    return x * x


def fail(x: float) -> float:
    raise ValueError(f"no {x}")


def count(n: int) -> int:
    return n + 1


def is_done(n: int) -> str:
    return "yes" if n >= 40 else "no"


def echo(text: str) -> str:
    return text


def is_true() -> bool:
    return True


def make_object() -> dict[str, Any]:
    return {"a": 1, "b": [True, None]}


TOOLS = {one.__name__: one for one in (square, fail, count, is_done, echo, is_true, make_object)}


def run_adapter(case: dict[str, Any]) -> dict[str, Any]:
    from langgraph.checkpoint.memory import MemorySaver
    from langgraph.types import Command
    from pyagentspec.adapters.langgraph import AgentSpecLoader

    try:
        loader = AgentSpecLoader(tool_registry=TOOLS, checkpointer=MemorySaver())
        graph = loader.load_json(json.dumps(case["flow"]))
    except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
        return {"status": "refused", "why": describe(error)}
    config = {"configurable": {"thread_id": "one"}}
    try:
        state = graph.invoke({"inputs": case["inputs"], "messages": []}, config)
        for answer in case["answers"]:
            if not state.get("__interrupt__"):
                break
            state = graph.invoke(Command(resume=answer), config)
        if state.get("__interrupt__"):
            return {"status": "waits"}
        return {"status": "completed", "outputs": plain(state.get("outputs"))}
    except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
        return {"status": "failed", "why": describe(error)}


def run_wayflow(case: dict[str, Any]) -> dict[str, Any]:
    from wayflowcore.agentspec import AgentSpecLoader
    from wayflowcore.executors.executionstatus import FinishedStatus, UserMessageRequestStatus

    try:
        flow: Any = AgentSpecLoader(tool_registry=TOOLS).load_json(json.dumps(case["flow"]))
    except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
        return {"status": "refused", "why": describe(error)}
    try:
        conversation = flow.start_conversation(case["inputs"])
        status = conversation.execute()
        for answer in case["answers"]:
            if not isinstance(status, UserMessageRequestStatus):
                break
            conversation.append_user_message(answer)
            status = conversation.execute()
        done = isinstance(status, FinishedStatus)
        outputs = plain(status.output_values) if done else None
    except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
        return {"status": "failed", "why": describe(error)}
    return {"status": "completed", "outputs": outputs} if done else {"status": "waits"}


def load(name: str, flow: dict[str, Any]) -> dict[str, Any]:
    """Whether the file loads."""
    try:
        if name == "adapter":
            from langgraph.checkpoint.memory import MemorySaver
            from pyagentspec.adapters.langgraph import AgentSpecLoader

            AgentSpecLoader(tool_registry=TOOLS, checkpointer=MemorySaver()).load_json(
                json.dumps(flow)
            )
        else:
            from wayflowcore.agentspec import AgentSpecLoader as WayflowLoader

            WayflowLoader(tool_registry=TOOLS).load_json(json.dumps(flow))
    except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
        return {"status": "refused", "why": describe(error)}
    return {"status": "loads"}


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda one: f"<{type(one).__name__}>"))


def describe(error: BaseException) -> str:
    return type(error).__name__


def main() -> None:
    name = sys.argv[1]
    run = run_adapter if name == "adapter" else run_wayflow
    # No network: what a client asks for while it loads is told at once.
    os.environ.setdefault("OPENAI_API_KEY", "none")
    cases = json.load(sys.stdin)
    found = []
    for case in cases:
        noise = io.StringIO()
        with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
            found.append(run(case) if "inputs" in case else load(name, case["flow"]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
