"""One question to a provider, tried as often as its config says, each try within its time.

    ask_again(config, lambda: model.invoke(messages))        waits and tries again on 429, 5xx, …

Between tries it waits longer each time, by the config's jitter, so that many runs do not come back at
one moment.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.outside.effects.effect import walk_causes

# ----------------------------------------------------------------------------
# What an error of a provider's client says: its status, and whether a later try may help.
#
#     429, 5xx but 501, a lost connection, a timeout      try again
#     400, 401, 403, 404, 422, 501, a certificate         never
#
# Clients have no error in common, so the status is looked for where they keep it, and the class name
# counts where there is none.


_NEVER: Final = frozenset({400, 401, 403, 404, 422, 501})
_LOST: Final = frozenset(
    {
        "APIConnectionError", "APITimeoutError", "ConnectError", "ConnectTimeout", "ReadError",
        "ReadTimeout", "RemoteProtocolError", "WriteError", "WriteTimeout", "PoolTimeout",
        "TimeoutException", "DeadlineExceeded", "EndpointConnectionError", "ReadTimeoutError",
        "ConnectTimeoutError", "ConnectionClosedError",
    }
)  # fmt: skip
"""Class names of errors of a connection."""
_BUSY: Final = {
    "RateLimitError": 429, "ThrottlingException": 429, "ResourceExhausted": 429,
    "InternalServerError": 500, "OverloadedError": 529, "ServiceUnavailable": 503,
    "ServiceUnavailableError": 503, "ModelNotReadyException": 503,
}  # fmt: skip
"""Class names that stand for a status."""


class ModelUnreachable(ConnectionError):
    """No model answered, and a later try may; made of the client's error, without its words."""


def read_status(error: BaseException) -> int | None:
    """The HTTP status that the error, or one that it was made from, is about."""
    for one in walk_causes(error):
        response = getattr(one, "response", None)
        for held in (one, response):
            for name in ("status_code", "http_status", "status", "code"):
                value = getattr(held, name, None)
                if type(value) is int and 100 <= value < 600:
                    return value
        if isinstance(response, dict):  # of Amazon's clients
            found = (response.get("ResponseMetadata") or {}).get("HTTPStatusCode")
            if type(found) is int:
                return found
    names = (type(one).__name__ for one in walk_causes(error))
    return next((_BUSY[name] for name in names if name in _BUSY), None)


def is_worth_retrying(error: BaseException, rules: CallRetryPolicy) -> bool:
    """Whether the rules allow another try after the error."""
    if any(
        isinstance(one, ssl.SSLError) or "CERTIFICATE" in str(one) for one in walk_causes(error)
    ):
        return False
    status = read_status(error)
    if status is None:
        return is_lost(error)
    return status not in _NEVER and rules.recovers(status, _read_code(error))


def is_lost(error: BaseException) -> bool:
    """Whether the connection was lost, or took too long."""
    return any(
        isinstance(one, (ConnectionError, TimeoutError)) or type(one).__name__ in _LOST
        for one in walk_causes(error)
    )


def _read_code(error: BaseException) -> str:
    """The provider's own code of the error; empty where it has none."""
    found = (getattr(one, "code", None) for one in walk_causes(error))
    return next((code for code in found if isinstance(code, str)), "")


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
