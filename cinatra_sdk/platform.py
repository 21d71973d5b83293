"""The platform: every HTTP call of a flow, sent or simulated, and routes of your own in its place.

    from cinatra_sdk.platform import RouteCall, RoutedPlatform

The rooms behind it: `outside/http_calls/`, `outside/routes.py`, `outside/remote_answers/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.http_calls.description import platform_from
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
    from cinatra_sdk.outside.http_calls.protocol import (
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
    from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
    from cinatra_sdk.outside.http_calls.simulation import RecordedCall, SimulatedPlatform, StubError
    from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
    from cinatra_sdk.outside.routes import Handler, RouteCall, RoutedPlatform, RouteError, RunOwner

_LATER: Final = {
    "Platform": "outside.http_calls.protocol",
    "PlatformCall": "outside.http_calls.protocol",
    "DeclaredOutput": "outside.http_calls.protocol",
    "KeepsArtifacts": "outside.http_calls.protocol",
    "Credentials": "outside.http_calls.protocol",
    "HttpPlatform": "outside.http_calls.http_platform",
    "SimulatedPlatform": "outside.http_calls.simulation",
    "WrappedPlatform": "outside.http_calls.protocol",
    "RecordedCall": "outside.http_calls.simulation",
    "platform_from": "outside.http_calls.description",
    "declared_outputs": "outside.http_calls.response_outputs",
    "BASE_URL_PLACEHOLDER": "outside.http_calls.protocol",
    "PlatformError": "outside.http_calls.protocol",
    "PlatformRefused": "outside.http_calls.protocol",
    "PlatformUnreachable": "outside.http_calls.protocol",
    "PlatformResponseError": "outside.http_calls.protocol",
    "PlatformOutputError": "outside.http_calls.protocol",
    "StubError": "outside.http_calls.simulation",
    "RoutedPlatform": "outside.routes",
    "RouteCall": "outside.routes",
    "RouteError": "outside.routes",
    "RunOwner": "outside.routes",
    "Handler": "outside.routes",
    "RemoteBounds": "outside.remote_answers.remote_bounds",
}

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
    "RoutedPlatform",
    "RouteCall",
    "RouteError",
    "RunOwner",
    "Handler",
    "RemoteBounds",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
