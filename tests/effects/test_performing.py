"""`perform` asks everybody in order, calls once, and keeps what came of it; on a loop too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.errors import GraphInterrupt

from cinatra_sdk.errors import (
    EffectDiffers,
    EffectRefused,
    EffectUnknown,
    FlowError,
    RunBusy,
    RunEnded,
    ShownDiffers,
    ValueRefused,
)
from cinatra_sdk.outside.effects.door import Door, EffectNews, Verdict, current_key
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, Usage
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.protocol import (
    PlatformRefused,
    PlatformResponseError,
    PlatformUnreachable,
)
from tests.effects.samples import CANARY, FORMS, Calls, Performing, effect, result

forms = pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())


class Told:
    """Everything that a door was asked and told, in order."""

    def __init__(self, ledger: MemoryLedger | None = None) -> None:
        self.words: list[str] = []
        self.news: list[EffectNews] = []
        self.ledger = ledger

    def _say(self, word: str, answer: Any = None) -> Any:
        self.words.append(word)
        return answer

    def _watch(self, news: EffectNews) -> None:
        self.news.append(news)
        self._say(f"news: {news.stage}")

    def door(self, **parts: Any) -> Door:
        given = {
            "before": lambda _effect: self._say("run"),
            "allow": lambda _effect: self._say("policy", Verdict.allow()),
            "spend": lambda _effect: self._say("budget"),
            "spent": lambda _effect, usage: self._say(f"spent {usage.calls}"),
            "told": self._watch,
        }
        return Door(ledger=self.ledger, **{**given, **parts})

    def do(self) -> EffectResult:
        return self._say("call", result())


@forms
@pytest.mark.parametrize("kept", [True, False], ids=["ledger", "no ledger"])
def test_everybody_is_asked_in_order(make: Performing, kept: bool) -> None:
    told = Told(MemoryLedger() if kept else None)
    assert make(effect(), told.do, told.door()) == result()
    order = ["run", "policy", "budget", "news: begun", "call", "spent 1", "news: done"]
    assert told.words == order


@forms
def test_a_stored_result_is_replayed_and_nothing_is_called(make: Performing) -> None:
    told = Told(MemoryLedger())
    make(effect(), told.do, told.door())
    told.words.clear()
    assert make(effect(), told.do, told.door()) == result(status="replayed")
    assert told.words == ["run", "news: replayed"]


@forms
def test_without_a_ledger_the_result_is_handed_on_as_it_is(make: Performing) -> None:
    own = result({"pair": (1, 2)})
    assert make(effect(), lambda: own, Door()) is own


@forms
def test_with_a_ledger_the_first_result_is_the_one_a_replay_gives(make: Performing) -> None:
    door = Door(ledger=MemoryLedger())
    first = make(effect(), lambda: result({"pair": (1, 2)}), door)
    assert first.value == make(effect(), Calls(), door).value == {"pair": [1, 2]}


def ended(_effect: Effect) -> None:
    raise RunEnded("run 'r1' is stopped")


def unkind(_effect: Effect) -> Any:
    raise LookupError(f"the policy's own {CANARY}")


REFUSALS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "run": ({"before": ended}, RunEnded, "is stopped"),
    "policy": ({"allow": lambda _e: Verdict.refuse("not on Sundays")}, EffectRefused, "on Sundays"),
    "policy without words": ({"allow": lambda _e: Verdict(False)}, EffectRefused, "no reason"),
    "policy that raises": ({"allow": unkind}, EffectRefused, "failed: LookupError"),
    "policy that says yes": ({"allow": lambda _e: True}, EffectRefused, "bool and no Verdict"),
    "policy that says nothing": ({"allow": lambda _e: None}, EffectRefused, "NoneType"),
    "policy of words": ({"allow": lambda _e: Verdict("no")}, EffectRefused, "refuses"),  # type: ignore[arg-type]  # a host's mistake
    "budget": ({"spend": unkind}, EffectRefused, "budget refuses it: LookupError"),
}  # fmt: skip
refusals = pytest.mark.parametrize(
    ("parts", "error", "words"), REFUSALS.values(), ids=REFUSALS.keys()
)


@forms
@refusals
@pytest.mark.parametrize("once", [False, True])
def test_nothing_is_called_where_anybody_refuses(
    make: Performing, parts: Any, error: type[Exception], words: str, once: bool
) -> None:
    told, calls, made = Told(MemoryLedger()), Calls(), effect(once=once, secrets=(CANARY,))
    with pytest.raises(error, match=words) as caught:
        make(made, calls, told.door(**parts))
    assert calls.count == 0
    assert CANARY not in str(caught.value)
    # It surely did not happen, so it is made as soon as it is allowed.
    assert make(made, calls, told.door()).status == "done"


@forms
@refusals
def test_nor_without_a_ledger(
    make: Performing, parts: Any, error: type[Exception], words: str
) -> None:
    calls = Calls()
    with pytest.raises(error, match=words):
        make(effect(), calls, Told().door(**parts))
    assert calls.count == 0


@forms
def test_what_was_shown_is_what_is_sent(make: Performing) -> None:
    door, shown = Door(ledger=MemoryLedger()), effect().request_sha256
    with pytest.raises(ShownDiffers):
        make(effect(arguments={"to": "bob"}, shown_sha256=shown), Calls(), door)
    assert make(effect(shown_sha256=shown), Calls(), door).status == "done"


@forms
def test_at_most_once_needs_a_ledger(make: Performing) -> None:
    calls = Calls()
    with pytest.raises(EffectRefused) as caught:
        make(effect(once=True), calls, Door())
    assert (caught.value.code, calls.count) == ("ledger_missing", 0)


@forms
def test_a_crash_in_the_middle_calls_again_under_the_same_key(make: Performing) -> None:
    ledger, keys = MemoryLedger(), []
    ledger.begin(effect())

    def do() -> EffectResult:
        keys.append(current_key())
        return result()

    make(effect(), do, Door(ledger=ledger.next_activation()))
    assert keys == ["k1"]


@forms
def test_or_never_again_where_it_is_at_most_once(make: Performing) -> None:
    ledger, calls = MemoryLedger(), Calls()
    ledger.begin(effect(once=True))
    for _ in range(3):
        ledger = ledger.next_activation()
        with pytest.raises(EffectUnknown, match=r"may act at most once.*settle"):
            make(effect(once=True), calls, Door(ledger=ledger))
    assert calls.count == 0


UNREACHED = [
    PlatformRefused("no", node="send"),
    PlatformUnreachable("no", node="send", unsent=True),
    PlatformResponseError("no", node="send", status=404),
    PlatformResponseError("no", node="send", status=429),
]
REACHED = [
    PlatformUnreachable("timeout", node="send"),
    PlatformResponseError("no", node="send", status=503),
    PlatformResponseError("unreadable", node="send", status=200),
    TimeoutError("late"),
    LookupError("a tool's own"),
]


@forms
@pytest.mark.parametrize("error", UNREACHED)
def test_a_call_that_surely_had_no_effect_may_be_made_again(
    make: Performing, error: Exception
) -> None:
    door, calls = Door(ledger=MemoryLedger()), Calls(error)
    with pytest.raises(type(error)):
        make(effect(once=True), calls, door)
    assert make(effect(once=True), calls, door).status == "done"


@forms
@pytest.mark.parametrize("error", REACHED)
def test_any_other_that_fails_is_unknown_where_it_is_at_most_once(
    make: Performing, error: Exception
) -> None:
    door, calls = Door(ledger=MemoryLedger()), Calls(error)
    with pytest.raises(EffectUnknown, match=str(error)) as caught:
        make(effect(once=True), calls, door)
    assert caught.value.__context__ is None
    with pytest.raises(EffectUnknown):
        make(effect(once=True), calls, door)
    assert calls.count == 1


@forms
@pytest.mark.parametrize("error", [*UNREACHED, *REACHED])
def test_and_is_tried_again_where_it_is_at_least_once(make: Performing, error: Exception) -> None:
    door, calls = Door(ledger=MemoryLedger()), Calls(error)
    with pytest.raises(type(error)):
        make(effect(), calls, door)
    assert make(effect(), calls, door).status == "done"


@forms
def test_another_request_under_the_key_is_neither_sent_nor_answered(make: Performing) -> None:
    door, calls = Door(ledger=MemoryLedger()), Calls()
    make(effect(), calls, door)
    with pytest.raises(EffectDiffers):
        make(effect(arguments={"to": "bob"}), calls, door)
    assert calls.count == 1


@pytest.mark.parametrize("once", [False, True])
def test_of_two_at_once_one_calls(once: bool) -> None:
    ledger, begun, goes_on = MemoryLedger(), threading.Event(), threading.Event()

    def slow() -> EffectResult:
        begun.set()
        assert goes_on.wait(30)
        return result()

    calls = Calls()
    with ThreadPoolExecutor(1) as other:
        first = other.submit(perform, effect(once=once), slow, Door(ledger=ledger))
        assert begun.wait(30)
        with pytest.raises(RunBusy):
            perform(effect(once=once), calls, Door(ledger=ledger))
        goes_on.set()
        assert first.result().status == "done"
    assert perform(effect(once=once), calls, Door(ledger=ledger)).status == "replayed"
    assert calls.count == 0


@forms
def test_an_activation_that_was_taken_over_calls_nothing(make: Performing) -> None:
    old, calls = MemoryLedger(), Calls()
    old.next_activation()
    with pytest.raises(RunBusy):
        make(effect(), calls, Door(ledger=old))
    assert calls.count == 0


@forms
@pytest.mark.parametrize("value", [{"a": "\x00"}, {"n": 2**64}, {"s": "x" * 1_000_001}, {1: 2}])
def test_a_result_that_cannot_be_kept_is_refused(make: Performing, value: Any) -> None:
    ledger = MemoryLedger()
    with pytest.raises(ValueRefused):
        make(effect(), Calls(result(value)), Door(ledger=ledger))
    with pytest.raises(EffectUnknown):
        make(effect("k2", once=True), Calls(result(value)), Door(ledger=ledger))
    assert [row.status for row in ledger.rows.values()] == ["failed", "unknown"]


@forms
def test_a_pause_is_no_failure(make: Performing) -> None:
    told, calls = Told(MemoryLedger()), Calls(GraphInterrupt(()))
    with pytest.raises(GraphInterrupt):
        make(effect(once=True), calls, told.door())
    assert [news.stage for news in told.news] == ["begun"]
    assert make(effect(once=True), calls, told.door()).status == "done"


class Gone(BaseException):
    """The process is told to end."""


@forms
def test_the_end_of_the_process_is_handed_on(make: Performing) -> None:
    ledger = MemoryLedger()
    for key, once in (("k1", False), ("k2", True)):
        with pytest.raises(Gone):
            make(effect(key, once=once), Calls(Gone()), Door(ledger=ledger))
    assert [row.status for row in ledger.rows.values()] == ["failed", "unknown"]


def test_a_cancelled_effect_is_not_left_as_being_made() -> None:
    ledger = MemoryLedger()

    async def cancelled() -> None:
        begun = asyncio.Event()

        async def do() -> EffectResult:
            begun.set()
            await asyncio.Event().wait()
            return result()

        task = asyncio.create_task(aperform(effect(), do, Door(ledger=ledger)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert ledger.rows["k1"].status == "failed"
    assert perform(effect(), Calls(), Door(ledger=ledger)).status == "done"


@forms
def test_a_watcher_and_a_budget_that_fail_afterwards_change_nothing(
    make: Performing, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_given: Any) -> None:
        raise LookupError(CANARY)

    door = Door(ledger=MemoryLedger(), told=fails, spent=fails)
    assert make(effect(), Calls(), door).status == "done"
    assert make(effect(), Calls(), door).status == "replayed"
    assert "LookupError" in caplog.text
    assert CANARY not in caplog.text


class Forgetful(MemoryLedger):
    """Loses its database at one of its methods."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self.method = method

    def finish(self, made: Effect, came: EffectResult) -> None:
        self._lose("finish")
        super().finish(made, came)

    def fail(self, made: Effect, failure: Any) -> None:
        self._lose("fail")
        super().fail(made, failure)

    def _lose(self, method: str) -> None:
        if method == self.method:
            raise ConnectionError("the database is gone")


