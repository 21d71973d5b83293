"""Tells the host what a node of a graph that is written by hand does.

with telling_node(path="outer/review", visit=2) as data:      # node started
    data["decision"] = …
                                                              # node finished, paused or failed
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.errors import FlowError
from cinatra_sdk.events.event import RunEvent, Tell
from cinatra_sdk.events.telling import tell_event, tell_node
from cinatra_sdk.platform.protocol import PlatformError

LONGEST = 2000
"""Characters of an error's text that are told."""


@contextmanager
def telling_node(*, path: str, visit: int) -> Iterator[dict[str, Any]]:
    """Around one visit of a node; gives the data of its end, to be filled in."""
    data: dict[str, Any] = {}
    tell = find_listener()
    if tell is None:
        yield data
        return
    tell_node(tell, "started", path=path, visit=visit)
    try:
        yield data
    except GraphBubbleUp:
        tell_node(tell, "paused", path=path, visit=visit)
        raise
    except BaseException as error:
        tell_node(tell, "failed", path=path, visit=visit, data=_describe(error))
        raise
    tell_node(tell, "finished", path=path, visit=visit, data=data)


def tell_skip(decided: Mapping[str, Any], *, path: str) -> None:
    """Tell that the policy asked nobody: a store keeps that as a decision of the policy.

    decided: the record of the decision, with `gate`, `node`, `visit` and `step`.
    """
    tell = find_listener()
    if tell is None:
        return
    data = {key: decided[key] for key in ("gate", "node", "step")}
    event = RunEvent(
        kind="decision", name="auto_skipped", path=path, visit=decided["visit"], data=data
    )
    tell_event(tell, event)


def find_listener() -> Tell | None:
    """Who listens to the run in which this is called; None without a run or a listener."""
    try:
        runtime = get_runtime(HostContext)
    except (RuntimeError, KeyError):
        return None
    return context_of(runtime.context).tell


def _describe(error: BaseException) -> dict[str, JsonValue]:
    """An error as it may be told: its text only where that is made to be shown."""
    name = type(error).__name__
    if not isinstance(error, (FlowError, PlatformError)):
        return {"error": name, "code": ""}
    return {"error": str(error)[:LONGEST], "code": str(getattr(error, "code", ""))}
