"""The rules of a `Ledger`, as tests that every ledger has to pass.

class TestMyLedger(LedgerContract):
    @pytest.fixture
    def bench(self) -> Bench: …
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

import pytest

from cinatra_sdk.errors import RunBusy
from cinatra_sdk.outside.effects.door import Begun, Differs, Door, Entry, Ledger, Stored, Unknown
from cinatra_sdk.outside.effects.effect import EffectFailure, EffectResult, Usage
from cinatra_sdk.outside.effects.execution import perform
from tests.effects.samples import CANARY, Calls, effect, result


class Bench(Protocol):
    """One run and its ledgers."""

    def activation(self) -> Ledger:
        """The ledger of a further activation, which takes the run over from those before."""
        ...

    def stored(self) -> str:
        """Everything that is kept of the run's effects, as text."""
        ...

    def status(self, key: str) -> str:
        """The status of the row with this key."""
        ...

    def settle(self, key: str, made: EffectResult | None) -> None:
        """A person's word on an effect that is unknown."""
        ...


REACHED = EffectFailure(kind="transient", code="timeout", message="no answer", reached=True)
NOT_REACHED = EffectFailure(kind="transient", code="down", message="no connection", reached=False)
EVERYTHING: dict[str, Any] = {
    "text": "Gr\u00fc\u00dfe \U0001f600", "list": [1, 2.5, None, True, {"deep": [[]]}],
    "large": 2**62, "empty": {},
}  # fmt: skip


