"""`oasflow resume --all`: goes on with the runs that nobody works on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from oas_compiler.cli import opening
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.next_steps import GivenOptions
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.engine.runtime_context import HostContext
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.sweeping import SweptRun


def resume_all(given: GivenOptions, *, watch: float | None, limit: int, as_json: bool) -> Exit:
    """One pass; with `watch`, a pass each so many seconds until the process is ended."""
    if watch is not None and as_json:
        raise Halt("--watch never ends, and --json prints one document: leave one of them out")
    if watch is not None and watch <= 0:
        raise Halt("--watch is a number of seconds above 0")
    terminal = Terminal.open(as_json=as_json)
    with opening.store(terminal, given.db, given.own) as store:
        while True:
            swept = _sweep(store, given, limit)
            _tell(terminal, swept, quiet=watch is not None)
            if watch is None:
                break
            time.sleep(watch)
    terminal.data({"runs": [_record(one) for one in swept]}, of_run=True)
    return Exit.FAILED if any(one.problem for one in swept) else Exit.OK


def _sweep(store: RunStore, given: GivenOptions, limit: int) -> list[SweptRun]:
    def lend(run: Run) -> HostContext | None:
        # The token of the environment belongs to the tenant that the command names.
        return opening.host(given.tenant, lends=run.tenant == given.tenant)

    return store.sweep(limit=limit, tenant=given.tenant or None, credentials_for=lend)


def _tell(terminal: Terminal, swept: list[SweptRun], *, quiet: bool) -> None:
    for one in swept:
        if one.problem:
            terminal.note(f"run {clean(one.run_id)} ({one.reason}) is left: {clean(one.problem)}")
        elif one.status:
            terminal.show(f"run {clean(one.run_id)} ({one.reason}): {one.status}")
    if not swept and not quiet:
        terminal.say("no run can go on that nobody works on")


def _record(one: SweptRun) -> dict[str, Any]:
    return {
        "id": one.run_id,
        "tenant": one.tenant,
        "reason": one.reason,
        "status": one.status or None,
        "problem": one.problem or None,
    }
