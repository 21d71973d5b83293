"""The governed call that is running, for the tool that it calls.

call = current_call()          in a tool of the loop
call.run                       the run; `cinatra_sdk.governance.narrow` makes the run of a child from it
call.trace.traceparent         for requests that the tool itself sends
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Final
from urllib.parse import quote

from cinatra_sdk.governance.contracts.invocation import RunContext, ToolCallEnvelope, TraceContext
from cinatra_sdk.governance.run.budgets import Allowance
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_headers import sending_trace

# ----------------------------------------------------------------------------
# W3C Trace Context: every call that leaves a run has a span of its own in the run's trace.
#
#     `make_trace_context(run, "tool_118", pack="ctxpack.support@5.2.0")`
#         ->  traceparent "00-4bf92f35…-b9c7c989f97918e1-01", tracestate, baggage
#
# The span of a call is derived from its id, so that an attempt after a crash is the same call, and a
# replay computes the same.


_KEPT: Final = re.compile(r"[^\x20-\x2b\x2d-\x3c\x3e-\x7e]")
"""Letters that a value in `tracestate` may not have."""


def derive_trace_id(*parts: str) -> str:
    """A trace id for a run that came without one."""
    return _derive(parts, 32)


def derive_span_id(*parts: str) -> str:
    return _derive(parts, 16)


def _derive(parts: tuple[str, ...], digits: int) -> str:
    found = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:digits]
    return found if found.strip("0") else "1".rjust(digits, "0")


def make_trace_context(
    run: RunContext, call_id: str, *, pack: str, decision: str = "", flags: str = "01"
) -> TraceContext:
    """The headers of one call."""
    span = derive_span_id(run.trace_id, run.run_id, call_id)
    said = {"session_id": run.session_id, "decision_id": decision, "run_id": run.run_id}
    return TraceContext(
        traceparent=f"00-{run.trace_id}-{span}-{flags}",
        tracestate=f"tenant={_clean(run.tenant_id)},ctxpack={_clean(pack)}",
        baggage=",".join(f"{key}={quote(one, safe='._-~')}" for key, one in said.items() if one),
    )


def list_trace_headers(trace: TraceContext) -> dict[str, str]:
    """The context of a call as headers of its request."""
    return {name: one for name, one in trace.to_json().items() if one}


def _clean(value: str) -> str:
    return _KEPT.sub("_", value)[:256]


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
