"""The platform: every HTTP call of a flow, sent or simulated, and routes of your own in its place.

    from cinatra_sdk.platform import RouteCall, RoutedPlatform

The rooms behind it: `outside/platform/`, `outside/routes.py`, `outside/remote/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.platform import (
        BASE_URL_PLACEHOLDER,
        Credentials,
        DeclaredOutput,
        HttpPlatform,
        KeepsArtifacts,
        Platform,
        PlatformCall,
        PlatformError,
        PlatformOutputError,
        PlatformRefused,
        PlatformResponseError,
        PlatformUnreachable,
        RecordedCall,
        SimulatedPlatform,
        StubError,
        WrappedPlatform,
        declared_outputs,
        platform_from,
    )
    from cinatra_sdk.outside.remote import RemoteBounds
    from cinatra_sdk.outside.routes import Handler, RouteCall, RoutedPlatform, RouteError, RunOwner

_LATER: Final = {
    "Platform": "outside.platform",
    "PlatformCall": "outside.platform",
    "DeclaredOutput": "outside.platform",
    "KeepsArtifacts": "outside.platform",
    "Credentials": "outside.platform",
    "HttpPlatform": "outside.platform",
    "SimulatedPlatform": "outside.platform",
    "WrappedPlatform": "outside.platform",
    "RecordedCall": "outside.platform",
    "platform_from": "outside.platform",
    "declared_outputs": "outside.platform",
    "BASE_URL_PLACEHOLDER": "outside.platform",
    "PlatformError": "outside.platform",
    "PlatformRefused": "outside.platform",
    "PlatformUnreachable": "outside.platform",
    "PlatformResponseError": "outside.platform",
    "PlatformOutputError": "outside.platform",
    "StubError": "outside.platform",
    "RoutedPlatform": "outside.routes",
    "RouteCall": "outside.routes",
    "RouteError": "outside.routes",
    "RunOwner": "outside.routes",
    "Handler": "outside.routes",
    "RemoteBounds": "outside.remote",
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
