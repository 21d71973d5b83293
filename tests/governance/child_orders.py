"""A refund whose order is looked up by a compiled flow: its host, and the receiver of its call."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.governance.gateway.admission import HostWord
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.governance.run.current_call import current_call
from cinatra_sdk.outside.http_calls.call_headers import read_trace_headers
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from graphs.governed_run import flow as governed_run
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start
from tests.governance.packs import make_registry, put, read_pack
from tests.governance.refund import TENANT, lend_refund, request
from tests.governance.small_pack import make_small_pack

ORDERS = "agent:acme/orders@1.0.0"
TOTAL = port("total_inr", "number")


class Orders:
    """The receiver; it writes what it saw of each call into a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def call(self, call: PlatformCall) -> Any:
        caller = current_call()
        assert caller is not None
        run = caller.run
        seen = {
            "traceparent": read_trace_headers().get("traceparent", ""),
            "agent": run.agent.agent_urn,
            "chain": [one.id for one in run.agent.principal_chain or ()],
            "max_tool_calls": run.run_budget.max_tool_calls,
        }
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(seen) + "\n")
        return {"total_inr": 4200}

    def list_seen(self) -> list[dict[str, Any]]:
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]


def compile_orders(platform: Any, pack: Any = None, *, gated: bool = False, tenant: str) -> Any:
    """pack: the rules of the flow; None: it has none of its own."""
    asked = [gate("own")] if gated else []
    source = flow_of(
        start(port("order_id")), *asked,
        api("send", outputs=[TOTAL], data={"to": "{{order_id}}"}, inputs=[port("order_id")]), end(TOTAL),
        edges=[("start", "order_id", "send", "order_id"), ("send", "total_inr", "end", "total_inr")],
    )  # fmt: skip
    if pack is None:
        return compile_flow(source, platform=platform)

    def word_for(run: Any) -> HostWord:
        return HostWord(tenant=tenant, run_id=run["run_id"])

    governance = Governance(
        registry=MemoryRegistry([pack]), pack_refs=(pack.ref,), word_for=word_for
    )
    return compile_flow(source, platform=platform, governance=governance)


def lend_orders(ledger: Path, orders: Any, *, pack: Any = None) -> HostParts:
    """orders: the compiled flow.  pack: of the refund."""
    changed = put(pack or read_pack(), "tooling_layer/adapters/0/type", "agent")
    place = "tooling_layer/adapters/0/capability_metadata/lookup/binds_to"
    parts = lend_refund(ledger, registry=make_registry(put(changed, place, ORDERS)))
    lent: Any = parts.governance
    members = {name: getattr(lent, name) for name in lent.__dataclass_fields__}
    made = Governance(**{**members, "agents": {ORDERS: orders}})
    parts = parts.with_parts(governance=made, graphs=())
    return parts.with_parts(graphs=[governed_run.lent(parts)])


def start_and_die(dsn: str, folder: str, run_id: str) -> None:
    """The process dies when the inner call has its result, and the outer has none yet."""
    from cinatra_sdk.store.work.run_ledger import RunLedger

    finish = RunLedger.finish

    def finish_and_die(self: RunLedger, effect: Any, result: Any) -> None:
        finish(self, effect, result)
        if effect.kind == "http":
            os.kill(os.getpid(), signal.SIGKILL)

    RunLedger.finish = finish_and_die  # type: ignore[method-assign]  # in a process of its own
    orders = compile_orders(Orders(Path(folder) / "seen"), make_small_pack(), tenant=TENANT)
    parts = lend_orders(Path(folder) / "refunds", orders)
    with RunStore.open(dsn, host=parts) as store:
        store.start(parts.graphs[0], {"request": request()}, run_id=run_id, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
