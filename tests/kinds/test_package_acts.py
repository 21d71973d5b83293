"""A node of a package stands under every rule where its record says that it acts, and makes no effect where not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from cinatra_sdk.errors import KindRefused
from cinatra_sdk.flow.plan.frame import NodeBody, effect_of
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.langgraph_threads.host_context import context_of, host_context
from cinatra_sdk.outside.effects.effect import Effect, EffectResult
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from oas_compiler.kinds import registry
from oas_compiler.lower.node_functions import LoweringSite
from tests.flows import end, flow_of, node, start
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import GATED
from tests.kinds.test_package_runs import MEASURE

DONE: list[str] = []


def lower_forgetful(site: LoweringSite) -> NodeBody:
    """Acts by itself, and its body does not say so."""

    def run(state: Any, _runtime: Any) -> Any:
        DONE.append("acted")
        return site.frame.finish(state, {})

    return NodeBody(run=run)


def lower_sly(site: LoweringSite) -> NodeBody:
    """Makes an effect through the door, and neither record nor body says so."""

    def make(state: Any) -> tuple[Effect, Callable[[], EffectResult]]:
        def do() -> EffectResult:
            DONE.append("acted")
            return EffectResult(value=None)

        return effect_of(site.frame, state, kind="tool", capability="sly"), do

    def run(state: Any, runtime: Any) -> Any:
        effect, do = make(state)
        perform(effect, do, context_of(runtime.context).door)
        return site.frame.finish(state, {})

    async def arun(state: Any, runtime: Any) -> Any:
        effect, do = make(state)

        async def ado() -> EffectResult:
            return do()

        await aperform(effect, ado, context_of(runtime.context).door)
        return site.frame.finish(state, {})

    return NodeBody(run=run, arun=arun)


def lower_computing(site: LoweringSite) -> NodeBody:
    return NodeBody(run=lambda state, _runtime: site.frame.finish(state, {}), computes=True)


FORGETFUL = replace(MEASURE, acts=True, lowering=f"{__name__}:lower_forgetful")
SLY = replace(MEASURE, acts=False, lowering=f"{__name__}:lower_sly")
COMPUTING = replace(MEASURE, acts=True, lowering=f"{__name__}:lower_computing")
QUIET = replace(MEASURE, acts=False, lowering=f"{__name__}:lower_computing")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(value: str) -> None:
        DONE.clear()
        entry = EntryPoint("MeasureNode", f"{__name__}:{value}", "oasflow.kind")
        monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
        registry.load_plugins.cache_clear()

    yield install
    registry.load_plugins.cache_clear()


def make_flow(pack: Any = None) -> Any:
    governance = None if pack is None else Governance.of(pack)
    flow = flow_of(start(), node("MeasureNode", "measure", outputs=[], ways=[]), end())
    return compile_flow(flow, governance=governance)


def go(flow: Any, *, later: bool, **more: Any) -> Any:
    return asyncio.run(adrive(flow, {}, **more)) if later else drive(flow, {}, **more)


@pytest.mark.parametrize("later", [False, True])
def test_a_body_that_forgets_to_say_so_stands_under_the_rules_of_packs(
    installed: Any, later: bool
) -> None:
    installed("FORGETFUL")
    forbids = [{"rule_id": "R", "then": {"allow": False}}]
    about: dict[str, Any] = {"kind": "tool", "binds_to": "MeasureNode"}
    refused = go(make_flow(make_small_pack(forbids, **about)), later=later)
    assert (getattr(refused.error, "code", ""), DONE) == ("POLICY_DENIED", [])
    unnamed = go(make_flow(make_small_pack(kind="tool", binds_to="another")), later=later)
    assert (getattr(unnamed.error, "code", ""), DONE) == ("CAPABILITY_UNSURFACED", [])
    asked = go(make_flow(make_small_pack(GATED, **about)), later=later)
    assert (asked.status, DONE) == ("waiting", [])
    done = go(make_flow(make_small_pack(GATED, **about)), later=later, answers=[True])
    assert (done.status, DONE) == ("completed", ["acted"])


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("pack", [None, make_small_pack(kind="tool", binds_to="*")])
def test_a_kind_that_says_it_does_not_act_makes_no_effect(
    installed: Any, later: bool, pack: Any
) -> None:
    installed("SLY")
    ledger = MemoryLedger()
    done = go(make_flow(pack), later=later, context=host_context(run_id="r1", ledger=ledger))
    assert (done.status, DONE) == ("failed", [])
    assert getattr(done.error, "code", "") == "kind_does_not_act"
    assert "says that it does not act" in str(done.error)


def test_a_kind_that_acts_and_only_computes_is_refused(installed: Any) -> None:
    installed("COMPUTING")
    with pytest.raises(KindRefused, match="it says that it acts, and that it only computes"):
        drive(make_flow(), {})
    installed("QUIET")
    assert drive(make_flow(), {}).status == "completed"
