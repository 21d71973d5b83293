"""The local platform: answers a flow's platform calls from this process, or serves them over HTTP.

    runs.py        whose a run is, and which slots its package declares  (the host's knowledge)
    proof.py       who may ask: bridge token, run token, signed node     (pure)
    bodies.py      the bodies that the routes take, read strictly        (pure)
    routes.py      `context-resolve` and `context-finalize`
    app.py         `local_app`, plain ASGI around the routes
    platform.py    `LocalPlatform`: calls the app in process, sends the rest on
    primitive.py   `context_resolve`, for whoever holds an agent's document

A flow meets the same requests either way: `LocalPlatform` makes the request that `HttpPlatform`
would send, and reads the answer as `HttpPlatform` would.

    LocalPlatform(artifacts, registry, runs, beyond=SimulatedPlatform())
    uvicorn.run(local_app(artifacts, registry, runs, bridge_token=…))

Source: Cinatra's contracts, sections 5 and 6.
"""

from __future__ import annotations

from cinatra_sdk.platform.local.app import local_app
from cinatra_sdk.platform.local.platform import LocalPlatform
from cinatra_sdk.platform.local.primitive import context_resolve
from cinatra_sdk.platform.local.runs import FixedRuns, RunDirectory, RunScope

__all__ = ["LocalPlatform", "local_app", "context_resolve", "RunDirectory", "RunScope", "FixedRuns"]
