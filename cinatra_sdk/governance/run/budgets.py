"""The budget of a governed run: the least of packs, tenant and request; later changes by the host.

limit_budget(envelope, defaults, tenant)           ->  RunBudget(max_tool_calls=2, …)
narrow_budgets([one, other])                       ->  the least of each member
follow_budget(admitted, then=one, now=another)     ->  more, only where the host has raised it since
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from cinatra_sdk.governance.contracts.invocation import BucketTokens, InvokeAgent, RunBudget
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.light_imports.records import dataclass

DEFAULT_BUDGET: Final = RunBudget(
    total_tokens=12_000,
    bucket_tokens=BucketTokens(
        policy=1800, tool=1500, evidence=3500, memory=1500, business=1500, session=2200
    ),
    max_tool_calls=8,
    max_replan_attempts=2,
    wall_clock_ms=30_000,
    max_cost_cents=25.0,
)
"""Of a run whose packs name none."""


def limit_budget(
    envelope: InvokeAgent, defaults: Iterable[Any], tenant: RunBudget | None
) -> RunBudget:
    """The least of what packs, tenant and request say; a hint never raises anything."""
    limits = [one.run_budget for one in defaults if one.run_budget is not None]
    limits = limits or [DEFAULT_BUDGET]
    limits += [] if tenant is None else [tenant]
    hints = envelope.runtime
    least = narrow_budgets(limits)
    times = [one for one in (hints.max_session_duration_ms,) if one is not None]
    return least.model_copy(
        update={
            "max_tool_calls": min(least.max_tool_calls, hints.max_tool_calls)
            if hints.max_tool_calls is not None
            else least.max_tool_calls,
            "max_cost_cents": min(least.max_cost_cents, hints.max_cost_cents)
            if hints.max_cost_cents is not None
            else least.max_cost_cents,
            "wall_clock_ms": min([least.wall_clock_ms, *times]),
        }
    )


def narrow_budgets(limits: list[RunBudget]) -> RunBudget:
    """The least of each."""
    return _combine(min, limits)


def follow_budget(
    admitted: RunBudget, *, then: RunBudget | None, now: RunBudget | None
) -> RunBudget:
    """The budget of a run that goes on.

    admitted: what it began with.  then: the host's own limit at that moment, None where it had none.
    now: the host's limit today.  A member follows the host where the host has raised it since; a
    limit that stayed, or was lowered, only narrows.
    """
    if now is None:
        return admitted
    return _combine(_follow, [admitted, then or admitted, now])


def _follow(members: Iterable[float]) -> float:
    admitted, then, now = members
    return now if now > max(then, admitted) else min(admitted, now)


def _combine(choose: Callable[[Iterable[Any]], Any], budgets: list[RunBudget]) -> RunBudget:
    buckets = {
        name: choose(getattr(one.bucket_tokens, name) for one in budgets)
        for name in BucketTokens.model_fields
    }
    members = {
        name: choose(getattr(one, name) for one in budgets)
        for name in RunBudget.model_fields
        if name not in {"bucket_tokens", "max_cost_cents"}
    }
    cents = float(choose(one.max_cost_cents for one in budgets))
    return RunBudget(bucket_tokens=BucketTokens(**buckets), max_cost_cents=cents, **members)


# ----------------------------------------------------------------------------
# What a governed run has used up, and whether something more may be spent.
#
#     usage.reserve(budget, tool_calls=1, cost_cents=0.3)      before a call: raises, and counts nothing
#     usage.hold("gate", budget, Wanted(tool_calls=1))         before a question: nobody else spends it
#     usage.add(tokens=…)                                      after it: what it took besides
#     RunUsage(within=Allowance(usage, budget))                a child: what it spends, its parent has spent
#
# Counted before it is spent, so that a call which would exceed the budget is not made.


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    tokens: int = 0
    tool_calls: int = 0
    cost_cents: float = 0.0
    wall_clock_ms: int = 0
    """Of work; time in which a person thinks does not count."""
    replans: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one call is going to spend."""

    tokens: int = 0
    tool_calls: int = 0
    cost_cents: float = 0.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """The budget of a parent, from which its children spend too."""

    usage: RunUsage
    budget: RunBudget


