"""`oasflow runs` and `oasflow show`: runs in the database."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cinatra_sdk.contract import ENDED
from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.next_steps import GivenOptions
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.lacking import Lacking


class RunStatus(StrEnum):
    """As `cinatra_sdk.governed.state.Status`, for typer to list."""

    running = "running"
    waiting = "waiting"
    completed = "completed"
    rejected = "rejected"
    failed = "failed"
    stopped = "stopped"


def runs(
    *,
    status: Annotated[RunStatus | None, typer.Option(help="Only runs in this status.")] = None,
    flow: options.FlowName = "",
    started_by: options.StartedBy = "",
    older_than: options.OlderThan = "",
    newer_than: options.NewerThan = "",
    limit: Annotated[int, typer.Option(min=1, help="How many, the latest change first.")] = 100,
    after: options.After = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List runs, the latest change first."""
    from oas_compiler.cli.records import run_summary
    from oas_compiler.cli.tables import runs_table

    terminal = Terminal.open(as_json=as_json)
    wanted = options.filters(flow, started_by, older_than, newer_than)
    with opening.store(terminal, db) as store:
        page = store.page(
            status=None if status is None else status.value,
            tenant=tenant or None,
            limit=limit,
            after=after,
            **wanted,
        )
        found = page.items
        now = store.database.now()
        unknown = {
            run.id: [call.key for call in store.unknown(run.id)]
            for run in found
            if _has_unknown(run)
        }
        if not found:
            opening.refuse_unknown_flow(store, flow)
    listed = [run_summary(run, unknown.get(run.id, ())) for run in found]
    terminal.data({"runs": listed, "next": page.next or None}, of_run=True)
    if found:
        terminal.show(runs_table(found, now, unknown))
    else:
        terminal.say("no runs")
    options.tell_more(terminal, page.next)
    return Exit.OK


def _has_unknown(run: Run) -> bool:
    """Whether the run waits for a person's word on a call."""
    return run.status not in ENDED and (run.error or {}).get("code") == "effect_unknown"


def show(
    run: options.RunId,
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Cut no text, list or table, however long.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Everything that happened in it, in its order.")
    ] = False,
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Show everything about a run.

    Status, inputs, outputs, decisions, chosen context, error, and the waiting gates with how to
    answer them.
    """
    from cinatra_sdk.store.artifacts import ArtifactStore
    from oas_compiler.cli.about import is_simulated_for_nothing, list_asked
    from oas_compiler.cli.artifact_names import artifact_names
    from oas_compiler.cli.follow import show_events
    from oas_compiler.cli.records import chosen_record, decision_record, run_record
    from oas_compiler.cli.render import run_view
    from oas_compiler.cli.values import Extent

    terminal = Terminal.open(as_json=as_json)
    options.refuse_empty_run(run)
    with opening.store(terminal, db) as store:
        found = store.get(store.find(run, tenant=tenant or None))
        if events:
            return show_events(terminal, store.told(found.id))
        decisions = store.decisions(found.id)
        unknown, settled = store.unknown(found.id), store.settlements(found.id)
        usage = store.usage(found.id)
        chosen = ArtifactStore(store.database).chosen_in(found.id)
        names = artifact_names(store, found)
        whole_source = b"" if as_json else store.source(found.id)
        source = b"" if found.status in ENDED else whole_source
        now = store.database.now()
    if as_json:
        records = {
            "decisions": [decision_record(row) for row in decisions],
            "context_selections": [chosen_record(one) for one in chosen],
            "unknown": [call.to_json() for call in unknown],
            "settlements": [word.to_json() for word in settled],
            "models": [one.to_json() for one in usage],
        }
        terminal.data({**run_record(found), **records}, of_run=True)
        return Exit.OK
    given = GivenOptions(tenant=tenant, db=db)
    needed = _find_lacking(found, given, source)
    extent = Extent(whole=full, way=f"{given.command('show', found.id, '--full')} has all")
    view = run_view(
        found, decisions, chosen, now, names=names, needed=needed, extent=extent, unknown=unknown,
        settled=settled, usage=usage, asked=list_asked(found, source, given.own),
        makes_calls=not is_simulated_for_nothing(found, whole_source),
    )  # fmt: skip
    terminal.show(view)
    broken = [(one.gate_id, problem) for one in decisions for problem in one.unreadable]
    broken += [(one.key, problem) for one in unknown for problem in one.unreadable]
    broken += [(one.key, problem) for one in settled for problem in one.unreadable]
    for name, problem in broken:
        terminal.note(clean(f"cannot be read: {name}: {problem}"))
    return Exit.OK


def _find_lacking(run: Run, given: GivenOptions, source: bytes) -> Lacking:
    """The options that a command which continues the run needs in addition to this command's."""
    from oas_compiler.cli.lacking import Lacking, lacking

    if run.status in ENDED:
        return Lacking((), given)
    try:
        return lacking(run, given, source)
    except Halt:  # a wrong setting of this process: continuing the run reports it
        return Lacking((), given)
