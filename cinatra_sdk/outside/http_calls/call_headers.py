"""Headers that a host sets on calls to one origin: the credentials of a service beside the platform.

In: the host's `HttpPlatform(headers_for=…)`, and one call.  Out: the headers to add.

    HttpPlatform(url, allow=["https://crm.example.com"],
                 headers_for={"https://crm.example.com": {"Authorization": "Bearer …"}})
    HttpPlatform(url, allow=["https://crm.example.com"],
                 headers_for={"https://crm.example.com": lambda call: tokens.header_for(call.run_id)})

A key is written as in `allow`; if several keys cover a call, the key with the longest path counts.
Values stay in the host's process: no description, row or record holds them, and they are cut out of
responses like the run's own secrets.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from types import MappingProxyType
from typing import Final, TypeAlias

from cinatra_sdk.data.text.header_names import folded, is_reserved
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import (
    AllowEntry,
    RefusalError,
    Target,
    parse_entry,
    shown,
)
from cinatra_sdk.outside.http_calls.protocol import PlatformCall

Headers: TypeAlias = Mapping[str, str]
HeadersFor: TypeAlias = "Mapping[str, Headers | Callable[[PlatformCall], Headers]]"
"""Origin → its headers, or a function that is called once for each call."""

HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_TEXT: Final = re.compile(r"[\x20-\x7e]*")
_RUNTIMES: Final = frozenset({"idempotency-key", "accept-encoding", "content-type"})
"""Headers that the runtime itself sets on each request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostHeaders:
    """The host's headers for one origin."""

    entry: AllowEntry
    given: Headers | Callable[[PlatformCall], Headers] = field(repr=False)


def read_headers_for(
    given: HeadersFor, *, base: AllowEntry | None, allow: Sequence[AllowEntry]
) -> tuple[HostHeaders, ...]:
    """The entries, the longest path first.

    Raises: `ValueError` for what is no mapping by origin, for an origin that calls may not reach, and
    for a header that a host may not set.
    """
    _require_origins(given)
    found: list[HostHeaders] = []
    for text, headers in given.items():
        entry = parse_entry("headers_for", text)
        place = Target(origin=entry.origin, segments=entry.prefix)
        if not any(one.covers(place) for one in (base, *allow) if one is not None):
            raise ValueError(
                f"headers_for {shown(text)!r}: no call may go there; add it to `allow` as well"
            )
        if not callable(headers):
            problem = _find_header_flaw(headers, own=base is not None and base.covers(place))
            if problem:
                raise ValueError(f"headers_for {shown(text)!r}: {problem}")
        found.append(
            HostHeaders(entry=entry, given=headers if callable(headers) else dict(headers))
        )
    return tuple(sorted(found, key=lambda one: len(one.entry.prefix), reverse=True))


def _require_origins(given: object) -> None:
    """Raises: `ValueError`."""
    if not isinstance(given, Mapping):
        what = "a function" if callable(given) else f"a {type(given).__name__}"
        raise ValueError(  # noqa: TRY004 - as every other fault of `headers_for`
            f"headers_for is {what}, and has to name the origins that get the headers: "
            'headers_for={"https://crm.example.com": headers or function of the call}'
        )
    for text, headers in given.items():
        if not isinstance(text, str):
            what = type(text).__name__
            raise ValueError(  # noqa: TRY004 - as above
                f"headers_for: an origin is a text, and not a {what}"
            )
        if inspect.iscoroutinefunction(headers):
            raise ValueError(
                f"headers_for {shown(text)!r}: the function is async; give a plain function, which is "
                "called in a thread where the call is made with await"
            )


def host_headers(
    known: Sequence[HostHeaders], target: Target, call: PlatformCall, *, own: bool
) -> dict[str, str]:
    """The host's headers of one call, by lower-case name; `own` at the platform's own origin.

    Raises: `RefusalError`, which names the origin, where the host's function fails or returns
    headers that cannot be sent, and where a value of the run chose the origin.
    """
    chosen = next((one for one in known if one.entry.covers(target)), None)
    if chosen is None or not call.with_own_token:
        return {}
    if call.origin_by_value and not call.origin_by_placeholder:
        raise RefusalError(
            "its host comes from a value, and the host's headers go only where the flow's own words "
            f"lead; write {target.origin} in the url"
        )
    headers = _call_header_function(chosen.given, call) if callable(chosen.given) else chosen.given
    problem = _find_header_flaw(headers, own=own)
    if problem:
        raise RefusalError(f"the host's headers for {target.origin} cannot be sent: {problem}")
    return {name.lower(): value for name, value in headers.items()}


def _call_header_function(ask: Callable[[PlatformCall], Headers], call: PlatformCall) -> Headers:
    try:
        return ask(call)
    except Exception as error:  # noqa: BLE001 - the host's own code; its words may hold a secret
        kind = type(error).__name__
    raise RefusalError(f"the host's function for its headers raised {kind}")


def _find_header_flaw(headers: object, *, own: bool) -> str:
    """Why these headers cannot be sent; names the headers but never their values."""
    if not isinstance(headers, Mapping):
        return "they are no mapping from names to values"
    for name, value in headers.items():
        if not isinstance(name, str) or not HEADER_NAME.fullmatch(name):
            return "a name is no HTTP token"
        if not isinstance(value, str) or not HEADER_TEXT.fullmatch(value):
            return f'the value of "{name}" is something other than printable ASCII'
        if is_reserved(name) or folded(name) in _RUNTIMES:
            return f'the runtime sets "{name}" itself'
        if own and folded(name) == "authorization":
            return f'the platform\'s own "{name}" is the bearer_token of flow.context(…)'
    if len({name.lower() for name in headers}) < len(headers):
        return "a name is given twice"
    return ""


# ----------------------------------------------------------------------------
# Headers with the trace of a call (W3C Trace Context), for its receiver.
#
#     with sending_trace({"traceparent": "00-4bf92f35…-b9c7c989f97918e1-01"}):
#         `platform.call(call)`
#
# A context variable, because the span of a call is known where its rules are checked, and not where its
# request is built.  A header of the author with one of these names stays.


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
