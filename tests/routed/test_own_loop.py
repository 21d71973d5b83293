"""The event loop of routes, in this process and in one that is forked from it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, os, signal, sys
from cinatra_sdk.outside import routes

async def double(number):
    await asyncio.sleep(0)
    return 2 * number

assert routes.finish(double(1)) == 2
if sys.argv[1] == "held":
    routes._Turns.lock.acquire()  # as another thread may at the moment of the fork
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends the child where it would wait for ever
    os._exit(routes.finish(double(3)) + asyncio.run(routes.afinish(double(4))))
status = os.waitpid(child, 0)[1]
if sys.argv[1] == "held":
    routes._Turns.lock.release()
print(os.waitstatus_to_exitcode(status), routes.finish(double(5)))
"""


@pytest.mark.parametrize("lock", ["free", "held"])
def test_a_route_that_awaits_answers_in_a_forked_process_too(lock: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, lock], capture_output=True, text=True, check=True
    )
    assert done.stdout == "14 10\n"