class LedgerContract:
    """`bench` is a run whose ledger has no row yet."""

    def test_an_effect_that_nobody_knows_is_begun(self, bench: Bench) -> None:
        assert bench.activation().begin(effect()) == Begun(attempt=1)
        assert bench.status("k1") == "begun"

    def test_a_result_is_given_back_as_it_was(self, bench: Bench) -> None:
        ledger, made = bench.activation(), effect()
        ledger.begin(made)
        usage = Usage(calls=1, input_tokens=7, output_tokens=9)
        ledger.finish(made, result(EVERYTHING, usage=usage, artifacts=({"id": "a1"},)))
        stored = result(EVERYTHING, usage=usage, artifacts=({"id": "a1"},), status="replayed")
        assert ledger.begin(made) == Stored(result=stored)
        assert bench.activation().begin(made) == Stored(result=stored)
        assert bench.status("k1") == "done"

    @pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
    def test_an_empty_result_is_a_result(self, bench: Bench, value: Any) -> None:
        ledger = bench.activation()
        ledger.begin(effect())
        ledger.finish(effect(), EffectResult(value=value))
        entry = ledger.begin(effect())
        assert isinstance(entry, Stored)
        assert entry.result.value == value
        assert type(entry.result.value) is type(value)

    def test_effects_of_different_keys_know_nothing_of_each_other(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect("k1"))
        ledger.finish(effect("k1"), result())
        assert ledger.begin(effect("k2")) == Begun(attempt=1)

    def test_an_effect_that_failed_is_begun_again(self, bench: Bench) -> None:
        ledger = bench.activation()
        for attempt in (1, 2, 3):
            assert ledger.begin(effect()) == Begun(attempt=attempt)
            ledger.fail(effect(), REACHED)
            assert bench.status("k1") == "failed"

    def test_a_count_that_is_none_loses_no_call(self, bench: Bench) -> None:
        """What a provider says of its tokens comes from outside."""
        odd: Any = Usage(
            calls=True, input_tokens="many", output_tokens=10**400, model="p/m\0\ud800"
        )
        for used in (odd, Usage(calls=-1, input_tokens=2.0, output_tokens=float("nan"))):  # type: ignore[arg-type]
            ledger = bench.activation()
            ledger.begin(effect())
            ledger.fail(effect(), replace(NOT_REACHED, usage=used))
        ledger = bench.activation()
        ledger.begin(effect())
        ledger.finish(effect(), result(1))
        entry = bench.activation().begin(effect())
        assert isinstance(entry, Stored)
        assert entry.result.usage == Usage(
            calls=1, input_tokens=2, output_tokens=2**53 - 1, model="p/m?"
        )

    def test_what_failed_attempts_used_up_is_added_to_the_result(self, bench: Bench) -> None:
        ledger = bench.activation()
        used = Usage(calls=2, input_tokens=10, output_tokens=1)
        for failure in (replace(NOT_REACHED, usage=used), NOT_REACHED):
            ledger.begin(effect())
            ledger.fail(effect(), failure)
        ledger.begin(effect())
        ledger.finish(effect(), result(1, usage=Usage(calls=1, input_tokens=7, output_tokens=9)))
        entry = bench.activation().begin(effect())
        assert isinstance(entry, Stored)
        assert entry.result.usage == Usage(calls=3, input_tokens=17, output_tokens=10)

    def test_an_effect_that_a_crash_cut_off_is_begun_again(self, bench: Bench) -> None:
        bench.activation().begin(effect())
        assert bench.activation().begin(effect()) == Begun(attempt=2)

    def test_one_that_is_at_most_once_is_unknown_then_and_stays_so(self, bench: Bench) -> None:
        bench.activation().begin(effect(once=True))
        for _ in range(3):
            assert bench.activation().begin(effect(once=True)) == Unknown()
            assert bench.status("k1") == "unknown"

    def test_one_that_is_at_most_once_is_unknown_after_a_failure(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect(once=True))
        ledger.fail(effect(once=True), REACHED)
        assert bench.status("k1") == "unknown"
        assert ledger.begin(effect(once=True)) == Unknown()

    def test_but_not_where_it_surely_did_not_happen(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect(once=True))
        ledger.fail(effect(once=True), NOT_REACHED)
        assert ledger.begin(effect(once=True)) == Begun(attempt=2)

    def test_a_person_settles_what_is_unknown(self, bench: Bench) -> None:
        for key in ("k1", "k2"):
            bench.activation().begin(effect(key, once=True))
            assert bench.activation().begin(effect(key, once=True)) == Unknown()
        bench.settle("k1", result({"id": "found"}))
        bench.settle("k2", None)
        ledger = bench.activation()
        entry = ledger.begin(effect("k1", once=True))
        assert isinstance(entry, Stored)
        assert entry.result.value == {"id": "found"}
        assert isinstance(ledger.begin(effect("k2", once=True)), Begun)

    def test_nothing_else_can_be_settled(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect("k1"))
        ledger.begin(effect("k2"))
        ledger.finish(effect("k2"), result())
        for key in ("k1", "k2", "none"):
            with pytest.raises(ValueError, match="is unknown"):
                bench.settle(key, None)

    def test_an_effect_that_is_being_made_is_not_begun_a_second_time(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect())
        with pytest.raises(RunBusy):
            ledger.begin(effect())
        ledger.finish(effect(), result())
        assert isinstance(ledger.begin(effect()), Stored)

    def test_of_many_at_once_one_begins(self, bench: Bench) -> None:
        ledger = bench.activation()

        def begin(_number: int) -> Entry | None:
            try:
                return ledger.begin(effect())
            except RunBusy:
                return None

        with ThreadPoolExecutor(16) as pool:
            entries = list(pool.map(begin, range(64)))
        assert [entry for entry in entries if entry is not None] == [Begun(attempt=1)]

    @pytest.mark.parametrize("ends", ["crash", "done", "unknown"])
    def test_a_key_belongs_to_one_request(self, bench: Bench, ends: str) -> None:
        ledger, once = bench.activation(), ends == "unknown"
        ledger.begin(effect(once=once))
        if ends == "done":
            ledger.finish(effect(), result())
        before = bench.status("k1")
        other = effect(arguments={"to": "bob"}, once=once)
        assert bench.activation().begin(other) == Differs()
        assert bench.status("k1") == before

    def test_the_order_of_members_makes_no_other_request(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect(arguments={"a": 1, "b": {"x": 1, "y": 2}}))
        ledger.finish(effect(arguments={"a": 1, "b": {"x": 1, "y": 2}}), result())
        assert isinstance(ledger.begin(effect(arguments={"b": {"y": 2, "x": 1}, "a": 1})), Stored)

    def test_after_a_failure_the_request_may_be_another(self, bench: Bench) -> None:
        ledger, other = bench.activation(), effect(arguments={"to": "bob"})
        ledger.begin(effect())
        ledger.fail(effect(), REACHED)
        assert ledger.begin(other) == Begun(attempt=2)
        ledger.finish(other, result())
        assert isinstance(ledger.begin(other), Stored)
        assert ledger.begin(effect()) == Differs()

    def test_an_activation_that_was_taken_over_records_nothing(self, bench: Bench) -> None:
        old = bench.activation()
        old.begin(effect())
        new = bench.activation()
        for act in (
            lambda: old.finish(effect(), result()),
            lambda: old.fail(effect(), REACHED),
            lambda: old.begin(effect("k2")),
        ):
            with pytest.raises(RunBusy):
                act()
        assert bench.status("k1") == "begun"
        assert new.begin(effect()) == Begun(attempt=2)
        assert new.begin(effect("k2")) == Begun(attempt=1)

    def test_what_was_not_begun_has_no_end(self, bench: Bench) -> None:
        ledger = bench.activation()
        with pytest.raises(RunBusy):
            ledger.finish(effect(), result())
        with pytest.raises(RunBusy):
            ledger.fail(effect(), REACHED)

    def test_a_result_never_changes(self, bench: Bench) -> None:
        ledger = bench.activation()
        ledger.begin(effect())
        ledger.finish(effect(), result({"id": "first"}))
        for act in (
            lambda: ledger.finish(effect(), result({"id": "second"})),
            lambda: ledger.fail(effect(), REACHED),
        ):
            with pytest.raises(RunBusy):
                act()
        entry = ledger.begin(effect())
        assert isinstance(entry, Stored)
        assert entry.result.value == {"id": "first"}

    def test_the_same_on_an_event_loop(self, bench: Bench) -> None:
        async def work() -> None:
            ledger = bench.activation()
            assert await ledger.abegin(effect()) == Begun(attempt=1)
            await ledger.afail(effect(), REACHED)
            assert await ledger.abegin(effect()) == Begun(attempt=2)
            await ledger.afinish(effect(), result())
            assert await ledger.abegin(effect()) == Stored(result=result(status="replayed"))

        asyncio.run(work())

    def test_no_secret_is_kept(self, bench: Bench) -> None:
        def made(key: str) -> Any:
            return effect(
                key, secrets=(CANARY,), capability=f"POST /{CANARY}", arguments={"t": CANARY}
            )

        door = Door(ledger=bench.activation())
        perform(made("k1"), Calls(result({"echo": CANARY, CANARY: 1}, artifacts=(CANARY,))), door)
        with pytest.raises(LookupError):
            perform(made("k2"), Calls(LookupError(f"no {CANARY.upper()} here")), door)
        with pytest.raises(RuntimeError):
            perform(made("k3"), Calls(RuntimeError(f"it spells {CANARY.encode().hex()}")), door)
        kept = bench.stored()
        assert json.dumps("[redacted]")[1:-1] in kept
        for form in (CANARY, CANARY.upper(), CANARY.encode().hex()):
            assert form not in kept
