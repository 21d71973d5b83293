"""The governed call that is running, for whatever it calls.

call = current_call()          in a tool of the loop
call.run                       on whose behalf; a child gets a part of it: `delegating.narrow`
call.trace.traceparent         for what the tool sends by itself
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from cinatra_sdk.governance.contracts.calls import ToolCallEnvelope
from cinatra_sdk.governance.contracts.invoke import TraceContext
from cinatra_sdk.governance.contracts.run_context import RunContext
from cinatra_sdk.governance.tracing import list_trace_headers
from cinatra_sdk.governance.usage import Allowance
from cinatra_sdk.platform.trace_headers import sending_trace


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentCall:
    run: RunContext
    """With the right to act for the user."""
    envelope: ToolCallEnvelope
    allowance: Allowance = field(repr=False)
    """What the run may spend, and has spent."""
    trace: TraceContext


_current: ContextVar[CurrentCall | None] = ContextVar("cinatra_governed_call", default=None)


def current_call() -> CurrentCall | None:
    """None outside of a call of the loop."""
    return _current.get()


@contextmanager
def during_call(call: CurrentCall) -> Iterator[None]:
    """Around the call itself; what it sends over HTTP carries its trace."""
    token = _current.set(call)
    try:
        with sending_trace(list_trace_headers(call.trace)):
            yield
    finally:
        _current.reset(token)
