"""The questions before an effect, to policy and budget, and the news after it, for watchers.

In: an effect and the host's `Door`.  Out: nothing, or the error that refuses the effect.  The functions of
a host may fail: an error of a policy or a budget refuses the effect, and an error of a watcher is logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from langgraph.errors import GraphBubbleUp
from pydantic import JsonValue

from cinatra_sdk.errors import EffectRefused, FlowError, ShownDiffers
from cinatra_sdk.events import RunEvent, tell_event
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.outside.effects.door import Door, EffectNews, Verdict
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, Usage
from cinatra_sdk.outside.http_calls.call_headers import sending_trace

log = logging.getLogger("oasflow.effects")


def admit(effect: Effect, door: Door) -> None:
    """Ask everything but the ledger, for a node that makes its effect by itself.

    Raises: `EffectRefused`, `ShownDiffers`, and the errors of `door.before`.
    """
    ask_run(effect, door)
    require_allowed(effect, door)


async def aadmit(effect: Effect, door: Door) -> None:
    """As `admit`, for an event loop."""
    await aask_run(effect, door)
    await arequire_allowed(effect, door)


def ask_run(effect: Effect, door: Door) -> None:
    """Ask whether the run is still ours."""
    if door.before is not None:
        door.before(effect)


async def aask_run(effect: Effect, door: Door) -> None:
    """As `ask_run`, for an event loop."""
    if door.before is not None:
        await asyncio.to_thread(door.before, effect)


def require_allowed(effect: Effect, door: Door) -> None:
    """Ask the person's approval, the policy and the budget, in this order."""
    if effect.shown_sha256 and effect.shown_sha256 != effect.request_sha256:
        raise ShownDiffers(
            f"node '{effect.path}': a person approved something else than what would be sent",
            node=effect.node,
            path=effect.path,
            hint="it has to be shown again",
        )
    if door.allow is not None:
        _ask_policy(effect, door.allow)
    if door.spend is not None:
        _ask_budget(effect, door.spend)


async def arequire_allowed(effect: Effect, door: Door) -> None:
    """As `require_allowed`, for an event loop."""
    if door.allow is None and door.spend is None:
        require_allowed(effect, door)
    else:
        await asyncio.to_thread(require_allowed, effect, door)


def _ask_policy(effect: Effect, allow: Callable[[Effect], Verdict]) -> None:
    problem = ""
    try:
        verdict: Any = allow(effect)
    except Exception as error:  # noqa: BLE001 - the host's own code; whatever it raises refuses
        problem = f"the policy failed: {_describe_error(error)}"
    else:
        if not isinstance(verdict, Verdict):
            problem = f"the policy returned a {type(verdict).__name__} and no Verdict"
        elif not isinstance(verdict.reason, str):  # an error with a secret in it, perhaps
            problem = (
                f"the policy gave a {type(verdict.reason).__name__} as its reason, and no text"
            )
        elif verdict.allowed is not True:
            problem = f"the policy refuses it: {verdict.reason or 'it gives no reason'}"
    if problem:
        raise make_refusal(effect, problem, code="policy_refused")


def _ask_budget(effect: Effect, spend: Callable[[Effect], None]) -> None:
    problem = ""
    try:
        spend(effect)
    except Exception as error:  # noqa: BLE001 - the host's own code; whatever it raises refuses
        problem = f"the budget refuses it: {_describe_error(error)}"
    if problem:
        raise make_refusal(effect, problem, code="budget_refused")


def make_refusal(effect: Effect, why: str, *, code: str = "", hint: str = "") -> EffectRefused:
    """The error of an effect that was not made."""
    return EffectRefused(
        redact(f"node '{effect.path}' was not allowed to act: {why}", effect.secrets),
        node=effect.node,
        path=effect.path,
        hint=hint,
        code=code,
    )


def tell(door: Door, news: EffectNews) -> None:
    """Tell whoever watches."""
    _tell_run(door, news)
    if door.told is None:
        return
    try:
        door.told(news)
    except Exception as error:  # noqa: BLE001 - watching a run never changes it
        _log_stranger("a watcher of effects failed", news.effect, error)


async def atell(door: Door, news: EffectNews) -> None:
    """As `tell`, for an event loop."""
    if door.told is None:
        _tell_run(door, news)
    else:
        await asyncio.to_thread(tell, door, news)


def _tell_run(door: Door, news: EffectNews) -> None:
    """The news as events of the run."""
    if door.tell is None:
        return
    effect = news.effect
    path = effect.place or effect.path
    data: dict[str, JsonValue] = {
        "kind": effect.kind,
        "capability": effect.capability,
        "key": effect.key,
    }
    if news.failure is not None:
        data |= {"code": news.failure.code, "error": news.failure.message}
    tell_event(
        door.tell,
        RunEvent(kind="effect", name=news.stage, path=path, visit=effect.visit, data=data),
    )
    if news.usage is not None and news.stage != "replayed":
        used = news.usage.to_json()
        tell_event(
            door.tell,
            RunEvent(kind="usage", name="spent", path=path, visit=effect.visit, data=used),
        )


