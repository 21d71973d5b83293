"""What governance costs: the same chain of calls under a pack and without one.

In: how many calls, how many rules.  Out: one row for each place where the run is kept.

    measure(20, dsn, rules=10, repeat=9)
        ->  [{"where": "memory", "calls": 20, "rules": 10, "plain_ms": …, "governed_ms": …, "ratio": …,
              "per_run_ms": …, "per_call_ms": …, "per_call_cpu_ms": …}, …]

All runs take turns, so that they see the same machine.  `per_run_ms` is the difference of a chain of one
call: admission, compiling and, where the run is stored, its two records.  `per_call_ms` is what each
further call adds, with its part in the ledger and in the last record.  `per_call_cpu_ms` is the same in
processor time of this process: without the time in which Postgres writes the longer rows.
"""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.acting import acting_document, platform_of
from benchmarks.figures import timed_and_busy
from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow

CALL = "POST {{CINATRA_BASE_URL}}/api/work"
INPUT = {"topic": "bees"}
Work = Callable[[], Any]


def measure(calls: int, dsn: str | None, *, rules: int, repeat: int) -> list[dict[str, Any]]:
    """dsn: of a Postgres for stored runs; None: in memory alone."""
    governance = Governance.of(make_pack(calls, rules))
    flows = {
        (number, governed): compile_flow(
            acting_document(number),
            platform=platform_of(number, 100),
            governance=governance if governed else None,
        )
        for number in (1, calls)
        for governed in (False, True)
    }
    about = {"calls": calls, "rules": rules}
    in_memory = {name: _make_driven(flow) for name, flow in flows.items()}
    rows = [{"where": "memory", **about, **_compare(in_memory, calls, repeat)}]
    if dsn is None:
        return rows
    with RunStore.open(dsn, host=HostParts(governance=governance)) as store:
        stored = {name: _make_stored(flow, store) for name, flow in flows.items()}
        rows.append({"where": "postgres", **about, **_compare(stored, calls, repeat)})
    return rows


def _make_driven(flow: Any) -> Work:
    return lambda: drive(flow, INPUT, platform=flow.platform)


def _make_stored(flow: Any, store: RunStore) -> Work:
    return lambda: store.start(flow, INPUT, run_id=uuid.uuid4().hex)


def _compare(works: Mapping[tuple[int, bool], Work], calls: int, repeat: int) -> dict[str, float]:
    for work in works.values():
        done = work()
        assert done.status == "completed", done.error
    seconds: dict[tuple[int, bool], list[float]] = {name: [] for name in works}
    busy: dict[tuple[int, bool], list[float]] = {name: [] for name in works}
    for _ in range(repeat):
        for name, work in works.items():
            passed, worked = timed_and_busy(work)
            seconds[name].append(passed)
            busy[name].append(worked)
    ms = {name: statistics.median(taken) * 1e3 for name, taken in seconds.items()}
    cpu = {name: statistics.median(taken) * 1e3 for name, taken in busy.items()}
    per_run, per_call = _split(ms, calls)
    return {
        "plain_ms": round(ms[calls, False], 2),
        "governed_ms": round(ms[calls, True], 2),
        "ratio": round(ms[calls, True] / ms[calls, False], 2),
        "per_run_ms": round(per_run, 2),
        "per_call_ms": round(per_call, 3),
        "per_call_cpu_ms": round(_split(cpu, calls)[1], 3),
    }


def _split(ms: Mapping[tuple[int, bool], float], calls: int) -> tuple[float, float]:
    """What the rules cost once, and what each further call costs."""
    per_run = ms[1, True] - ms[1, False]
    more = ms[calls, True] - ms[calls, False]
    return per_run, (more - per_run) / (calls - 1)


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
            "decision_layer": {"catalog": "none"},
            "memory_layer": {},
            "evaluation_layer": {},
            "tone_and_comms": {},
        },
        code="PACK_INVALID",
    )  # fmt: skip
