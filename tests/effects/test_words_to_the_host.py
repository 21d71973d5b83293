"""What a call used up is told though it failed, and a record is written by whoever began it."""

from __future__ import annotations

import threading
from typing import cast

import pytest
from pydantic import JsonValue

from cinatra_sdk.errors import EffectRefused, RunBusy
from cinatra_sdk.outside.effects.door import Begun, Door, Remembered, Stored
from cinatra_sdk.outside.effects.effect import EffectResult, Usage
from cinatra_sdk.outside.effects.execution import perform
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.effects.platform_calls import perform_call
from cinatra_sdk.outside.http_calls.model_usage import ModelUse, tell_use
from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformCall, PlatformResponseError
from tests.effects.samples import FORMS, Calls, Performing, effect, result


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())
def test_what_a_failed_call_used_up_is_told_once(make: Performing) -> None:
    seen: list[Usage] = []
    error = PlatformResponseError("no JSON", node="send", status=200)
    error.used = Usage(calls=1, input_tokens=7)
    door = Door(ledger=MemoryLedger(), spent=lambda _made, usage: seen.append(usage))
    with pytest.raises(PlatformResponseError):
        make(effect(), Calls(error), door)
    assert seen == [error.used]


def test_of_a_remembered_result_another_request_gets_nothing() -> None:
    known, first = Remembered(), effect()
    assert known.begin(first) == Begun()
    known.finish(first, result())
    assert known.begin(first) == Stored(result=result())
    other = effect(arguments={"other": True})
    assert known.begin(other) == Begun()
    known.forget()
    assert known.begin(first) == Begun()


def test_a_call_is_recorded_by_the_activation_that_began_it_alone() -> None:
    before = MemoryLedger()
    before.begin(effect())
    after = before.next_activation()
    with pytest.raises(RunBusy, match="not begun by this activation"):
        after.finish(effect(), EffectResult(value={}))
    assert after.rows["k1"].status == "begun"


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("asked", ["allow", "spend"])
def test_a_host_that_has_a_policy_or_a_budget_alone_is_asked(make: Performing, asked: str) -> None:
    threads: list[int] = []

    def refuse(_effect: object) -> None:
        threads.append(threading.get_ident())
        raise LookupError("not today")

    calls = Calls()
    with pytest.raises(EffectRefused):
        make(effect(), calls, Door(**{asked: refuse}))
    assert calls.count == 0
    # A host's function may wait: never on the loop.
    assert [one == threading.get_ident() for one in threads] == [make is perform]


def test_what_a_platform_used_up_before_it_failed_is_told() -> None:
    class Failing:
        def call(self, call: PlatformCall) -> JsonValue:
            tell_use(ModelUse(model="x/y", calls=2, output_tokens=3))
            raise PlatformResponseError("no JSON", node=call.node, status=200)

    seen: list[Usage] = []
    door = Door(ledger=MemoryLedger(), spent=lambda _made, usage: seen.append(usage))
    call = PlatformCall(
        node="ask", path="ask", method="POST", url="https://a.example/ask", body={},
        idempotency_key="k1", run_id="r1",
    )  # fmt: skip
    with pytest.raises(PlatformResponseError):
        perform_call(cast("Platform", Failing()), call, door, defaults={})
    assert seen == [Usage(model="x/y", calls=2, output_tokens=3)]
