"""One question to a provider, tried as often as its config says, each try within its time.

    ask_again(config, lambda: model.invoke(messages))        waits and tries again on 429, 5xx, …

Between tries it waits longer each time, by the config's jitter, so that many runs do not come back at
one moment.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from cinatra_sdk.models.failures import is_worth_retrying, read_status
from cinatra_sdk.values.retry_policy import CallRetryPolicy

_T = TypeVar("_T")
_RANDOM: Final = random.SystemRandom()


def _jitter(spread: float) -> float:
    return _RANDOM.random() * spread


def ask_again(
    rules: CallRetryPolicy, attempt: Callable[[], _T], *, between: Callable[[], None]
) -> _T:
    """What `attempt` returns, tried again where that may help.

    between: called before each further try.

    Raises: the error of the last try.
    """
    tries = 0
    while True:
        try:
            return _within(rules.request_timeout, attempt)
        except Exception as error:
            if tries >= rules.retries or not is_worth_retrying(error, rules):
                raise
            pause = rules.backoff(tries, status=read_status(error)).seconds(_jitter)
        tries += 1
        time.sleep(pause)
        between()


async def aask_again(
    rules: CallRetryPolicy, attempt: Callable[[], Awaitable[_T]], *, between: Callable[[], None]
) -> _T:
    """As `ask_again`, for an event loop."""
    tries = 0
    while True:
        try:
            async with asyncio.timeout(rules.request_timeout):
                return await attempt()
        except Exception as error:
            if tries >= rules.retries or not is_worth_retrying(error, rules):
                raise
            pause = rules.backoff(tries, status=read_status(error)).seconds(_jitter)
        tries += 1
        await asyncio.sleep(pause)
        between()


def _within(seconds: float | None, attempt: Callable[[], _T]) -> _T:
    """What `attempt` returns; given up after the time, also where the client does not give up."""
    if seconds is None:
        return attempt()
    outcome: dict[str, Any] = {}

    def work() -> None:
        try:
            outcome["value"] = attempt()
        except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
            outcome["error"] = error

    # A daemon: a client that hangs must not keep the process from ending.
    inside = contextvars.copy_context()
    thread = threading.Thread(target=inside.run, args=(work,), name="oasflow-model", daemon=True)
    thread.start()
    thread.join(seconds)
    if "error" in outcome:
        raise outcome["error"]
    if "value" not in outcome:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    value: _T = outcome["value"]
    return value
