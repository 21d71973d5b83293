"""The flow of a stored run: what the store needs of it, and how it is made again.

The store knows nothing of OAS files.  Whoever can compile one registers a loader under the entry
point group `oasflow.flow_loader`; the compiler of this project does.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from langchain_core.runnables import RunnableConfig
from pydantic import JsonValue

from cinatra_sdk.errors import FlowChanged, StoreError
from cinatra_sdk.platform.protocol import Platform
from cinatra_sdk.runs import Graph

GROUP: Final = "oasflow.flow_loader"


class DurableFlow(Protocol):
    """A flow that can be kept and made again; `oas_compiler.Flow` is one."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def source(self) -> bytes: ...
    @property
    def file(self) -> str: ...
    @property
    def lowering(self) -> int: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def platform_given(self) -> bool: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def approval_policy(self) -> dict[str, JsonValue]: ...
    def check_policy(self, policy: Any) -> None: ...
    def graph(self, checkpointer: Any = None) -> Graph: ...
    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]: ...
    def config(self, *, run_id: str) -> RunnableConfig: ...


def load_flow(
    source: bytes,
    *,
    digest: str,
    env: Mapping[str, str],
    platform: Platform | Mapping[str, Any],
    tools: Mapping[str, Callable[..., Any]],
) -> DurableFlow:
    """The flow in `source`.

    Raises: `StoreError` when no loader is installed; `FlowChanged` when this version of the
    compiler makes something else of the same bytes; the loader's own errors.
    """
    loaders = importlib.metadata.entry_points(group=GROUP)
    loader = next(iter(loaders), None)
    if loader is None:
        raise StoreError("nothing is installed that can load flows", hint="install oasflow")
    try:
        flow: DurableFlow = loader.load()(source, env=env, platform=platform, tools=tools)
    except ValueError as error:
        raise StoreError(f"the run's platform cannot be made again: {error}") from None
    if flow.digest != digest:
        raise FlowChanged(f"the stored flow has the digest {flow.digest[:12]}…, not {digest[:12]}…")
    return flow
