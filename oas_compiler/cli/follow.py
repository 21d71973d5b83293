"""`oasflow follow`: what happens in a run, as it happens; also what `oasflow run --follow` and
`oasflow show --events` print.

In: events of a run.  Out: a line for each, or with `--json` a line of JSON for each.

    12  10:31:07  node finished  Recipients/review
    13  10:31:07  run waiting
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, exit_of
from oas_compiler.cli.layout import Pieces
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.events.event import RunEvent

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
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Print what happens in a run, as it happens, until the run has ended.

    With --json each line is one event.  Ctrl-C ends the printing and nothing else.
    """
    terminal = Terminal.open(as_json=as_json, by_lines=True)
    options.refuse_empty_run(run)
    with opening.store(terminal, db) as store:
        found = store.find(run, tenant=tenant or None)
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
        from cinatra_sdk.postgres.listening import POLL

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
    from oas_compiler.cli.records import event_record

    terminal.data_line(event_record(event))
    terminal.show(event_view(event))


def show_events(terminal: Terminal, events: Iterable[RunEvent]) -> Exit:
    """Print stored events; with --json as one document."""
    from oas_compiler.cli.records import event_record

    told = list(events)
    terminal.data({"events": [event_record(event) for event in told]}, of_run=True)
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
