"""`oasflow follow`: what happens in a run, as it happens; also what `oasflow show --events` prints.

In: events of a run.  Out: a line for each, or with `--json` a line of JSON for each.

    12  10:31:07  node finished  Recipients/review
    13  10:31:07  run waiting
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, Halt, exit_of
from oas_compiler.cli.layout import unbroken
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.events.event import RunEvent

_SHOWN: Final = ("by", "reason", "code", "error", "capability", "content", "attempt")
"""Members of an event that its line shows."""
_LONGEST: Final = 120


def follow(
    run: options.RunId,
    *,
    after: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Only what has a higher number.")
    ] = 0,
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Print what happens in a run, as it happens, until the run has ended.

    With --json each line is one event.  Ctrl-C ends the printing and nothing else.
    """
    from oas_compiler.cli.records import event_record

    terminal = Terminal.open(as_json=as_json)
    if not run:
        raise Halt("the run id is empty")
    with opening.store(terminal, db) as store:
        found = store.find(run, tenant=tenant or None)
        for event in store.events(found, after=after, follow=True):
            if as_json:
                typer.echo(json.dumps(event_record(event)))
            else:
                terminal.show(format_event(event))
        return exit_of(store.get(found))


def show_events(terminal: Terminal, events: Iterable[RunEvent]) -> Exit:
    """Print stored events; with --json as one document."""
    from oas_compiler.cli.records import event_record

    told = list(events)
    terminal.data({"events": [event_record(event) for event in told]}, of_run=True)
    for event in told:
        terminal.show(format_event(event))
    return Exit.OK


def format_event(event: RunEvent) -> Text:
    at = "" if event.at is None else event.at.astimezone().strftime("%H:%M:%S")
    visit = f" (visit {event.visit})" if event.visit > 1 else ""
    line = Text.assemble(
        (f"{event.seq or '':>5}  {at:8}  ", "dim"),
        clean(f"{event.kind} {event.name}"),
        clean(f"  {event.path}{visit}") if event.path else "",
    )
    more = "; ".join(str(event.data[name]) for name in _SHOWN if event.data.get(name))
    if more:
        line.append(f"  {cut(clean(more), _LONGEST)}", "dim")
    return unbroken(line)
