"""`langgraph dev`, which looks for a run that waits fifty times a second instead of twice.

Every request of a test would wait for that half a second, twice.  Nothing else of it is changed.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph_cli.cli import cli

PAUSE = 0.5
"""Of `langgraph_runtime_inmem.ops.Runs.next`, where the run before it has begun."""

_sleep = asyncio.sleep


async def sleep_less(delay: float, result: Any = None) -> Any:
    return await _sleep(0.02 if delay == PAUSE else delay, result)


if __name__ == "__main__":
    asyncio.sleep = sleep_less
    cli()
