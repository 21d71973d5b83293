"""The seam to the outside: every HTTP call of a flow goes through one `Platform`.

    protocol.py       a node's call (`PlatformCall`), and the errors of calls
    request.py        a call -> the request that is sent            (pure)
    origin.py         the addresses that may be called              (pure, but for the look-up)
    url_allow_list.py addresses that an author lets one node call   (pure)
    host_headers.py   headers that a host sets on calls to one origin
    trace_headers.py  the trace that a call belongs to, as headers
    http.py           `HttpPlatform`: the loop of sending and waiting
    exchange.py       one request on the wire, one response read within bounds
    response.py       a response -> a value, a wait or an error     (pure)
    opaque.py         limits what is kept of responses that may contain credentials    (pure)
    outputs.py        a response -> the node's declared outputs     (pure)
    used.py           what a platform used up of a model, told to whoever made the call
    unrecorded.py     keeps the HTTP client's records of calls out of a host's log
    simulated.py      `SimulatedPlatform`, the shipped double;  stubs.py  responses that you write
    wrapping.py       `WrappedPlatform`: the base of a platform around another one
    nowhere.py        a platform that refuses every call
    remaking.py       a stored description -> the rebuilt platform;  strangers.py  at a foreign address
    own_settings.py   the addresses and secrets that this process lends to platforms

Each name is imported on first use: a simulation starts without an HTTP library, and reading stored
runs needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.platform.http import HttpPlatform
    from cinatra_sdk.platform.outputs import declared_outputs
    from cinatra_sdk.platform.protocol import (
        BASE_URL_PLACEHOLDER,
        Credentials,
        DeclaredOutput,
        KeepsArtifacts,
        Platform,
        PlatformCall,
        PlatformError,
        PlatformOutputError,
        PlatformRefused,
        PlatformResponseError,
        PlatformUnreachable,
    )
    from cinatra_sdk.platform.simulated import RecordedCall, SimulatedPlatform
    from cinatra_sdk.platform.stubs import StubError
    from cinatra_sdk.platform.wrapping import WrappedPlatform

__all__ = [
    "Platform",
    "PlatformCall",
    "DeclaredOutput",
    "KeepsArtifacts",
    "Credentials",
    "HttpPlatform",
    "SimulatedPlatform",
    "WrappedPlatform",
    "RecordedCall",
    "platform_from",
    "declared_outputs",
    "BASE_URL_PLACEHOLDER",
    "PlatformError",
    "PlatformRefused",
    "PlatformUnreachable",
    "PlatformResponseError",
    "PlatformOutputError",
    "StubError",
]


_LATER: Final = {
    "HttpPlatform": "http",
    "declared_outputs": "outputs",
    "RecordedCall": "simulated",
    "SimulatedPlatform": "simulated",
    "StubError": "stubs",
    "WrappedPlatform": "wrapping",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _LATER.get(name, "protocol")
    return getattr(import_module(f"cinatra_sdk.platform.{module}"), name)


def platform_from(
    description: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    record: str | None = None,
    allow: Sequence[str] = (),
) -> Platform:
    """The platform that `describe()` described, as far as this process allows; see `remaking.py`.

    env:    the settings of this process.  `CINATRA_BASE_URL` is the only address that gets its
            secrets (`CINATRA_BRIDGE_TOKEN`, `CINATRA_CONTEXT_ATTEST_KEY`) and the tokens of a run;
            it is also the `base_url` of a description that names none.  `OASFLOW_ALLOW` limits
            the other addresses.  `OASFLOW_OPAQUE` names the origins of whose responses no text is kept.
    record: the file to which this process appends simulated calls.
    allow:  further addresses that this process opens to the platform.

    Raises: `ValueError`, which says what is wrong with the description, or what this process lacks.
    """
    from cinatra_sdk.platform.own_settings import OwnSettings
    from cinatra_sdk.platform.remaking import remake

    return remake(description, OwnSettings.of(env, record=record, opened=allow))
