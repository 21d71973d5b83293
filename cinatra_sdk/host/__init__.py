"""The local platform: answers a flow's platform calls from this process, or serves them over HTTP.

local_platform.py       `LocalPlatform`: the local app for the calls of a flow; other calls go beyond
asgi_app.py             `local_app`, plain ASGI around the routes; keeps web pages away
context_routes.py       the routes `context-resolve` and `context-finalize`
model_routes.py         the routes of a host with language models: bridge, tools, models
forward_routes.py       requests that the app forwards to the platform beyond
openapi.py              the routes as an OpenAPI document
proof.py                the proofs of a caller: bridge token, bearer, run token, signature
run_directory.py        the host's knowledge of a run: owner, project, package, slots
database_runs.py        the same for the runs of a database
host_settings.py        the settings of a standalone host
context_file.py         a file of artifacts and their person, for `oasflow run --context`
standalone_platform.py  `standalone`: a local platform that any process can rebuild for a run
bridge/                 `POST /api/llm-bridge`: a flow asks a language model
passthrough/            `POST /api/agents/passthrough`: a flow calls a tool of the host by its name

A flow sees no difference: `LocalPlatform` makes the same requests as `HttpPlatform`, and reads
responses in the same way.

    LocalPlatform(artifacts, registry, runs, beyond=SimulatedPlatform())
    uvicorn.run(local_app(artifacts, registry, runs, bridge_token=…))

Source: the routes of Cinatra's platform; docs/context-slots.md describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

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