def tell_spent(door: Door, effect: Effect, usage: Usage | None) -> None:
    """Tell the budget what an effect used up; None: of one that failed nobody knows of anything."""
    if door.spent is None or usage is None:
        return
    try:
        door.spent(effect, usage)
    except Exception as error:  # noqa: BLE001 - the effect was made; its result must not be lost
        _log_stranger("the budget did not take what was used", effect, error)


async def atell_spent(door: Door, effect: Effect, usage: Usage | None) -> None:
    """As `tell_spent`, for an event loop."""
    if door.spent is not None and usage is not None:
        await asyncio.to_thread(tell_spent, door, effect, usage)


def _log_stranger(what: str, effect: Effect, error: Exception) -> None:
    # Its text and trace may quote the values of the run.
    log.error("%s at node '%s': %s", what, effect.path, type(error).__name__)


def _describe_error(error: Exception) -> str:
    """An error of the host's own code: in full where its text is made to be shown."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, FlowError) else name


# ----------------------------------------------------------------------------
# Code that says of itself that it does not act: an effect that it makes all the same is refused.
#
#     with refusing_effects():
#         …                        perform(effect, do, door)   ->  EffectRefused (kind_does_not_act)
#
# Rules, ledger, forks and the host's policy are asked of nodes that act.  A kind of a package that says it
# does not would pass by all of them.


_quiet: ContextVar[bool] = ContextVar("cinatra_quiet", default=False)


@contextmanager
def refusing_effects() -> Iterator[None]:
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def refuse_quiet(effect: Effect) -> None:
    """Raises: `EffectRefused` inside of `refusing_effects`."""
    if _quiet.get():
        raise make_refusal(
            effect,
            "the kind of the node says that it does not act",
            code="kind_does_not_act",
            hint="NodeKind(acts=True), and NodeBody(acts=True, performs=True)",
        )


# ----------------------------------------------------------------------------
# The rules of a governed run, which every effect of its nodes is put before.
#
#     with governed_by(governor):
#         perform(effect, do, door)      governor.examine, then the ledger, then governor.redeem, then the call
#
# A context variable, because a node's code reaches the door by many ways, and none may lead past the
# rules.  `cinatra_sdk.governance` has the governors; here is what the door has to know of them.


class Governor(Protocol):
    """The rules of one visit of a node."""

    def examine(self, effect: Effect) -> Effect:
        """The effect with what the rules say of it, for its record; nothing is spent."""
        ...

    def redeem(self, effect: Effect) -> None:
        """Let it through, right before the call.

        Raises: `EffectRefused`; `GateNeeded` where a person has to approve it first.
        """
        ...

    def list_headers(self, effect: Effect) -> Mapping[str, str]:
        """Headers of the call: its place in the trace of the run."""
        ...

    def keep(self, effect: Effect, result: EffectResult) -> None:
        """Told what came of it, also where the ledger knew."""
        ...


class GateNeeded(GraphBubbleUp):
    """A person has to approve the effect first: the node asks, and begins again."""

    def __init__(self, asked: dict[str, JsonValue]) -> None:
        super().__init__()
        self.asked = asked
        """`{"gate", "snapshot_hash", "capability", "arguments", "mode", "evidence"}`."""


class EvidenceMissing(GraphBubbleUp):
    """A run is carried out again from its evidence, which has no result of this effect.

    No failure that a flow could catch, and no answer of a call: the replay ends here.
    """

    def __init__(self, effect: Effect) -> None:
        super().__init__(f"the evidence has no result of '{effect.place or effect.path}'")
        self.effect = effect


_governor: ContextVar[Governor | None] = ContextVar("cinatra_governor", default=None)


def current_governor() -> Governor | None:
    return _governor.get()


@contextmanager
def governed_by(governor: Governor) -> Iterator[None]:
    """Around the code of a node."""
    token = _governor.set(governor)
    try:
        yield
    finally:
        _governor.reset(token)


def examine_effect(effect: Effect) -> Effect:
    governor = _governor.get()
    return effect if governor is None else governor.examine(effect)


def redeem_effect(effect: Effect) -> None:
    governor = _governor.get()
    if governor is not None:
        governor.redeem(effect)


@contextmanager
def traced(effect: Effect) -> Iterator[None]:
    """Around the call itself: whoever is called finds the trace of the run."""
    governor = _governor.get()
    if governor is None:
        yield
        return
    with sending_trace(governor.list_headers(effect)):
        yield


def keep_result(effect: Effect, result: EffectResult) -> None:
    governor: Any = _governor.get()
    if governor is not None:
        governor.keep(effect, result)
