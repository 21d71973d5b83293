"""`perform`: one effect, made under everything that the host demands of it.

In: an `Effect`, a function that makes the call, and the host's `Door`.  Out: its `EffectResult`.

    run still ours -> ledger -> rules of a governed run -> what was shown is what is sent -> policy
    -> budget -> news
    -> the call -> record -> budget -> news

The function bounds and repeats its own call: only `HttpPlatform` knows whether a request has left the
process, and so whether the request may be sent again.

A value is stored as JSON within the bounds of `cinatra_sdk.data.json_values`, without the effect's secrets.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from langgraph.errors import GraphBubbleUp
from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.errors import ChildWaits, EffectDiffers, EffectRefused, EffectUnknown, ShownDiffers
from cinatra_sdk.governed.secret_values import cut_out, redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import (
    Differs,
    Door,
    EffectNews,
    Entry,
    Ledger,
    NothingKept,
    Stored,
    Unknown,
    running,
)
from cinatra_sdk.outside.effects.effect import Effect, EffectFailure, EffectResult, read_failure
from cinatra_sdk.outside.effects.memory_ledgers import find_ledger
from cinatra_sdk.outside.effects.permits import (
    aask_run,
    arequire_allowed,
    ask_run,
    atell,
    atell_spent,
    current_governor,
    examine_effect,
    keep_result,
    make_refusal,
    redeem_effect,
    refuse_quiet,
    require_allowed,
    tell,
    tell_spent,
    traced,
)

log = logging.getLogger("oasflow.effects")
_LONGEST_CAUSE: Final = 1_000
"""Characters of a recorded cause that an error repeats."""
_PAUSED: Final = EffectFailure(
    kind="transient", code="paused", message="it asks a person", reached=False
)


def perform(effect: Effect, do: Callable[[], EffectResult], door: Door) -> EffectResult:
    """Make the effect by `do`, or return the result that the ledger has of it.

    Raises:
        EffectUnknown: the effect is at most once and may have happened already.
        ChildWaits: the call began a run that has not ended.
        EffectDiffers: the ledger knows the key from another request.
        EffectRefused: the policy or the budget refuses; or the effect is at most once, and there
            is no ledger: the host gave none, and the run was begun by another process.
        ShownDiffers: a person approved something else.
        Exception: what `do`, the ledger or `door.before` raises.

    """
    refuse_quiet(effect)
    ledger = _choose_ledger(effect, door)
    if not ledger.asks_run:
        ask_run(effect, door)
    effect = examine_effect(effect)
    known = _read_entry(effect, ledger.begin(effect))
    if known is not None:
        tell(door, known.news)
        return _keep(effect, known.result_or_raise())
    try:
        redeem_effect(effect)
        require_allowed(effect, door)
        tell(door, EffectNews(effect=effect, stage="begun"))
        with running(effect), traced(effect):
            result = do()
        result = _make_storable(effect, result, ledger)
    except BaseException as error:
        broken = _Broken.of(effect, error)
        try:
            ledger.fail(effect, broken.failure)
        except Exception as lost:  # noqa: BLE001 - the failure itself is what has to be told
            _log_lost_record(effect, lost)
        tell_spent(door, effect, broken.failure.usage)
        if broken.news is not None:
            tell(door, broken.news)
        if broken.raised is None:
            raise
    else:
        ledger.finish(effect, result)
        tell_spent(door, effect, result.usage)
        tell(door, EffectNews(effect=effect, stage="done", usage=result.usage))
        return _keep(effect, result)
    # Raised outside of the handler, where the original error would stay in its context.
    raise broken.raised


async def aperform(
    effect: Effect, do: Callable[[], Awaitable[EffectResult]], door: Door
) -> EffectResult:
    """As `perform`, for an event loop; the host's functions are called in other threads."""
    refuse_quiet(effect)
    ledger = _choose_ledger(effect, door)
    if not ledger.asks_run:
        await aask_run(effect, door)
    effect = await asyncio.to_thread(examine_effect, effect) if current_governor() else effect
    known = _read_entry(effect, await ledger.abegin(effect))
    if known is not None:
        await atell(door, known.news)
        return _keep(effect, known.result_or_raise())
    try:
        if current_governor():
            await asyncio.to_thread(redeem_effect, effect)
        await arequire_allowed(effect, door)
        await atell(door, EffectNews(effect=effect, stage="begun"))
        with running(effect), traced(effect):
            result = await do()
        result = _make_storable(effect, result, ledger)
    except BaseException as error:
        broken = _Broken.of(effect, error)
        try:
            await ledger.afail(effect, broken.failure)
        except Exception as lost:  # noqa: BLE001 - the failure itself is what has to be told
            _log_lost_record(effect, lost)
        await atell_spent(door, effect, broken.failure.usage)
        if broken.news is not None:
            await atell(door, broken.news)
        if broken.raised is None:
            raise
    else:
        await ledger.afinish(effect, result)
        await atell_spent(door, effect, result.usage)
        await atell(door, EffectNews(effect=effect, stage="done", usage=result.usage))
        return _keep(effect, result)
    raise broken.raised


def _keep(effect: Effect, result: EffectResult) -> EffectResult:
    keep_result(effect, result)
    return result


