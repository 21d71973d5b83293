"""Whoever started a run, as the host says it: a store by the run's row, a plain graph by its context.

name_starter({"run_id": "r1", "tenant": "acme"})     ->  the same with `started_by`

In: the identity of a run.  Out: the identity with the name, where the host gives one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import get_runtime

from cinatra_sdk.engine.runtime_context import HostContext, context_of


def name_starter(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """A context that a client made names nobody: `context_of` knows the host's."""
    if run.get("started_by"):
        return run
    try:
        runtime = get_runtime(HostContext)
    except (RuntimeError, KeyError):
        return run  # outside of a node: whoever asks has the name, or there is none
    said = context_of(None if runtime is None else runtime.context).started_by
    return {**run, "started_by": said} if said else run
