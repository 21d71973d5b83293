"""Times whole runs in the environment of a peer: `python peer_runs.py adapter|wayflow WHERE [DSN]`.

In, a line of JSON each: {"flow": …, "inputs": …, "output": "ys", "limit": 3000}, which loads a file;
then "run" for each run.  Out, a line for each: {"ready": true} or {"refused": "KeyError"}; then
{"seconds": 0.1, "end": …} or {"failed": "ValueError"}.  Imports nothing of ours.

WHERE: none, memory or postgres; only the adapter keeps checkpoints.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def work(x: str) -> str:
    return f"about {x}"


def add(n: str) -> str:
    return n + "x"


TOOLS = {"work": work, "add": add}
Run = Callable[[str], Any]


def load_adapter(asked: dict[str, Any], saver: Any) -> Run:
    from pyagentspec.adapters.langgraph import AgentSpecLoader

    loader = AgentSpecLoader(tool_registry=TOOLS, checkpointer=saver)
    graph: Any = loader.load_json(json.dumps(asked["flow"]))
    how = {} if saver is None else {"durability": "sync"}

    def run(thread: str) -> Any:
        # A copy: the adapter takes the values out of what it is given.
        inputs = copy.deepcopy(asked["inputs"])
        config = {"recursion_limit": asked["limit"], "configurable": {"thread_id": thread}}
        given = {"inputs": inputs, "messages": []}
        return graph.invoke(given, config, **how)["outputs"][asked["output"]]

    return run


def load_wayflow(asked: dict[str, Any], _saver: Any) -> Run:
    from wayflowcore.agentspec import AgentSpecLoader

    flow: Any = AgentSpecLoader(tool_registry=TOOLS).load_json(json.dumps(asked["flow"]))

    def run(_thread: str) -> Any:
        status = flow.start_conversation(asked["inputs"]).execute()
        return status.output_values[asked["output"]]

    return run


@contextlib.contextmanager
def open_saver(where: str, dsn: str) -> Any:
    if where == "memory":
        from langgraph.checkpoint.memory import InMemorySaver

        yield InMemorySaver()
    elif where == "postgres":
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(dsn) as saver:
            saver.setup()
            yield saver
    else:
        yield None


def answer(name: str, saver: Any, run: Run, number: int) -> dict[str, Any]:
    thread = f"peer-{name}-{number}"
    try:
        start = time.perf_counter()
        end = run(thread)
        seconds = time.perf_counter() - start
    except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
        return {"failed": type(error).__name__}
    if saver is not None:
        saver.delete_thread(thread)
    return {"seconds": seconds, "end": end}


def main() -> None:
    name, where, dsn = [*sys.argv[1:], ""][:3]
    load = load_adapter if name == "adapter" else load_wayflow
    logging.disable(logging.CRITICAL)
    os.environ.setdefault("OPENAI_API_KEY", "none")
    out, sys.stdout = sys.stdout, sys.stderr  # what a peer prints is no answer
    run: Run | None = None
    with open_saver(where, dsn) as saver:
        for number, line in enumerate(sys.stdin):
            asked = json.loads(line)
            if asked == "run":
                assert run is not None
                said = answer(name, saver, run, number)
            else:
                try:
                    run, said = load(asked, saver), {"ready": True}
                except Exception as error:  # noqa: BLE001 - what a peer ends with is its result
                    said = {"refused": type(error).__name__}
            print(json.dumps(said), file=out, flush=True)


if __name__ == "__main__":
    main()
