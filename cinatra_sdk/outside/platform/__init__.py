"""The platform: every HTTP call of a flow goes through one `Platform`.

protocol.py          `PlatformCall` and `Platform`; the errors of calls; wrappers of platforms
http_platform.py     `HttpPlatform`: sends, waits, tries again
wire_request.py      a call -> the request that is sent (pure)
http_exchange.py     one request on the wire, and one response within bounds
wire_response.py     a response -> a value, a wait or an error (pure)
response_outputs.py  a value -> the node's declared outputs (pure)
call_addresses.py    the addresses that may be called (pure, but for the look-up)
call_headers.py      the headers that an author may set, and those that a host adds for one origin
opaque_responses.py  responses of which no text is stored (pure)
description.py       a stored description -> the rebuilt platform
simulation.py        `SimulatedPlatform` and its stubs
model_usage.py       tokens that a platform used of a model, for the caller

Each name is imported on first use: a simulation starts without an HTTP library, and reading stored
runs needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.platform.http_platform import HttpPlatform
    from cinatra_sdk.outside.platform.protocol import (
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
        WrappedPlatform,
    )
    from cinatra_sdk.outside.platform.response_outputs import declared_outputs
    from cinatra_sdk.outside.platform.simulation import RecordedCall, SimulatedPlatform, StubError

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
    "Platform": "outside.platform.protocol",
    "PlatformCall": "outside.platform.protocol",
    "DeclaredOutput": "outside.platform.protocol",
    "KeepsArtifacts": "outside.platform.protocol",
    "Credentials": "outside.platform.protocol",
    "HttpPlatform": "outside.platform.http_platform",
    "SimulatedPlatform": "outside.platform.simulation",
    "WrappedPlatform": "outside.platform.protocol",
    "RecordedCall": "outside.platform.simulation",
    "declared_outputs": "outside.platform.response_outputs",
    "BASE_URL_PLACEHOLDER": "outside.platform.protocol",
    "PlatformError": "outside.platform.protocol",
    "PlatformRefused": "outside.platform.protocol",
    "PlatformUnreachable": "outside.platform.protocol",
    "PlatformResponseError": "outside.platform.protocol",
    "PlatformOutputError": "outside.platform.protocol",
    "StubError": "outside.platform.simulation",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)


def platform_from(
    description: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    record: str | None = None,
    allow: Sequence[str] = (),
) -> Platform:
    """The platform that `describe()` described, as far as this process allows; see `description.py`.

    env:    the settings of this process.  `CINATRA_BASE_URL` is the only address that gets its
            secrets (`CINATRA_BRIDGE_TOKEN`, `CINATRA_CONTEXT_ATTEST_KEY`) and the tokens of a run;
            it is also the `base_url` of a description that names none.  `OASFLOW_ALLOW` limits
            the other addresses.  `OASFLOW_OPAQUE` names the origins of whose responses no text is kept.
    record: the file to which this process appends simulated calls.
    allow:  further addresses that this process opens to the platform.

    Raises: `ValueError`, which says what is wrong with the description, or what this process lacks.
    """
    from cinatra_sdk.outside.platform.description import OwnSettings, remake

    return remake(description, OwnSettings.of(env, record=record, opened=allow))
