"""Headers by which whoever is called finds the trace (W3C Trace Context) that a call belongs to.

    with sending_trace({"traceparent": "00-4bf92f35…-b9c7c989f97918e1-01"}):
        platform.call(call)

A context variable, because the span of a call is known where its rules are asked, and not where its
request was written.  What the author of a flow wrote under one of these names stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_headers: ContextVar[Mapping[str, str]] = ContextVar("cinatra_trace_headers", default=_NONE)


def read_trace_headers() -> Mapping[str, str]:
    """Those of the call that is being made; empty outside of one."""
    return _headers.get()


@contextmanager
def sending_trace(headers: Mapping[str, str]) -> Iterator[None]:
    """Around the call itself, in the thread or task that makes it."""
    token = _headers.set(headers)
    try:
        yield
    finally:
        _headers.reset(token)
