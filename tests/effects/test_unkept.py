"""What is remembered of effects where the host gives no ledger: for the same request alone."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import EffectRefused
from cinatra_sdk.langgraph_threads.host_context import host_context, remembering
from cinatra_sdk.outside.effects.door import Door, Remembered
from cinatra_sdk.outside.effects.effect import EffectResult
from cinatra_sdk.outside.effects.execution import perform
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from tests.effects.samples import Calls, effect, result


def test_an_effect_that_was_made_is_answered_as_it_was() -> None:
    door, calls = Door(remembered=Remembered()), Calls(result({"pair": (1, 2)}))
    made = [perform(effect(), calls, door) for _ in range(2)]
    assert [one.value for one in made] == [{"pair": (1, 2)}] * 2
    assert [one.status for one in made] == ["done", "replayed"]
    assert calls.count == 1


def test_another_request_under_the_key_is_made() -> None:
    door, calls = Door(remembered=Remembered()), Calls()
    for number in (7, 8):
        perform(effect(arguments={"id": number}), calls, door)
    assert calls.count == 2


def test_what_failed_is_made_again() -> None:
    door, calls = Door(remembered=Remembered()), Calls(LookupError("not there"), result())
    with pytest.raises(LookupError):
        perform(effect(), calls, door)
    assert perform(effect(), calls, door) == result()


def test_what_was_forgotten_is_made_again() -> None:
    remembered, calls = Remembered(), Calls()
    perform(effect(), calls, Door(remembered=remembered))
    remembered.forget()
    perform(effect(), calls, Door(remembered=remembered))
    assert calls.count == 2


def test_nothing_that_is_at_most_once_is_done_because_something_is_remembered() -> None:
    calls = Calls()
    with pytest.raises(EffectRefused, match="no ledger would know of it"):
        perform(effect(once=True), calls, Door(remembered=Remembered()))
    assert calls.count == 0


def test_it_prints_no_result() -> None:
    remembered = Remembered()
    perform(effect(), lambda: EffectResult(value="the canary"), Door(remembered=remembered))
    assert "canary" not in repr(Door(remembered=remembered)) + repr(remembered)


@pytest.mark.parametrize("parts", [{"ledger": MemoryLedger()}, {}], ids=["ledger", "around"])
def test_a_ledger_and_code_around_go_before_what_is_remembered_inside(parts: Any) -> None:
    host = host_context(run_id="r1", **parts)
    around = host if parts else remembering(host, Remembered())
    assert remembering(around, Remembered()) is around
