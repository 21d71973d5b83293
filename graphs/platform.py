"""Which platform the graphs of this folder talk to.

In: the environment.  Out: `HttpPlatform` where `CINATRA_BASE_URL` is set, else a simulation.

    {}                                          -> SimulatedPlatform()
    {"CINATRA_BASE_URL": "http://host:3000"}    -> HttpPlatform("http://host:3000")
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from cinatra_sdk.platform import Platform, SimulatedPlatform, platform_from


def platform_of(
    env: Mapping[str, str], *, stubs: Mapping[str, JsonValue] | None = None
) -> Platform:
    """The platform that `env` names; `stubs` are for the simulation.

    Raises: `ValueError` when `CINATRA_BASE_URL` is no address.
    """
    if env.get("CINATRA_BASE_URL"):
        return platform_from({"kind": "http"}, env=env)
    return SimulatedPlatform(stubs)