class RunUsage:
    """The counters of one run; safe to share between threads."""

    def __init__(
        self,
        used: Used | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        within: Allowance | None = None,
        held: Mapping[str, Wanted] | None = None,
    ) -> None:
        """used: by earlier activations.  clock: in seconds.  within: what the parent may spend.
        held: for calls of which persons were asked by then.
        """
        self._used = used or Used()
        self._held = dict(held or {})
        self._within = within
        if within is not None:
            within.usage.hold_again(self._held)
        self._lock = threading.Lock()
        self._clock = clock
        self._since: float | None = None

    def read(self) -> Used:
        with self._lock:
            return self._read()

    def _read(self) -> Used:
        if self._since is None:
            return self._used
        passed = max(0, round((self._clock() - self._since) * 1000))
        return replace(self._used, wall_clock_ms=self._used.wall_clock_ms + passed)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around work: its time counts."""
        with self._lock:
            began = self._since is None
            if began:
                self._since = self._clock()
        try:
            yield
        finally:
            if began:
                with self._lock:
                    self._used, self._since = self._read(), None

    def reserve(
        self,
        budget: RunBudget,
        *,
        tokens: int = 0,
        tool_calls: int = 0,
        cost_cents: float = 0.0,
        replans: int = 0,
        held: str = "",
    ) -> None:
        """Count what is about to be spent.  held: the name under which it was held, if it was.

        Raises: `GovernanceRefused` (BUDGET_EXCEEDED), which names what is used up; nothing is counted.
        """
        wanted = Wanted(tokens=tokens, tool_calls=tool_calls, cost_cents=cost_cents)
        with self._lock, self._letting_go(held):
            now = self._require_room(budget, wanted)
            _require_left("replans", now.replans + replans, budget.max_replan_attempts)
            self._reserve_above(
                tokens=tokens, tool_calls=tool_calls, cost_cents=cost_cents, held=held
            )
            self._used = replace(
                self._used,
                tokens=self._used.tokens + tokens,
                tool_calls=self._used.tool_calls + tool_calls,
                cost_cents=round(self._used.cost_cents + cost_cents, 6),
                replans=self._used.replans + replans,
            )

    def _require_room(self, budget: RunBudget, wanted: Wanted) -> Used:
        """What is used up now, where there is room for more beside all that is held."""
        now, every = self._read(), [*self._held.values(), wanted]
        calls = now.tool_calls + sum(one.tool_calls for one in every)
        _require_left("tool calls", calls, budget.max_tool_calls)
        _require_left("tokens", now.tokens + sum(one.tokens for one in every), budget.total_tokens)
        cents = round(now.cost_cents + sum(one.cost_cents for one in every), 6)
        _require_left("cents", cents, budget.max_cost_cents)
        _require_left("milliseconds of work", now.wall_clock_ms, budget.wall_clock_ms)
        return now

    def hold(self, name: str, budget: RunBudget, wanted: Wanted) -> None:
        """Keep it for a call of which a person is asked now; nobody else may spend it meanwhile, also
        of what the parent has left.  name: unlike any other of the parent and its children.

        Raises: `GovernanceRefused` (BUDGET_EXCEEDED), and nothing is held.
        """
        above = self._within
        with self._lock, self._letting_go(name):
            self._require_room(budget, wanted)
            if above is not None:
                above.usage.hold(name, above.budget, wanted)
            self._held[name] = wanted

    @contextmanager
    def _letting_go(self, name: str) -> Iterator[None]:
        """What is held under the name makes room here; above only in the step that takes it again, so
        that no other child takes it in between.
        """
        self._held.pop(name, None)
        try:
            yield
        except GovernanceRefused:
            if self._within is not None:
                self._within.usage.give_back(name)
            raise

    def hold_again(self, held: Mapping[str, Wanted]) -> None:
        """What a child held in another process: of it persons were asked, so nobody refuses it now."""
        with self._lock:
            self._held.update(held)
        if self._within is not None:
            self._within.usage.hold_again(held)

    def give_back(self, name: str) -> None:
        """The person said no."""
        with self._lock:
            self._held.pop(name, None)
        if self._within is not None:
            self._within.usage.give_back(name)

    def list_held(self) -> dict[str, Wanted]:
        with self._lock:
            return dict(self._held)

    def settle(self, *, reserved: int, spent: int) -> None:
        """Tokens of a call that was made: what it took, in place of what was reserved for it."""
        spent = max(0, spent)
        if spent >= reserved:
            self.add(tokens=spent - reserved)
            return
        if self._within is not None:
            self._within.usage.settle(reserved=reserved, spent=spent)
        with self._lock:
            left = max(0, self._used.tokens - (reserved - spent))
            self._used = replace(self._used, tokens=left)

    def _reserve_above(self, **wanted: Any) -> None:
        above = self._within
        if above is not None:
            above.usage.reserve(above.budget, **wanted)

    def add(self, *, tokens: int = 0, tool_calls: int = 0, cost_cents: float = 0.0) -> None:
        """Count what was spent beyond what was reserved, or before this process knew of the run.

        Whoever was called says how much: less than nothing, or no number, is nothing.
        """
        tokens, tool_calls = max(0, tokens), max(0, tool_calls)
        cost_cents = max(0.0, cost_cents)  # also of NaN, which is not greater
        if self._within is not None:
            self._within.usage.add(tokens=tokens, tool_calls=tool_calls, cost_cents=cost_cents)
        with self._lock:
            self._used = replace(
                self._used,
                tokens=self._used.tokens + tokens,
                tool_calls=self._used.tool_calls + tool_calls,
                cost_cents=round(self._used.cost_cents + cost_cents, 6),
            )


def _require_left(what: str, wanted: float, most: float) -> None:
    if wanted > most:
        raise GovernanceRefused(
            "BUDGET_EXCEEDED", f"{wanted:g} {what} would exceed the {most:g} of the run's budget"
        )


# ----------------------------------------------------------------------------
# A call that may take so long and no longer.
#
#     call_within(15_000, planner, request)      ->  what it gives; `GovernanceRefused` (TIMEOUT) after 15 s
#
# Python cannot stop a thread: what was too late goes on by itself, and its result is dropped.  The
# receiver of a write knows the call by its idempotency key, and so the next attempt.


def call_within(milliseconds: int, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What the function gives, awaited where it is awaitable.

    Raises: `GovernanceRefused` (TIMEOUT); what the function raises.
    """
    context = contextvars.copy_context()
    done = threading.Event()
    ended: dict[str, Any] = {}

    def work() -> None:
        try:
            ended["value"] = context.run(_call, function, args, named)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            ended["error"] = error
        done.set()

    threading.Thread(target=work, name="oasflow-call", daemon=True).start()
    # A longer wait than Python's longest would be an error while the call goes on.
    if not done.wait(min(milliseconds / 1000, threading.TIMEOUT_MAX)):
        raise GovernanceRefused("TIMEOUT", f"it took longer than {milliseconds} ms")
    if "error" in ended:
        raise ended["error"]
    return ended["value"]


def _call(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    made = function(*args, **named)
    if inspect.isawaitable(made):

        async def wait() -> Any:
            return await made

        return asyncio.run(wait())
    return made
