"""A flow file as a graph for LangGraph Studio: the factory that `langgraph.json` names.

In: the path of a flow file.  Out: its graph, without a checkpointer: the server supplies one.

    OASFLOW_FLOW=agents/email/cinatra/oas.json langgraph dev

    OASFLOW_FLOW    the flow file, or its package folder; default: `flows/hello_gate.json` here
    OASFLOW_FLOWS   a folder from which a client may choose: {"configurable": {"flow": "a/oas.json"}}
    CINATRA_BASE_URL  the platform that its calls go to; unset: a simulation
    OASFLOW_HOST    module:factory of what its flows are lent (tools, platform, variables), as at the
                    command line; its platform comes before CINATRA_BASE_URL
    OASFLOW_EFFECTS   "forks" lets forks of a thread make calls too; unset: only the thread's own line

A client of the server is not its host.  Without `OASFLOW_FLOWS` a client cannot name a file; with
it, a client can only name files inside that folder.  The server compiles a file once, so that a run
which waits at a gate continues with the flow it began with.  Restart the server to see a change of
the file.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from cinatra_sdk import HostContext, HostParts, HostRefused, InputInvalid
from cinatra_sdk.blocks import on_own_threads
from cinatra_sdk.data.text.author_files import Folder
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.host_parts.factory import HOST_VARIABLE, load_host
from cinatra_sdk.host_parts.host_parts import NO_PARTS
from graphs.platform import effects_of, platform_of
from oas_compiler import compile_flow
from oas_compiler.text.flow_files import flows_of
from oas_compiler.text.source import FLOW_FILES

_SHOWN: Final = 10
"""Number of flows that an error lists."""
__all__ = ["DEFAULT_FLOW", "flow_path", "graph_of", "make_graph"]

DEFAULT_FLOW: Final = Path(__file__).with_name("flows") / "hello_gate.json"


async def make_graph(config: RunnableConfig) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    """The graph of the flow that `config` or the environment names.

    Raises: `CompileError` with every finding, each as `file:line:column`; `InputInvalid` where
    the client may not choose this file.
    """
    chosen = (config.get("configurable") or {}).get("flow")
    # Reading and compiling would hold up the server's event loop.
    return await asyncio.to_thread(lambda: graph_of(flow_path(chosen, os.environ)))


@functools.lru_cache(maxsize=64)
def graph_of(
    path: Path, host: HostParts | None = None
) -> CompiledStateGraph[Any, HostContext, Any, Any]:
    """The graph of one flow file, compiled once per process.

    host: what the flow is lent; None: what the factory of `OASFLOW_HOST` returns, if it is set.

    Raises: `CompileError`; a file that failed is read again the next time; `HostRefused`.
    """
    flow = compile_flow(path, host=_lent_by_operator() if host is None else host)
    if not flow.platform_given:
        flow = flow.with_platform(platform_of(os.environ, stubs=flow.steering))
    graph = flow.graph(effects=effects_of(os.environ), fuse=False)
    return on_own_threads(graph, pin=flow.pin)


@functools.cache
def _lent_by_operator() -> HostParts:
    named = os.environ.get(HOST_VARIABLE, "")
    lent = load_host(named) if named else NO_PARTS
    unasked = [name for name in ("allow_effect", "spend", "ledger_for") if lent.gives(name)]
    if unasked:
        raise HostRefused(
            f"'{named}' gives {unasked[0]}, which nobody asks in a graph server",
            hint="its clients start runs without a context of the host; leave it out, or use RunStore",
        )
    return lent


def flow_path(chosen: object, env: Mapping[str, str]) -> Path:
    """The file to compile: the client's choice inside `OASFLOW_FLOWS`, else the host's.

    Raises: `InputInvalid`.
    """
    if chosen is None:
        return Path(env.get("OASFLOW_FLOW") or DEFAULT_FLOW)
    folder = env.get("OASFLOW_FLOWS", "")
    if not folder:
        raise InputInvalid(
            "this server does not let a client choose the flow",
            hint="set OASFLOW_FLOWS to the folder to choose from",
        )
    try:
        path = Folder(folder).real(chosen) if isinstance(chosen, str) else Path()
    except FileNotFoundError:
        raise InputInvalid(
            f"OASFLOW_FLOWS has no flow {str(chosen)[:200]!r}",
            hint=_describe_choices(folder, str(chosen)),
        ) from None
    except (OSError, ValueError):  # half of a surrogate pair: no file has such a name
        path = Path()
    # "" and "." name the folder itself, not a flow
    if path in {Path(), Path(os.path.realpath(folder))}:
        raise InputInvalid(
            f"the flow must be a path inside the folder OASFLOW_FLOWS, not {str(chosen)[:200]!r}",
            hint=_describe_choices(folder, str(chosen)),
        )
    return path


def _describe_choices(folder: str, chosen: str) -> str:
    """A hint: the flow with the most similar name, and the first flows of the folder."""
    root = Path(os.path.realpath(folder))
    names = sorted(
        {name for file in flows_of([str(root)]).files if (name := _name_flow(root, file))}
    )
    if not names:
        return "there is none"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{did_you_mean(chosen, names)} there are {', '.join(names[:_SHOWN])}{more}".strip()


def _name_flow(root: Path, file: str) -> str:
    """The name of a flow for clients: its agent's folder, or the file where the folder is
    ambiguous. Empty for a file outside `root`.
    """
    path = Path(file)
    if not path.is_relative_to(root):
        return ""
    name = path.relative_to(root).as_posix()
    kept = next((end for end in FLOW_FILES if name.endswith(f"/{end}")), "")
    return name.removesuffix(f"/{kept}") if kept else name
