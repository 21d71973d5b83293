"""`oasflow doctor`: what is wrong with a store; changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.store.examining import Examination


def doctor(tenant: options.Tenant = "", db: options.Db = "", as_json: options.Json = False) -> Exit:
    """Look at the store for what needs doing: exit code 0 when nothing does, 1 when something does.

    Runs that can go on and that nobody works on, what needs a person (gates, calls to settle, failed
    runs), the tables, the role and its rights, and the difference of the clocks.  Changes nothing.
    """
    from cinatra_sdk.store.examining import examine

    terminal = Terminal.open(as_json=as_json)
    found = examine(_find_address(db), tenant=tenant or None)
    terminal.data(_record(found), of_run=True)
    terminal.show(f"database {clean(found.database)}, PostgreSQL {clean(found.server_version)}")
    terminal.show(f"role {clean(found.role)}")
    _show_needs(terminal, found)
    for finding in found.findings:
        terminal.note(clean(finding))
    if not found.findings:
        terminal.show("nothing needs doing")
    return Exit.FINDINGS if found.findings else Exit.OK


def _show_needs(terminal: Terminal, found: Examination) -> None:
    """What runs wait for, each with the command that answers."""
    from cinatra_sdk.store.examining import count_gates

    for reason, number in sorted(found.due.items()):
        terminal.show(f"  {number} {reason}; oasflow resume --all goes on with them")
    if found.gates_total:
        terminal.show(f"  {count_gates(found.gates_total)}; oasflow gates lists them")
    for call in found.calls:
        terminal.show(
            f"  a call may have happened, or not ({clean(call.content)}); "
            f"{clean(call.command)} with --happened or --did-not-happen"
        )
    for letter in found.dead_letters:
        terminal.show(f"  failed ({clean(letter.code)}); oasflow resume {clean(letter.run_id)}")


def _find_address(db: str) -> str:
    """Raises: `Halt` where the local server does not run: a look does not start it."""
    from cinatra_sdk.postgres.server import LocalServer, LocalServerError

    address = db or os.environ.get("DATABASE_URL", "")
    if address:
        return address
    try:
        status = LocalServer().status()
    except LocalServerError as error:
        raise Halt(str(error), exit=Exit.UNREACHABLE, code="local_server") from None
    if not status.running:
        raise Halt(
            f"the local server in {status.folder} is not running; oasflow db start starts it, or set "
            "DATABASE_URL to a PostgreSQL server of your own",
            exit=Exit.UNREACHABLE,
            code="local_server",
        )
    return status.dsn


def _record(found: Examination) -> dict[str, Any]:
    return {
        "database": found.database,
        "server_version": found.server_version,
        "role": found.role,
        "clock_ahead": found.clock_ahead,
        "tables": {
            "missing": list(found.missing),
            "newer": list(found.newer),
            "lacks": list(found.lacks),
            "could_rewrite": list(found.powers),
        },
        "due": dict(found.due),
        "dead_letters": {
            "total": found.dead_letters_total,
            "oldest": [
                {
                    "id": letter.run_id,
                    "tenant": letter.tenant,
                    "code": letter.code,
                    "since": letter.since.isoformat(timespec="milliseconds"),
                    "command": letter.command,
                }
                for letter in found.dead_letters
            ],
        },
        "gates": {"total": found.gates_total},
        "calls": {
            "total": found.calls_total,
            "oldest": [
                {
                    "id": call.run_id,
                    "tenant": call.tenant,
                    "key": call.name,
                    "call": call.content,
                    "since": call.since.isoformat(timespec="milliseconds"),
                    "command": call.command,
                }
                for call in found.calls
            ],
        },
        "findings": list(found.findings),
    }
