"""The protocol of a flow that can be driven, its simulated platform and its sampled inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from pydantic import JsonValue

from cinatra_sdk.advancing import Graph
from cinatra_sdk.contract import RUN_ID_INPUTS
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.flow.plan import FlowPlan
from cinatra_sdk.platform import (
    Platform,
    SimulatedPlatform,
)
from cinatra_sdk.values.schema_sample import sample


class DrivableFlow(Protocol):
    """The members of a flow that `drive` needs; `oas_compiler.Flow` implements this protocol."""

    @property
    def plan(self) -> FlowPlan: ...
    @property
    def tools(self) -> Mapping[str, Callable[..., Any]]: ...
    @property
    def input_schema(self) -> dict[str, JsonValue]: ...
    def with_host(
        self, *, platform: Platform, tools: Mapping[str, Callable[..., Any]]
    ) -> DrivableFlow: ...
    def graph(self, checkpointer: Any = None) -> Graph: ...
    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]: ...
    def config(self, *, run_id: str) -> RunnableConfig: ...
    def context(self, *, run_id: str = "") -> HostContext: ...
    @property
    def steering(self) -> dict[str, JsonValue]: ...


def simulation(
    flow: DrivableFlow,
    stubs: Mapping[str, JsonValue] | None = None,
    *,
    record: str | os.PathLike[str] | None = None,
) -> SimulatedPlatform:
    """A simulation of `flow` that answers every call, with answers that lead past gates where
    possible.

    A stub that matches a call, by path, id or url suffix, replaces the chosen answer of that call.
    """
    return SimulatedPlatform(stubs, record=record, fallback=flow.steering)


def sampled_inputs(flow: DrivableFlow) -> dict[str, JsonValue]:
    """Made-up values for inputs that have no default and that no gate asks a person for.

    The run's own id is never made up: only the host sets it.
    """
    schema: Any = flow.input_schema
    return {
        title: sample(part, name=title)
        for title, part in schema["properties"].items()
        if title not in RUN_ID_INPUTS
        and "default" not in part
        and (part.get("x-hidden") or title not in schema["required"])
    }
