"""The platform: every HTTP call of a flow, sent or simulated, and routes of your own in its place.

    from cinatra_sdk.platform import RouteCall, RoutedPlatform

The rooms behind it: `outside/platform/`, `outside/routes.py`, `outside/remote/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.platform.description import platform_from
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
    from cinatra_sdk.outside.remote.remote_bounds import RemoteBounds
    from cinatra_sdk.outside.routes import Handler, RouteCall, RoutedPlatform, RouteError, RunOwner

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
    "platform_from": "outside.platform.description",
    "declared_outputs": "outside.platform.response_outputs",
    "BASE_URL_PLACEHOLDER": "outside.platform.protocol",
    "PlatformError": "outside.platform.protocol",
    "PlatformRefused": "outside.platform.protocol",
    "PlatformUnreachable": "outside.platform.protocol",
    "PlatformResponseError": "outside.platform.protocol",
    "PlatformOutputError": "outside.platform.protocol",
    "StubError": "outside.platform.simulation",
    "RoutedPlatform": "outside.routes",
    "RouteCall": "outside.routes",
    "RouteError": "outside.routes",
    "RunOwner": "outside.routes",
    "Handler": "outside.routes",
    "RemoteBounds": "outside.remote.remote_bounds",
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
