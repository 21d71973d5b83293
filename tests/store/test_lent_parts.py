"""A run store that lends `HostParts`: policy and tokens reach every activation that it drives."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue

from cinatra_sdk import Decision, HostParts, NotConfigured, RunStore, host_context
from cinatra_sdk.host_parts.host_parts import RunIdentity
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.protocol import Credentials, PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start, tool

FLOW = flow_of(
    start(),
    gate("first"),
    api("work", outputs=[port("done")]),
    end(port("done")),
    edges=[("work", "done", "end", "done")],
)
TOKEN = "run-token-of-this-run"


class Platform(SimulatedPlatform):
    """Keeps the tokens of its calls."""

    def __init__(self) -> None:
        super().__init__({"work": {"done": "yes"}})
        self.tokens: list[str] = []

    def call(self, call: PlatformCall) -> JsonValue:
        self.tokens.append(call.credentials.run_token)
        return super().call(call)


def tokens_of(run: RunIdentity) -> Credentials:
    return Credentials(run_token=f"{TOKEN}-{run.id}")


def refuse(_effect: Any) -> Verdict:
    return Verdict.refuse("not today")


def ann() -> Decision:
    return Decision.approve(by="ann")


def test_another_store_drives_a_run_with_its_own_platform_and_the_tokens_of_the_run(
    fresh_database: str,
) -> None:
    with RunStore.open(fresh_database) as first:
        run = first.start(compile_flow(FLOW, platform=SimulatedPlatform()), run_id="r1", tenant="t")
    platform = Platform()
    host = HostParts(platform=platform, credentials_for=tokens_of)
    with RunStore.open(fresh_database, host=host) as second:
        done = second.answer(run.id, "first", ann())
    assert (done.status, platform.tokens) == ("completed", [f"{TOKEN}-r1"])


def test_a_context_of_the_caller_keeps_the_store_from_asking_for_tokens(
    fresh_database: str,
) -> None:
    platform = Platform()
    host = HostParts(platform=platform, credentials_for=tokens_of)
    with RunStore.open(fresh_database, host=host) as store:
        run = store.start(compile_flow(FLOW, host=host))
        store.answer(run.id, "first", ann(), context=host_context())
    assert platform.tokens == [""]


@pytest.mark.parametrize("lends", ["store", "flow"])
def test_the_policy_of_the_store_or_of_the_flow_is_asked_in_every_activation(
    fresh_database: str, lends: str
) -> None:
    platform = Platform()
    strict = HostParts(platform=platform, allow_effect=refuse)
    of_flow, of_store = (strict, None) if lends == "flow" else (None, strict)
    plain = HostParts(platform=platform)
    with RunStore.open(fresh_database, host=of_store) as store:
        run = store.start(compile_flow(FLOW, host=of_flow or plain))
        # without flow=: the flow that this process remembers counts
        failed = store.answer(run.id, "first", ann())
    assert (failed.status, platform.tokens) == ("failed", [])
    assert failed.error is not None
    assert failed.error["code"] == "policy_refused"


def test_a_ledger_is_asked_for_once_in_each_activation(fresh_database: str) -> None:
    asked: list[str] = []

    def ledger_for(run: RunIdentity) -> Any:
        from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger

        asked.append(run.id)
        return MemoryLedger()

    host = HostParts(platform=Platform(), ledger_for=ledger_for)
    with RunStore.open(fresh_database, host=host) as store:
        run = store.start(compile_flow(FLOW, host=host), run_id="r1")
        assert store.answer(run.id, "first", ann()).status == "completed"
    assert asked == ["r1", "r1"]


def test_tokens_that_cannot_be_had_keep_nobody_from_rejecting(fresh_database: str) -> None:
    def no_tokens(_run: RunIdentity) -> Credentials:
        raise ValueError("the vault is closed")

    with RunStore.open(fresh_database) as first:
        run = first.start(compile_flow(FLOW, platform=SimulatedPlatform()))
    with RunStore.open(fresh_database, host=HostParts(credentials_for=no_tokens)) as store:
        with pytest.raises(NotConfigured, match="credentials_for gives ValueError") as refused:
            store.answer(run.id, "first", ann())
        assert "vault" not in str(refused.value)
        assert store.get(run.id).status == "waiting", "refused before anything was written"
        assert store.answer(run.id, "first", Decision.reject(by="ann")).status == "rejected"


def test_a_run_whose_tools_a_process_lacks_is_not_configured_there(fresh_database: str) -> None:
    document = flow_of(
        start(), gate("ok"), tool("read", "list of letters", [], [port("y")]), end(port("y")),
        edges=[("read", "y", "end", "y")],
    )  # fmt: skip
    flow = compile_flow(document, tools={"list of letters": lambda: "none"})
    with RunStore.open(fresh_database) as store:
        store.start(flow, run_id="r1")
        store.decide("r1", "ok", Decision.approve(by="ann"))
    with RunStore.open(fresh_database) as other:
        with pytest.raises(NotConfigured, match="was not given: list of letters") as refused:
            other.work("r1")
        assert "tools=" in str(refused.value)
        (left,) = other.sweep()
        assert (left.status, "list of letters" in left.problem) == ("", True)
    with RunStore.open(fresh_database, tools={"list of letters": lambda: "two"}) as able:
        assert able.work("r1").outputs == {"y": "two"}


class EmptyLedger(MemoryLedger):
    """An object of a host may be no truth."""

    def __len__(self) -> int:
        return 0


class EmptySigner:
    def __len__(self) -> int:
        return 0

    def sign(self, _digest: str) -> None: ...


def test_what_a_host_lends_counts_also_where_it_is_empty(fresh_database: str) -> None:
    ledger, signer = EmptyLedger(), EmptySigner()
    with RunStore.open(fresh_database) as store:
        flow = compile_flow(flow_of(start(), api("work"), end()), platform=SimulatedPlatform())
        run = store.start(flow, run_id="r1", context=host_context(run_id="r1", ledger=ledger))
        assert run.status == "completed"
        assert list(store.effects("r1").items) == [], "the host's ledger has it"
        store.lend_signer(signer)  # type: ignore[arg-type]
        assert store._flows.signer is signer
