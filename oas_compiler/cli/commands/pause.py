"""`oasflow pause`: nobody goes on with a run until a person does."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import StoreOptions
from oas_compiler.cli.terminal.exits import Exit

Pauser: TypeAlias = Annotated[
    str,
    typer.Option("--as", "--by", metavar="NAME", help="Who pauses it; default: your user name."),
]


def pause(
    run: options.RunId, *, by: Pauser = "", host: options.Host = "", where: StoreOptions
) -> Exit:
    """Let nobody go on with a run until a person does, by oasflow resume.

    Also a run that another process is driving: it ends the calls that it has begun and stops before its next step.
    The run keeps what it did, its gates take answers, and these are carried out when it goes on.
    Of --host only its policy (may) is used.
    """
    from cinatra_sdk.api.run_json import make_run
    from oas_compiler.cli.view.run_view import outcome_view

    terminal = where.open_terminal()
    who = resources.person(by)
    options.refuse_empty_run(run)
    parts = resources.find_parts(host)
    with resources.store(terminal, where.db) as opened:
        store = resources.act_as(opened, who, where.tenant, parts)
        found = store.find(run, tenant=where.owner, to_act=True)
        before = store.get(found, tenant=where.owner)
        paused = store.pause(found, by=who, tenant=where.owner)
    if before.paused_at is not None:
        terminal.note("the run was paused already, and stays as it was")
    terminal.show(outcome_view(paused, where.given))
    terminal.data(make_run(paused), of_run=True)
    return Exit.OK
