"""`oasflow stop` and `oasflow pause`: ends runs in any state, or has nobody go on with one for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.text import Text

from cinatra_sdk.errors import FlowError
from oas_compiler.cli.ask.batch import TargetOutcome, confirm, show_heading, tell_outcomes
from oas_compiler.cli.ask.decision import lend_signer, tell_unsigned
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import StoreOptions
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.layout import unbroken
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.runs import Run


def stop(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Runs; several are shown first, then stopped."),
    ],
    *,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Stop several without asking; without a terminal they need it."),
    ] = False,
    reason: options.Reason = "",
    by: Annotated[
        str,
        typer.Option("--as", "--by", metavar="NAME", help="Who stops it; default: your user name."),
    ] = "",
    host: options.Host = "",
    where: StoreOptions,
) -> Exit:
    """End runs for good, without a decision; nothing of them acts any more.

    Also a run that another process is driving, or whose file cannot be compiled any more.
    One that is stopped already stays as it is.  At a terminal one Enter stops several that were shown; without a terminal several need --yes.
    Of --host only its signer is used, for the records of governed runs, and its policy (may).
    """
    from cinatra_sdk.api.run_json import make_run
    from oas_compiler.cli.view.run_view import outcome_view

    terminal = where.open_terminal()
    who = resources.person(by)
    reason = options.drop_placeholder(terminal, reason)
    for run in runs:
        options.refuse_empty_run(run)
    if len(runs) > 1 and not yes and not terminal.asks:
        # Nobody sees what is shown, and a pattern of the shell may have named the runs.
        raise Halt(f"without a terminal nobody is asked: --yes stops these {len(runs)} runs")
    whose = where.owner
    with resources.store(terminal, where.db) as opened:
        parts = lend_signer(terminal, opened, host)
        store = resources.act_as(opened, who, where.tenant, parts)

        def end(found: str) -> Run:
            ended = store.stop(found, by=who, reason=reason, tenant=whose)
            tell_unsigned(terminal, store, found, host)
            return ended

        if len(runs) > 1:
            return _stop_several(terminal, store, runs, end, whose, asks=not yes)
        found = store.find(runs[0], tenant=whose, to_act=True)
        over = store.get(found, tenant=whose).status == "stopped"
        ended = end(found)
    if over:
        terminal.note("the run was stopped already, and stays as it was")
    terminal.show(outcome_view(ended, where.given))
    terminal.data(make_run(ended), of_run=True)
    return Exit.OK


def _stop_several(
    terminal: Terminal,
    store: RunStore,
    runs: list[str],
    end: Callable[[str], Run],
    tenant: str | None,
    *,
    asks: bool,
) -> Exit:
    """Show each run, ask once where `asks`, and stop each."""
    from oas_compiler.cli.view.run_view import gate_view

    outcomes: list[TargetOutcome] = []
    for number, typed in enumerate(runs, 1):
        outcome = TargetOutcome(target=typed)
        try:
            run = _find_another(store, typed, tenant, outcomes)
        except (FlowError, Halt) as error:
            outcome.refuse(error)
            refused = f"{number} of {len(runs)} · refused: {typed}"
            terminal.say("", unbroken(Text(clean(refused), "dim")))
        else:
            outcome.target, outcome.run = run.id, run
            show_heading(terminal, f"{number} of {len(runs)}", run)
            terminal.say(*(gate_view(gate) for gate in run.waiting))
        outcomes.append(outcome)
    shown = [one for one in outcomes if one.run is not None]
    which, them = ("this run", "it") if len(shown) == 1 else (f"these {len(shown)} runs", "them")
    question = f"stop {which} [Enter], leave {them} [q]: "
    if shown and (not asks or confirm(terminal, question)):
        _stop_shown(shown, end)
    return tell_outcomes(terminal, outcomes)


def _find_another(
    store: RunStore, typed: str, tenant: str | None, before: list[TargetOutcome]
) -> Run:
    """The run that is meant; raises `Halt` for one that stands before."""
    run = store.get(store.find(typed, tenant=tenant, to_act=True), tenant=tenant)
    if any(one.target == run.id for one in before):
        raise Halt(f"'{typed}' is a run that is named before")
    return run


def _stop_shown(shown: list[TargetOutcome], end: Callable[[str], Run]) -> None:
    for one in shown:
        try:
            one.run, one.did, one.exit = end(one.target), "stopped", Exit.OK
        except FlowError as error:
            one.refuse(error)


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
