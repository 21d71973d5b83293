"""The seam to the outside: every HTTP call of a flow goes through one `Platform`.

    protocol.py     what a node asks (`PlatformCall`), and how a call fails
    request.py      a call -> the request that is sent            (pure)
    origin.py       which addresses may be called                 (pure, but for the look-up)
    http.py         `HttpPlatform`: the loop of sending and waiting
    exchange.py     one request on the wire, one answer read within bounds
    response.py     an answer -> a value, a wait or an error      (pure)
    opaque.py       how little is kept of answers that might hand credentials on   (pure)
    outputs.py      an answer -> the node's declared outputs      (pure)
    simulated.py    `SimulatedPlatform`, the shipped double       with stubs.py

`HttpPlatform` is imported on first use, so that a simulation starts without an HTTP library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from cinatra_sdk.platform.outputs import declared_outputs
from cinatra_sdk.platform.protocol import (
    BASE_URL_PLACEHOLDER,
    SECRET_NAMES,
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

if TYPE_CHECKING:
    from cinatra_sdk.platform.http import HttpPlatform

__all__ = [
    "Platform",
    "PlatformCall",
    "DeclaredOutput",
    "KeepsArtifacts",
    "Credentials",
    "HttpPlatform",
    "SimulatedPlatform",
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

_HTTP_KEYS = frozenset({"base_url", "allow", "timeout", "retries", "retry_posts", "opaque"})
_SIMULATED_KEYS = frozenset({"stubs", "record", "fallback"})


def __getattr__(name: str) -> Any:
    if name == "HttpPlatform":
        from cinatra_sdk.platform.http import HttpPlatform

        return HttpPlatform
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def platform_from(description: Mapping[str, Any], *, env: Mapping[str, str]) -> Platform:
    """The platform that `describe()` described, with its secrets from `env`.

    `CINATRA_BRIDGE_TOKEN` and `CINATRA_CONTEXT_ATTEST_KEY` are the secrets;
    `CINATRA_BASE_URL` stands in where the description names no `base_url`, and says where the
    secrets may go: a description is data, and must not choose who gets them.

    Raises: `ValueError` naming what is wrong with the description.
    """
    settings: dict[str, Any] = {key: value for key, value in description.items() if key != "kind"}
    kind = description.get("kind")
    if kind == "simulated":
        _only(settings, _SIMULATED_KEYS, kind)
        return SimulatedPlatform(
            settings.get("stubs"),
            record=settings.get("record"),
            fallback=settings.get("fallback"),
        )
    if kind == "local":
        raise ValueError(
            'a platform of kind "local" needs the database that it answers from: a run store makes '
            "again one that cinatra_sdk.platform.local.standalone made; open the store with "
            "platform=… for one of your own"
        )
    if kind != "http":
        raise ValueError(
            f'a platform is of kind "http" or "simulated", not {kind!r}: '
            "open the store with platform=… for one of your own"
        )
    needs = settings.pop("needs", [])
    _only(settings, _HTTP_KEYS, kind)
    base_url = settings.pop("base_url", "") or env.get("CINATRA_BASE_URL", "")
    if not base_url:
        raise ValueError(
            "an http platform needs a base_url, or CINATRA_BASE_URL in the environment"
        )
    lacking = [name for name in needs if not env.get(name)]
    if lacking:
        raise ValueError(
            f"the platform {base_url} was used with {', '.join(lacking)}, which this process lacks: "
            "set it in the environment, or open the store with platform=…"
        )
    own = env.get("CINATRA_BASE_URL", "")
    if any(env.get(name) for name in SECRET_NAMES) and own.rstrip("/") != str(base_url).rstrip("/"):
        raise ValueError(
            f"the platform is {base_url}, but this process holds credentials for "
            f"{own or 'no named platform'}: set CINATRA_BASE_URL to it, or unset {SECRET_NAMES[0]}"
        )
    from cinatra_sdk.platform.http import HttpPlatform

    return HttpPlatform(
        base_url,
        bridge_token=env.get("CINATRA_BRIDGE_TOKEN"),
        attestation_key=env.get("CINATRA_CONTEXT_ATTEST_KEY"),
        **settings,
    )


def _only(settings: Mapping[str, JsonValue], known: frozenset[str], kind: str) -> None:
    unknown = sorted(set(settings) - known)
    if unknown:
        raise ValueError(
            f'a platform of kind "{kind}" has no setting "{unknown[0]}"; '
            f"known are {', '.join(sorted(known))}"
        )
