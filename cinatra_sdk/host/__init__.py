"""The local platform: answers a flow's platform calls from this process, or serves them over HTTP.

asgi_app.py             `local_app`, plain ASGI around the routes; keeps web pages away where no
                        proof is asked (pure)
context_file.py         artifacts and actor from a file, for `oasflow run --context`
context_routes.py       `context-resolve` and `context-finalize`; the request bodies of the
                        routes, read strictly (pure); `context_resolve`, from an agent's document,
                        without a run
database_runs.py        the runs of a store as a directory; with; its runs
forward_routes.py       forwards them; the further routes that a host forwards
host_settings.py        the routes of a host with language models, from names
local_platform.py       `LocalPlatform`: calls the app in process, forwards other calls
model_routes.py         the routes of a host with language models, from names; whether a run goes
                        on: for the bridge; the attached files of a run's tenant
openapi.py              what the routes take, as an OpenAPI document
proof.py                checks the caller: bridge or bearer, run token, signed node (pure)
run_directory.py        owner of a run, and the slots of its package (the host's knowledge)
standalone_platform.py  `standalone`, a local platform for a store's runs; any process can rebuild
                        it
bridge/                 `POST /api/llm-bridge`: the route through which a flow of Cinatra asks a
                        language model
passthrough/            `POST /api/agents/passthrough`: the route through which a flow calls a
                        tool of the host by its name

A flow sees no difference: `LocalPlatform` makes the same requests as `HttpPlatform`, and reads
responses in the same way.

    LocalPlatform(artifacts, registry, runs, beyond=SimulatedPlatform())
    uvicorn.run(local_app(artifacts, registry, runs, bridge_token=…))

Source: the routes of Cinatra's platform; docs/context-slots.md describes them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.host.asgi_app import local_app
    from cinatra_sdk.host.context_file import read_context_file
    from cinatra_sdk.host.context_routes import context_resolve
    from cinatra_sdk.host.database_runs import StoredRuns
    from cinatra_sdk.host.host_settings import LocalSettings
    from cinatra_sdk.host.local_platform import LocalPlatform
    from cinatra_sdk.host.proof import BearerIdentity
    from cinatra_sdk.host.run_directory import FixedRuns, ParentSelection, RunDirectory, RunScope
    from cinatra_sdk.host.standalone_platform import standalone

__all__ = [
    "LocalPlatform",
    "local_app",
    "BearerIdentity",
    "context_resolve",
    "RunDirectory",
    "RunScope",
    "ParentSelection",
    "FixedRuns",
    "StoredRuns",
    "LocalSettings",
    "standalone",
    "read_context_file",
]

_LATER: Final = {
    "local_app": "asgi_app",
    "read_context_file": "context_file",
    "LocalPlatform": "local_platform",
    "context_resolve": "context_routes",
    "BearerIdentity": "proof",
    "FixedRuns": "run_directory",
    "ParentSelection": "run_directory",
    "RunDirectory": "run_directory",
    "RunScope": "run_directory",
    "LocalSettings": "host_settings",
    "standalone": "standalone_platform",
    "StoredRuns": "database_runs",
}


def __getattr__(name: str) -> Any:
    # On first use: the routes below are used by what stands on the store, and by what does not.
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.host.{_LATER[name]}"), name)