@forms
def test_a_result_that_was_not_recorded_fails_and_is_asked_for_again(make: Performing) -> None:
    ledger, calls = Forgetful("finish"), Calls()
    with pytest.raises(ConnectionError):
        make(effect(), calls, Door(ledger=ledger))
    assert make(effect(), calls, Door(ledger=ledger.next_activation())).status == "done"
    assert calls.count == 2


@forms
def test_a_failure_that_was_not_recorded_is_told_all_the_same(
    make: Performing, caplog: pytest.LogCaptureFixture
) -> None:
    ledger, calls = Forgetful("fail"), Calls(LookupError("why"), LookupError("why"))
    with pytest.raises(LookupError, match="why"):
        make(effect(), calls, Door(ledger=ledger))
    with pytest.raises(EffectUnknown, match="why"):
        make(effect("k2", once=True), calls, Door(ledger=ledger))
    assert "did not take the failure" in caplog.text
    with pytest.raises(EffectUnknown):
        make(effect("k2", once=True), calls, Door(ledger=ledger.next_activation()))
    assert calls.count == 2


@forms
def test_watchers_hear_the_class_of_a_failure_and_no_secret(make: Performing) -> None:
    told = Told(MemoryLedger())
    made = effect(secrets=(CANARY,), arguments={"token": CANARY}, capability=f"GET /{CANARY}")
    error = PlatformResponseError(f"503 {CANARY}", node="send", status=503)
    with pytest.raises(PlatformResponseError):
        make(made, Calls(error), told.door())
    failed = told.news[-1]
    assert failed.failure is not None
    assert (failed.stage, failed.failure.kind) == ("failed", "transient")
    assert failed.effect.arguments == {"token": "[redacted]"}
    assert CANARY not in repr(told.news)


