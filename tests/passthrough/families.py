"""Families of runs for tests: a parent calls an agent, which calls another, as deep as is asked for.

Family(store, platform, deep=3)      flows @x/1 → @x/2 → @x/3; the last one calls `work`, and ends
family.start("r1")         a run of the topmost flow
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool
from cinatra_sdk.outside.http_calls.protocol import PlatformCall, PlatformResponseError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.routes import RouteError, RunOwner
from cinatra_sdk.runs import Run
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start

CALLING = "agent_"


class FamilyPlatform(SimulatedPlatform):
    """Calls an agent for each node whose name begins with `agent_`; counts all other calls."""

    def __init__(self, fails: Counter[str] | None = None) -> None:
        super().__init__()
        self.tools: dict[str, NamedTool] = {}
        self.made: Counter[tuple[str, str]] = Counter()
        """(node, key of the call) → how often it was made."""
        self.fails = Counter[str]() if fails is None else fails
        """Node → how often it fails for good first."""
        self._counting = threading.Lock()

    def call(self, call: PlatformCall) -> Any:
        if call.node.startswith(CALLING):
            name = "@x/" + call.node.removeprefix(CALLING).partition("_")[0]
            owner = RunOwner(run_id=call.run_id, tenant="acme", person="ann")
            named = NamedCall(tool=name, input={}, owner=owner, key=call.idempotency_key)
            try:
                return asyncio.run(self.tools[name].call(named))
            except RouteError as refused:  # as an HTTP platform tells of it
                raise PlatformResponseError(
                    refused.message, node=call.node, status=refused.status, code=refused.code
                ) from None
        with self._counting:
            self.made[call.node, call.idempotency_key] += 1
            fails = self.fails[call.node] > 0
            self.fails[call.node] -= fails
        if fails:
            raise LookupError(f"{call.node} does not work")
        return super().call(call)


class Family:
    def __init__(
        self, store: RunStore, platform: FamilyPlatform, *, deep: int, asks: bool = False, wide: int = 1,
    ) -> None:  # fmt: skip
        """platform: of the store, too.  asks: the deepest run has a gate after its call.  wide: agents that each run calls in a row."""
        self.store = store
        self.platform = platform
        flows: dict[str, Any] = {}
        for level in range(deep, 0, -1):
            last = level == deep
            steps: list[Any] = [api(f"work_{level}", outputs=[port("done")])]
            if last and asks:
                steps.append(gate("review"))
            if not last:
                steps += [api(f"{CALLING}{level + 1}_{n}", outputs=[port("done")]) for n in range(wide)]  # fmt: skip
            document = flow_of(
                start(), *steps, end(port("done")), id_=f"flow-{level}",
                edges=[(f"work_{level}", "done", "end", "done")],
            )  # fmt: skip
            flows[f"@x/{level}"] = compile_flow(document, platform=self.platform)
        self.flow = flows["@x/1"]
        self.children = ChildAgents.keep(store.database, flows, HostParts())
        self.children.work_on(self.platform)
        self.platform.tools = {tool.name: tool for tool in self.children.tools()}

    def start(self, run_id: str) -> Run:
        return self.store.start(self.flow, {}, run_id, tenant="acme")

    def below(self, run_id: str) -> Run:
        """The one run that this run began."""
        (found,) = (run for run in self.store.list(tenant="acme") if run.parent == run_id)
        return found