_NOTHING_KEPT: Final = NothingKept()


def _choose_ledger(effect: Effect, door: Door) -> Ledger:
    if door.ledger is not None:
        return door.ledger
    if effect.once:
        found = find_ledger()
        if isinstance(found, str):
            raise make_refusal(
                effect,
                f"it may act at most once, and {found}",
                code="ledger_missing",
                hint="give a ledger: host_context(…, ledger=…), or keep the run in a RunStore",
            )
        return found
    return _NOTHING_KEPT if door.remembered is None else door.remembered


@dataclass(frozen=True, slots=True)
class _Known:
    """What the ledger says of an effect that is not to be made now."""

    news: EffectNews
    outcome: EffectResult | EffectUnknown

    def result_or_raise(self) -> EffectResult:
        if isinstance(self.outcome, EffectResult):
            return self.outcome
        raise self.outcome


def _read_entry(effect: Effect, entry: Entry) -> _Known | None:
    """None where the effect is to be made now.

    Raises: `EffectDiffers`.
    """
    if isinstance(entry, Stored):
        result = replace(entry.result, status="replayed")
        return _Known(EffectNews(effect=effect, stage="replayed", usage=result.usage), result)
    if isinstance(entry, Unknown):
        error = _make_unknown(effect, _read_cause(effect, entry))
        return _Known(EffectNews(effect=effect, stage="unknown"), error)
    if isinstance(entry, Differs):
        raise EffectDiffers(
            f"node '{effect.path}': the key of its effect belongs to another request",
            node=effect.node,
            path=effect.path,
            hint="the values that it is made of have changed since: start a new run",
        )
    return None


def _make_storable(effect: Effect, result: EffectResult, ledger: Ledger) -> EffectResult:
    """The result as a replay would give it; as it is where nothing is stored.

    Raises: `ValueRefused`.
    """
    if isinstance(ledger, NothingKept):
        return result
    where = f"the result of node '{effect.path}'"
    check_value(result.value, where=where)
    check_value(result.artifacts, where=where)
    return replace(
        result,
        value=_copy_clean(effect, result.value),
        artifacts=tuple(_copy_clean(effect, one) for one in result.artifacts),
    )


def _copy_clean(effect: Effect, value: JsonValue) -> JsonValue:
    copied: JsonValue = json.loads(json.dumps(value, default=dict))
    return cut_out(copied, effect.secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Broken:
    """What an error means for an effect that was begun."""

    failure: EffectFailure
    news: EffectNews | None
    """None for a pause, which is no failure."""
    raised: EffectUnknown | ChildWaits | None
    """Raised in place of the error, where the error itself does not say what is to be known."""

    @classmethod
    def of(cls, effect: Effect, error: BaseException) -> _Broken:
        if isinstance(error, GraphBubbleUp):
            return cls(failure=_PAUSED, news=None, raised=None)
        if _is_child_waiting(error):
            waits = _make_child_wait(effect, error)
            failure = read_failure(waits, effect.secrets)
            return cls(failure=failure, news=None, raised=waits)
        failure = read_failure(error, effect.secrets)
        refused = isinstance(error, (EffectRefused, ShownDiffers))
        if refused:
            failure = replace(failure, reached=False)
        unknown = effect.once and failure.reached
        news = EffectNews(
            effect=effect,
            stage="unknown" if unknown else "refused" if refused else "failed",
            usage=failure.usage,
            failure=failure,
        )
        # A cancellation and the end of the process must reach whoever asked for them.
        hidden = unknown and isinstance(error, Exception)
        return cls(
            failure=failure,
            news=news,
            raised=_make_unknown(effect, failure.message) if hidden else None,
        )


def _is_child_waiting(error: BaseException) -> bool:
    """Whether the host says that the run which the call began has not ended."""
    said = getattr(error, "status", None), getattr(error, "code", "")
    return isinstance(error, Exception) and said == (409, ChildWaits.code)


def _make_child_wait(effect: Effect, error: BaseException) -> ChildWaits:
    told = redact(str(error), tuple(effect.secrets))[:_LONGEST_CAUSE]
    return ChildWaits(
        f"node '{effect.path}' waits for a run that it began: {told}",
        node=effect.node,
        path=effect.path,
        hint="the run goes on by itself once that run has ended",
    )


def _read_cause(effect: Effect, entry: Unknown) -> str:
    """Why nobody knows, for the person who has to find out."""
    why: object = entry.why  # of any host's ledger
    told = redact(why, tuple(effect.secrets))[:_LONGEST_CAUSE] if isinstance(why, str) else ""
    return (
        f"an earlier attempt ended so: {told}" if told.strip() else "an earlier attempt was cut off"
    )


def _make_unknown(effect: Effect, why: str) -> EffectUnknown:
    return EffectUnknown(
        f"node '{effect.path}': it may act at most once, and it is unknown whether it did: {why}",
        node=effect.node,
        path=effect.path,
        hint="a person has to find out, and to settle it",
    )


def _log_lost_record(effect: Effect, error: Exception) -> None:
    # The row stays begun: a later activation takes it for cut off by a crash, which is right.
    log.error("the ledger did not take the failure of '%s': %s", effect.path, type(error).__name__)
