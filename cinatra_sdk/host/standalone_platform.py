"""A local platform for runs of one store; any process can rebuild it from its description.

    platform = standalone(database, settings, beyond=SimulatedPlatform())
    store.start(flow.with_platform(platform), …)       its description is kept with the run
    remade(row["platform"], database, env=os.environ)  the same platform, in another process

The description holds the owner, the project, the installed extensions and the description of the
platform beyond; never a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cinatra_sdk.host.database_runs import StoredRuns
from cinatra_sdk.host.host_settings import HANDS_ON, LocalSettings, is_standalone, read_settings
from cinatra_sdk.host.local_platform import LocalPlatform
from cinatra_sdk.host.model_routes import KIND, read_children, remade_models
from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.outside.http_calls.description import NO_SETTINGS, platform_from
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database

__all__ = ["is_standalone", "remade", "standalone"]


def standalone(
    database: Database,
    settings: LocalSettings,
    *,
    beyond: Platform | None,
    hands_on: Iterable[str] | None = None,
) -> LocalPlatform:
    """A platform for the runs of `database`, on behalf of the settings' actor.

    beyond:   the platform for calls that are not about context; None refuses them.  hands_on: the
    routes that are forwarded to `beyond`, as in `local_app`; None: all.
    """
    runs, actor = StoredRuns(database), settings.owner
    return LocalPlatform(
        ArtifactStore(database),
        settings.registry,
        runs,
        beyond=beyond,
        hands_on=hands_on,
        # Public flows send no token, and a gate may wait for days: the choice must be made from the
        # refs that the person was shown.
        holds_offers=True,
        seen_by=lambda run_id: runs.seen_by(run_id, actor),
        described=settings.written(),
    )


def remade(
    description: Mapping[str, Any],
    database: Database,
    *,
    env: Mapping[str, str],
    record: str | None = None,
    allow: Sequence[str] = (),
    host: HostParts | None = None,
) -> LocalPlatform:
    """The platform that `describe()` described; the entry point `local` of `oasflow.platform`.

    `env`, `record`, `allow` and `host` belong to this process, for the platform beyond: see
    `platform_from`, and `model_routes.py` for one with language models.

    Raises: `ValueError`, which says what is wrong with the description, also for a description that
    `standalone` did not make.
    """
    if not is_standalone(description):
        raise ValueError(NO_SETTINGS)
    settings = read_settings(description)
    other = description.get("beyond")
    beyond: Platform | None = None
    children: ChildAgents | None = None
    if isinstance(other, Mapping) and other.get("kind") == KIND:
        further = other.get("beyond")
        children = read_children(other, database, host)
        beyond = remade_models(
            other,
            database,
            settings.owner,
            host=host,
            children=children,
            beyond=None
            if further is None
            else platform_from(further, env=env, record=record, allow=allow),
        )
    elif other is not None:
        beyond = platform_from(other, env=env, record=record, allow=allow)
    platform = standalone(
        database, settings, beyond=beyond, hands_on=_read_route_entries(description)
    )
    if children is not None:
        children.work_on(platform)
    return platform


def _read_route_entries(description: Mapping[str, Any]) -> list[str] | None:
    listed = description.get(HANDS_ON)
    if listed is None:
        return None
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise ValueError(f"{HANDS_ON} is a list of entries such as POST /api/llm-bridge")
    return listed
