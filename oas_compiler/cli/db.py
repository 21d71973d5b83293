"""`oasflow db`: the local PostgreSQL server of this user."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.store.local import LocalServer, LocalStatus


def start(as_json: options.Json = False) -> Exit:
    """Start the local server, or say that it runs."""
    terminal = Terminal.open(as_json=as_json)
    _say_which(terminal)
    return _report(terminal, _local(lambda server: server.start()))


def stop(as_json: options.Json = False) -> Exit:
    """Stop the local server; unfinished work is rolled back."""
    terminal = Terminal.open(as_json=as_json)

    def act(server: LocalServer) -> LocalStatus:
        server.stop()
        return server.status()

    _report(terminal, _local(act))
    return Exit.OK


def status(as_json: options.Json = False) -> Exit:
    """Say whether the local server runs: exit code 0 when it does, 7 when not."""
    terminal = Terminal.open(as_json=as_json)
    _say_which(terminal)
    return _report(terminal, _local(lambda server: server.status()))


def url(
    show_password: Annotated[
        bool, typer.Option("--show-password", help="The whole address, for another program.")
    ] = False,
    as_json: options.Json = False,
) -> Exit:
    """Print the address of the running local server, with the password hidden."""
    terminal = Terminal.open(as_json=as_json)
    found = _local(lambda server: server.status())
    if not found.running:
        raise _not_running(found)
    address = found.dsn if show_password else found.url
    terminal.data({"url": address}, of_run=True)
    if show_password:
        terminal.reveal(address)
    else:
        terminal.show(address)
    return Exit.OK


def _local(act: Callable[[LocalServer], LocalStatus]) -> LocalStatus:
    """Raises: `Halt` with what the server could not do."""
    from cinatra_sdk.store.local import LocalServer, LocalServerError

    try:
        return act(LocalServer())
    except LocalServerError as error:
        raise Halt(str(error), exit=Exit.UNREACHABLE, code="local_server") from None


def _report(terminal: Terminal, found: LocalStatus) -> Exit:
    record: dict[str, Any] = {
        "running": found.running,
        "folder": str(found.folder),
        "version": found.version,
        "pid": found.pid,
        "url": found.url,
    }
    terminal.data(record)
    if found.running:
        terminal.show(f"running  PostgreSQL {found.version}, pid {found.pid}", f"  {found.url}")
    else:
        terminal.show("not running")
    terminal.show(f"  {clean(str(found.folder))}")
    return Exit.OK if found.running else Exit.UNREACHABLE


def _say_which(terminal: Terminal) -> None:
    if os.environ.get("DATABASE_URL"):
        terminal.note("DATABASE_URL is set: the other commands use that database, not this server")


def _not_running(found: LocalStatus) -> Halt:
    message = f"the local server in {found.folder} is not running; oasflow db start starts it"
    return Halt(message, exit=Exit.UNREACHABLE, code="not_running")
