"""The local platform: answers a flow's platform calls from this process, or serves them over HTTP.

    runs.py        whose a run is, and which slots its package declares  (the host's knowledge)
    proof.py       who may ask: bridge or bearer, run token, signed node (pure)
    bodies.py      the bodies that the routes take, read strictly        (pure)
    routes.py      `context-resolve` and `context-finalize`
    app.py         `local_app`, plain ASGI around the routes
    listed.py      what the host lets others reach beyond them;  forwarding.py  how it is called
    platform.py    `LocalPlatform`: calls the app in process, sends the rest on
    primitive.py   `context_resolve`, for whoever holds an agent's document
    standalone.py  `standalone`, a local platform for the runs of a store, made again by any process
    stored_runs.py the runs of a store as a directory;  with declared.py, settings.py
    context_file.py  artifacts and actor from a file, for `oasflow run --context`

A flow meets the same requests either way: `LocalPlatform` makes the request that `HttpPlatform`
would send, and reads the answer as `HttpPlatform` would.

    LocalPlatform(artifacts, registry, runs, beyond=SimulatedPlatform())
    uvicorn.run(local_app(artifacts, registry, runs, bridge_token=…))

Source: Cinatra's contracts, sections 5 and 6.
"""

from __future__ import annotations

from cinatra_sdk.host.app import local_app
from cinatra_sdk.host.context_file import read_context_file
from cinatra_sdk.host.platform import LocalPlatform
from cinatra_sdk.host.primitive import context_resolve
from cinatra_sdk.host.proof import BearerIdentity
from cinatra_sdk.host.runs import FixedRuns, ParentSelection, RunDirectory, RunScope
from cinatra_sdk.host.settings import LocalSettings
from cinatra_sdk.host.standalone import standalone
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
