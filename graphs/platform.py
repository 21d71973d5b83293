"""Which platform the graphs of this folder talk to, and whether they act in forks.

In: the environment.  Out: `HttpPlatform` where `CINATRA_BASE_URL` is set, else a simulation.

    {}                                          -> SimulatedPlatform()
    {"CINATRA_BASE_URL": "http://host:3000"}    -> HttpPlatform("http://host:3000")
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from cinatra_sdk import InputInvalid, Platform, SimulatedPlatform
from cinatra_sdk.blocks import Effects
from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.platform import platform_from


def platform_of(
    env: Mapping[str, str], *, stubs: Mapping[str, JsonValue] | None = None
) -> Platform:
    """The platform that `env` names; `stubs` are for the simulation.

    Raises: `ValueError` when `CINATRA_BASE_URL` is no address.
    """
    if env.get(BASE_URL):
        return platform_from({"kind": "http"}, env=env)
    return SimulatedPlatform(stubs)


def effects_of(env: Mapping[str, str]) -> Effects:
    """Whether nodes act in forks of a thread (`OASFLOW_EFFECTS=forks`): the server's operator
    decides.

    Raises: `InputInvalid`.
    """
    chosen = env.get("OASFLOW_EFFECTS") or "line"
    if chosen == "forks":
        return "forks"
    if chosen == "line":
        return "line"
    raise InputInvalid(f'OASFLOW_EFFECTS is "line" or "forks", not {chosen[:40]!r}')