@forms
def test_what_was_used_is_told_and_kept(make: Performing) -> None:
    seen: list[tuple[str, Usage]] = []
    door = Door(
        ledger=MemoryLedger(), spent=lambda made, usage: seen.append((made.capability, usage))
    )
    used = Usage(calls=1, input_tokens=5, output_tokens=8)
    make(effect(), Calls(result(usage=used)), door)
    assert make(effect(), Calls(), door).usage == used
    assert seen == [("POST /mail", used)]


def test_the_key_is_known_inside_of_an_effect_alone() -> None:
    async def work() -> list[str]:
        async def do() -> EffectResult:
            inside = [current_key(), await asyncio.to_thread(current_key)]
            return result(inside)

        made = await asyncio.gather(*(aperform(effect(key), do, Door()) for key in ("k1", "k2")))
        return [key for one in made for key in one.value]  # type: ignore[union-attr]  # lists, see `do`

    assert asyncio.run(work()) == ["k1", "k1", "k2", "k2"]
    assert current_key() == ""


def test_an_effect_without_a_key_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="needs a key"):
        effect("")


Outcome = Callable[[], Any]
_ENDS = ["done", "refused", "unsent", "timeout", "crash", "zombie"]


@given(script=st.lists(st.sampled_from(_ENDS), max_size=12), once=st.booleans())
def test_whatever_happens_an_effect_keeps_its_promise(script: list[str], once: bool) -> None:
    """`happened` is the number of requests that may have had an effect."""
    ledger, happened, keys, results = MemoryLedger(), 0, [], []

    def attempt(end: str) -> EffectResult:
        nonlocal happened
        keys.append(current_key())
        if end == "unsent":
            raise PlatformUnreachable("down", node="send", unsent=True)
        happened += 1
        if end == "timeout":
            raise PlatformUnreachable("late", node="send")
        if end == "zombie":
            ledger.next_activation()  # somebody else takes the run over meanwhile
        return result({"number": happened})

    for end in script:
        ledger = ledger.next_activation()
        if end == "crash":
            # Cut off after the request has left: nothing is recorded beyond its beginning.
            if "done" not in {row.status for row in ledger.rows.values()}:
                before = happened
                try:
                    began = type(ledger.begin(effect(once=once))).__name__ == "Begun"
                except FlowError:
                    began = False
                happened = before + began
            continue
        refuses = (lambda _e: Verdict(False)) if end == "refused" else None
        try:
            made = perform(
                effect(once=once), lambda end=end: attempt(end), Door(ledger=ledger, allow=refuses)
            )
        except (FlowError, PlatformUnreachable):
            continue
        results.append(made.value)
    assert set(keys) <= {"k1"}
    assert all(value == results[0] for value in results)
    if once:
        assert happened <= 1
