"""A call that may take so long and no longer.

    call_within(15_000, planner, request)      ->  what it gives; `GovernanceRefused` (TIMEOUT) after 15 s

Python cannot stop a thread: what was too late goes on by itself, and its result is dropped.  The
receiver of a write knows the call by its idempotency key, and so the next attempt.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import Any

from cinatra_sdk.governance.refusals import GovernanceRefused


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
