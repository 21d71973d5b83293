"""The local platform: answers a flow's platform calls from this process, or serves them over HTTP.

    runs.py        owner of a run, and the slots of its package  (the host's knowledge)
    proof.py       checks the caller: bridge or bearer, run token, signed node (pure)
    web_pages.py   keeps web pages away where no proof is asked                   (pure)
    bodies.py      the request bodies of the routes, read strictly       (pure)
    routes.py      `context-resolve` and `context-finalize`
    app.py         `local_app`, plain ASGI around the routes
    listed.py      the further routes that a host forwards;  forwarding.py  forwards them
    platform.py    `LocalPlatform`: calls the app in process, forwards other calls
    primitive.py   `context_resolve`, from an agent's document, without a run
    files.py       the attached files of a run's tenant;  going.py  whether a run goes on: for the bridge
    standalone_platform.py  `standalone`, a local platform for a store's runs; any process can rebuild it
    stored_runs.py the runs of a store as a directory;  with settings.py
    modelled.py    the routes of a host with language models, from names;  served_runs.py  its runs
    openapi.py     what the routes take, as an OpenAPI document
    context_file.py  artifacts and actor from a file, for `oasflow run --context`

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
    from cinatra_sdk.host.app import local_app
    from cinatra_sdk.host.context_file import read_context_file
    from cinatra_sdk.host.platform import LocalPlatform
    from cinatra_sdk.host.primitive import context_resolve
    from cinatra_sdk.host.proof import BearerIdentity
    from cinatra_sdk.host.runs import FixedRuns, ParentSelection, RunDirectory, RunScope
    from cinatra_sdk.host.settings import LocalSettings
    from cinatra_sdk.host.standalone_platform import standalone
    from cinatra_sdk.host.stored_runs import StoredRuns

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
    "local_app": "app",
    "read_context_file": "context_file",
    "LocalPlatform": "platform",
    "context_resolve": "primitive",
    "BearerIdentity": "proof",
    "FixedRuns": "runs",
    "ParentSelection": "runs",
    "RunDirectory": "runs",
    "RunScope": "runs",
    "LocalSettings": "settings",
    "standalone": "standalone_platform",
    "StoredRuns": "stored_runs",
}


def __getattr__(name: str) -> Any:
    # On first use: the routes below are used by what stands on the store, and by what does not.
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.host.{_LATER[name]}"), name)
