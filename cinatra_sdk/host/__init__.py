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

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

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

_LATER: Final = {
    "local_app": "host.asgi_app",
    "read_context_file": "host.context_file",
    "LocalPlatform": "host.local_platform",
    "context_resolve": "host.context_routes",
    "BearerIdentity": "host.proof",
    "FixedRuns": "host.run_directory",
    "ParentSelection": "host.run_directory",
    "RunDirectory": "host.run_directory",
    "RunScope": "host.run_directory",
    "LocalSettings": "host.host_settings",
    "standalone": "host.standalone_platform",
    "StoredRuns": "host.database_runs",
}

__all__ = [
    "local_app",
    "read_context_file",
    "LocalPlatform",
    "context_resolve",
    "BearerIdentity",
    "FixedRuns",
    "ParentSelection",
    "RunDirectory",
    "RunScope",
    "LocalSettings",
    "standalone",
    "StoredRuns",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
