"""`oasflow stop`: ends a run in any state."""

from __future__ import annotations

from typing import Annotated

import typer

from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.terminal import Terminal


def stop(
    run: options.RunId,
    *,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; kept for good.")
    ] = "",
    by: Annotated[
        str,
        typer.Option("--as", "--by", metavar="NAME", help="Who stops it; default: your user name."),
    ] = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """End a run for good, without a decision; nothing of it acts any more.

    Also a run that another process is driving, or whose file cannot be compiled any more.
    One that is stopped already stays as it is.
    """
    from oas_compiler.cli.next_steps import GivenOptions
    from oas_compiler.cli.records import run_record
    from oas_compiler.cli.render import outcome_view

    terminal = Terminal.open(as_json=as_json)
    who = opening.person(by)
    if not run:
        raise Halt("the run id is empty")
    with opening.store(terminal, db) as store:
        whose = tenant or None
        found = store.find(run, tenant=whose, to_act=True)
        over = store.get(found, tenant=whose).status == "stopped"
        ended = store.stop(found, by=who, reason=reason, tenant=whose)
    if over:
        terminal.note("the run was stopped already, and stays as it was")
    terminal.show(outcome_view(ended, GivenOptions(tenant=tenant, db=db)))
    terminal.data(run_record(ended), of_run=True)
    return Exit.OK
