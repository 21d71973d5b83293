"""`oasflow runs` and `oasflow show`: runs in the database."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from cinatra_sdk.contract import ENDED
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import StoreOptions
from oas_compiler.cli.terminal.exits import Exit, exit_of
from oas_compiler.cli.terminal.layout import Pieces
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.events import RunEvent
    from cinatra_sdk.runs import Run


class RunStatus(StrEnum):
    """As `cinatra_sdk.contract.Status`, for typer to list."""

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
    where: StoreOptions,
) -> Exit:
    """List runs, the latest change first."""
    from cinatra_sdk.api.page_json import make_run_page
    from oas_compiler.cli.view.tables import runs_table

    terminal = where.open_terminal()
    wanted = options.filters(flow, started_by, older_than, newer_than)
    with resources.store(terminal, where.db) as store:
        page = store.page(
            status=None if status is None else status.value,
            tenant=where.owner,
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
            resources.refuse_unknown_flow(store, flow)
        layouts = store.list_other_layouts(tenant=where.owner)
    terminal.data(make_run_page(page, unknown), of_run=True)
    if found:
        terminal.show(runs_table(found, now, unknown))
    else:
        terminal.say("no runs")
    resources.tell_layouts(terminal, layouts)
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
    where: StoreOptions,
) -> Exit:
    """Show everything about a run.

    Status, inputs, outputs, decisions, chosen context, error, and the waiting gates with how to
    answer them.
    """
    from cinatra_sdk.api.run_json import make_whole_run
    from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
    from oas_compiler.cli.host.resources import artifact_names
    from oas_compiler.cli.host.run_requirements import find_lacking
    from oas_compiler.cli.host.run_resources import (
        is_code_of_host,
        is_simulated_for_nothing,
        list_asked_by_looking,
    )
    from oas_compiler.cli.view.run_view import extent_of, run_view

    terminal = where.open_terminal()
    options.refuse_empty_run(run)
    with resources.store(terminal, where.db) as store:
        found = store.get(store.find(run, tenant=where.owner))
        if events:
            return show_events(terminal, store.told(found.id))
        decisions = store.decisions(found.id)
        unknown, settled = store.unknown(found.id), store.settlements(found.id)
        usage = store.usage(found.id)
        chosen = ArtifactStore(store.database).chosen_in(found.id)
        names = artifact_names(store, found)
        whole_source = b"" if where.as_json else store.source(found.id)
        source = b"" if found.status in ENDED else whole_source
        now = store.database.now()
    if where.as_json:
        whole = make_whole_run(
            found,
            decisions=decisions,
            chosen=chosen,
            unknown=unknown,
            settlements=settled,
            usage=usage,
        )
        terminal.data(whole, of_run=True)
        return Exit.OK
    given = where.given
    needed = find_lacking(found, given, source)
    extent = extent_of(found.id, given, whole=full)
    view = run_view(
        found, decisions, chosen, now, names=names, needed=needed, extent=extent, unknown=unknown,
        settled=settled, usage=usage, asked=list_asked_by_looking(found, source),
        makes_calls=not is_simulated_for_nothing(found, whole_source),
        acts=is_code_of_host(whole_source),
    )  # fmt: skip
    terminal.show(view)
    broken = [(one.gate_id, problem) for one in decisions for problem in one.unreadable]
    broken += [(one.key, problem) for one in unknown for problem in one.unreadable]
    broken += [(one.key, problem) for one in settled for problem in one.unreadable]
    for name, problem in broken:
        terminal.note(clean(f"cannot be read: {name}: {problem}"))
    return Exit.OK


# ----------------------------------------------------------------------------
# `oasflow follow`: the events of a run, as they happen; `oasflow run --follow` and `oasflow show --events`
# print the same.
#
# In: events of a run.  Out: a line for each, or with `--json` a line of JSON for each.
#
#     12  10:31:07  node finished  Recipients/review
#     13  10:31:07  run waiting


_SHOWN: Final = ("by", "reason", "code", "error", "capability", "content", "attempt")
"""Members of an event that its line shows."""
_LONGEST: Final = 120
_BELOW: Final = 7
"""Columns before a line that goes on: below the time."""


def follow(
    run: options.RunId,
    *,
    after: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Only what has a higher number.")
    ] = 0,
    where: StoreOptions,
) -> Exit:
    """Print what happens in a run, as it happens, until the run has ended.

    With --json each line is one event.  Ctrl-C ends the printing and nothing else.
    """
    terminal = where.open_terminal(by_lines=True)
    options.refuse_empty_run(run)
    with resources.store(terminal, where.db) as store:
        found = store.find(run, tenant=where.owner)
        for event in store.events(found, after=after, follow=True):
            print_event(terminal, event)
        return exit_of(store.get(found))


class EventPrinter:
    """Prints the events of a run while this process works on it, from a thread of its own.

    with printer.printing():
        store.work("r1")
    """

    def __init__(self, store: RunStore, run_id: str, terminal: Terminal) -> None:
        self._store = store
        self._run_id = run_id
        self._terminal = terminal
        self._after = 0
        """Number of the last event that was printed."""
        self._problem: BaseException | None = None

    @contextlib.contextmanager
    def printing(self) -> Iterator[None]:
        """Within, events are printed as they are stored; behind it, all of them are.

        Raises: what kept events from being printed, once the work is done.
        """
        news, over = threading.Event(), threading.Event()
        thread = threading.Thread(target=self._print_all, args=(news, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            news.set()
            thread.join()
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem

    def _print_all(self, news: threading.Event, over: threading.Event) -> None:
        from cinatra_sdk.postgres.notifications import POLL

        try:
            with self._store.database.news.subscribe(self._run_id, news.set) as subscriber:
                while True:
                    last = over.is_set()  # before the look: what is stored by then is seen by it
                    news.clear()
                    live = subscriber.take_live()
                    told = self._read_new()
                    for event in (*told, *live):
                        print_event(self._terminal, event)
                    if last:
                        return
                    if not told and not over.is_set():
                        news.wait(POLL)
        except Exception as error:  # noqa: BLE001 - the work goes on; then it is raised there
            self._problem = error

    def _read_new(self) -> list[RunEvent]:
        from cinatra_sdk.errors import RunNotFound

        try:
            told = self._store.told(self._run_id, after=self._after)
        except RunNotFound:  # not stored yet
            return []
        self._after = told[-1].seq if told else self._after
        return told


def print_event(terminal: Terminal, event: RunEvent) -> None:
    """One line; with --json one line of JSON."""
    from cinatra_sdk.api.run_json import make_event

    terminal.data_line(make_event(event))
    terminal.show(event_view(event))


def show_events(terminal: Terminal, events: Iterable[RunEvent]) -> Exit:
    """Print stored events; with --json as one document."""
    from cinatra_sdk.api.page_json import make_event_list

    told = list(events)
    terminal.data(make_event_list(told), of_run=True)
    for event in told:
        terminal.show(event_view(event))
    return Exit.OK


def event_view(event: RunEvent) -> Pieces:
    """One line; in a narrow terminal it goes on below its time.  No other output breaks it."""
    at = "" if event.at is None else event.at.astimezone().strftime("%H:%M:%S")
    what = clean(f"{event.kind} {event.name}")
    pieces = [Text.assemble((f"{event.seq or '':>5}  {at:8}  ", "dim"), what)]
    if event.path:
        visit = f" (visit {event.visit})" if event.visit > 1 else ""
        pieces.append(Text(clean(f"{event.path}{visit}")))
    more = "; ".join(str(event.data[name]) for name in _SHOWN if event.data.get(name))
    if more:
        pieces.append(Text(cut(clean(more), _LONGEST), "dim"))
    return Pieces(pieces, between="  ", indent=_BELOW)
