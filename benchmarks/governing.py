"""What governance costs per call: the same chain of calls under a pack and without one.

In: how many calls, how many rules.  Out: one row for each place where the run is kept.

    measure(20, dsn, rules=10, repeat=9)
        ->  [{"where": "memory", "calls": 20, "rules": 10, "plain_ms": …, "governed_ms": …, "per_call_ms": …}, …]

The two runs take turns, so that both see the same machine.  `per_call_ms` is the difference of their
medians per call; of a stored run it holds what the record costs, too, which comes once per run.
"""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Callable
from typing import Any

from benchmarks.acting import acting_document, platform_of
from benchmarks.figures import timed
from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.governance.contracts.packs import ContextPack
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow

CALL = "POST {{CINATRA_BASE_URL}}/api/work"


def measure(calls: int, dsn: str | None, *, rules: int, repeat: int) -> list[dict[str, Any]]:
    """dsn: of a Postgres for stored runs; None: in memory alone."""
    governance = Governance.of(make_pack(calls, rules))
    platform = platform_of(calls, 100)
    plain = compile_flow(acting_document(calls), platform=platform)
    governed = compile_flow(acting_document(calls), platform=platform, governance=governance)
    rows = [_row("memory", calls, rules, repeat, lambda flow: lambda: drive(flow, INPUT, platform=platform), plain, governed)]  # fmt: skip
    if dsn is None:
        return rows
    with RunStore.open(dsn, host=HostParts(governance=governance)) as store:

        def stored(flow: Any) -> Callable[[], Any]:
            return lambda: store.start(flow, INPUT, run_id=uuid.uuid4().hex)

        rows.append(_row("postgres", calls, rules, repeat, stored, plain, governed))
    return rows


INPUT = {"topic": "bees"}


def _row(
    where: str,
    calls: int,
    rules: int,
    repeat: int,
    make: Callable[[Any], Callable[[], Any]],
    plain: Any,
    governed: Any,
) -> dict[str, Any]:
    works = {"plain": make(plain), "governed": make(governed)}
    for work in works.values():
        done = work()
        assert done.status == "completed", done.error
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeat):
        for name, work in works.items():
            seconds[name].append(timed(work))
    medians = {name: statistics.median(taken) * 1e3 for name, taken in seconds.items()}
    more = medians["governed"] - medians["plain"]
    return {
        "where": where,
        "calls": calls,
        "rules": rules,
        "plain_ms": round(medians["plain"], 2),
        "governed_ms": round(medians["governed"], 2),
        "ratio": round(medians["governed"] / medians["plain"], 2),
        "per_call_ms": round(more / calls, 3),
    }


def make_pack(calls: int, rules: int) -> ContextPack:
    """A pack that lets the chain through, with rules that are all asked."""
    asked = [
        {"rule_id": f"R{n}", "if": {"==": [{"var": "args.ask"}, f"never {n}"]}, "then": {"allow": False}}
        for n in range(rules)
    ]  # fmt: skip
    budget = {
        "total_tokens": 100_000, "max_tool_calls": calls, "max_replan_attempts": 0,
        "wall_clock_ms": 10_000_000, "max_cost_cents": 1.0,
        "bucket_tokens": dict.fromkeys(("policy", "tool", "evidence", "memory", "business", "session"), 10_000),
    }  # fmt: skip
    return ContextPack.read(
        {
            "contract_meta": {
                "contract_name": "contextos.pack", "contract_version": "2.0.0",
                "issuer": "benchmark", "created_at": "2026-01-01T00:00:00Z",
            },
            "pack_meta": {
                "pack_id": "ctxpack.benchmark", "pack_version": "1.0.0", "tenant": "*",
                "environment_defaults": {"safety_mode": "network", "run_budget": budget},
            },
            "intelligence_refs": {},
            "business_context": {},
            "policy_layer": {
                "bundles": [
                    {"bundle_id": "B", "policy_dsl": {"language": "jsonlogic", "rules": asked}}
                ],
                "permissions": [
                    {"permission_id": "P", "adapter_id": "a", "capability": "*", "allow": True}
                ],
            },
            "tooling_layer": {
                "adapters": [
                    {
                        "adapter_id": "a", "type": "http", "capabilities": ["work"],
                        "approval_mode": "network",
                        "capability_metadata": {"work": {"binds_to": CALL}},
                    }
                ]
            },
            "decision_layer": {},
            "memory_layer": {},
            "evaluation_layer": {},
            "tone_and_comms": {},
        },
        code="PACK_INVALID",
    )  # fmt: skip
