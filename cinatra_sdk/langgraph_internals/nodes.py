"""Nodes in two forms, tasks of a running node, and branches that run without a task.

`StateGraph.add_node` takes a function or a coroutine function, not both.  A node with only one of them
either blocks the event loop or pays for a thread at every step.  LangGraph wraps nodes in its own
`RunnableCallable`, which takes both, injects `config` and `runtime`, and lets Studio find a
subgraph inside.

A branch that runs without a task has a config of its own, with a scratchpad of its own: the engine counts
graphs and pauses in the scratchpad, and would mix up the counts of branches that share one scratchpad.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, NoReturn
from uuid import NAMESPACE_OID, uuid5

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._constants import (
    CONFIG_KEY_CALL,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_SCRATCHPAD,
)
from langgraph._internal._runnable import RunnableCallable
from langgraph._internal._scratchpad import PregelScratchpad
from langgraph.errors import GraphInterrupt
from langgraph.func import task

from cinatra_sdk.langgraph_internals.keys import NAMESPACE, NODE
from cinatra_sdk.light_imports.records import dataclass


def node_runnable(
    name: str, run: Callable[..., Any], arun: Callable[..., Awaitable[Any]] | None
) -> Runnable[Any, Any]:
    """A node from its synchronous and asynchronous form.

    `arun` None: the node only computes, and runs in the event loop itself.
    """
    if arun is None:

        async def arun(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

    # recurse=False: no node returns a Runnable to be run in its place.
    return RunnableCallable(run, arun, name=name, trace=False, recurse=False)


def begin_task(name: str, run: Callable[[], Any]) -> Any:
    """Begin a LangGraph task in the running node; a future of its result.

    `run` is a function, or a coroutine function in a node that runs on an event loop.
    """
    begin: Any = task(name=name)  # typed for functions, and takes coroutine functions too
    return begin(run)()


class NeedsATask(GraphInterrupt):
    """Only a task of the engine can do what code in a branch asks for: pause, or begin tasks.

    A pause, so that whatever it passes on its way out takes it for none of the code's failures.
    """


@dataclass(frozen=True, kw_only=True)
class _OwnScratchpad(PregelScratchpad):  # type: ignore[misc]  # it is frozen, by arguments that no type checker reads
    """What the engine keeps for a task, for a branch that is none: its graphs are counted apart."""

    kept_by: Any = None
    """Whoever keeps the results of the branches around; see `read_keeper`."""


def make_branch_config(config: RunnableConfig, name: str, keeper: Any) -> RunnableConfig:
    """The config of a branch that runs without a task, as that of a task would be.

    config: of the node.  Graphs that code in the branch runs have their own namespace, the same
    whenever the node runs again.  A pause and a task raise `NeedsATask`.
    """
    configurable = config["configurable"]
    namespace = read_namespace(config)
    around = namespace.rpartition("|")[0]
    outer = configurable.get(CONFIG_KEY_SCRATCHPAD)
    own = f"{name}:{uuid5(NAMESPACE_OID, f'{namespace}/{name}')}"
    placed = f"{around}|{own}" if around else own
    scratchpad = _OwnScratchpad(
        step=getattr(outer, "step", 0),
        stop=getattr(outer, "stop", 0),
        call_counter=_refuse,
        interrupt_counter=_refuse,
        get_null_resume=_find_no_answer,
        resume=[],
        subgraph_counter=count().__next__,
        kept_by=keeper,
    )
    about = {NODE: name, NAMESPACE: placed}
    return {
        **config,
        "metadata": {**config.get("metadata", {}), **about},
        "configurable": {
            **configurable,
            CONFIG_KEY_CHECKPOINT_NS: placed,
            CONFIG_KEY_SCRATCHPAD: scratchpad,
            CONFIG_KEY_CALL: _refuse,
        },
    }


def read_keeper(config: RunnableConfig) -> Any:
    """What `make_branch_config` was given as `keeper`; None where the engine runs this as its task."""
    scratchpad = (config.get("configurable") or {}).get(CONFIG_KEY_SCRATCHPAD)
    return scratchpad.kept_by if isinstance(scratchpad, _OwnScratchpad) else None


def read_namespace(config: RunnableConfig) -> str:
    """The engine's name of the running task, unique among those of all graphs that run in it."""
    return str((config.get("configurable") or {}).get(CONFIG_KEY_CHECKPOINT_NS, ""))


def is_traced(config: RunnableConfig) -> bool:
    """Whether callbacks are told of each node: LangSmith's, say, or those that stream messages."""
    callbacks = config.get("callbacks")
    return bool(getattr(callbacks, "handlers", callbacks))


def enter_config(config: RunnableConfig) -> None:
    """Make it what `get_config` gives from here on, in this context."""
    var_child_runnable_config.set(config)


def _refuse(*_given: Any, **_options: Any) -> NoReturn:
    raise NeedsATask


def _find_no_answer(_consume: bool = False) -> None:
    return None
