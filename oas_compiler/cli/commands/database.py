"""`oasflow db`: the local PostgreSQL server of this user, and the tables of any database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from rich.text import Text

from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.cli.host import options
from oas_compiler.cli.host.options import GivenOptions, StoreOptions
from oas_compiler.cli.terminal.argument_values import duration
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.layout import Indented, unbroken
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalStatus
    from cinatra_sdk.store.health import Examination
    from cinatra_sdk.store.runs.layouts import OtherLayout
    from cinatra_sdk.store.runs.needs import CallToSettle, DeadLetter


T = TypeVar("T")


def start(as_json: options.Json = False) -> Exit:
    """Start the local server, or say that it runs."""
    terminal = Terminal.open(as_json=as_json)
    _say_which(terminal)
    return _report_status(terminal, _call_local_server(lambda server: server.start()))


def stop(as_json: options.Json = False) -> Exit:
    """Stop the local server; unfinished work is rolled back."""
    terminal = Terminal.open(as_json=as_json)

    def act(server: LocalServer) -> tuple[LocalStatus, bool]:
        ran = server.status().running
        server.stop()
        return server.status(), ran

    found, ran = _call_local_server(act)
    _report_status(terminal, found, not_running="stopped" if ran else "not running")
    return Exit.OK


def status(as_json: options.Json = False) -> Exit:
    """Say whether the local server runs: exit code 0 when it does, 7 when not."""
    terminal = Terminal.open(as_json=as_json)
    _say_which(terminal)
    found = _call_local_server(lambda server: server.status())
    address = os.environ.get("DATABASE_URL") or found.dsn
    return _report_status(terminal, found, _inspect_tables(address) if address else None)


def url(
    show_password: Annotated[
        bool, typer.Option("--show-password", help="The whole address, for another program.")
    ] = False,
    owner: Annotated[
        bool, typer.Option("--owner", help="Of the role that owns the tables: for migrations.")
    ] = False,
    as_json: options.Json = False,
) -> Exit:
    """Print the address of the running local server, with the password hidden."""
    terminal = Terminal.open(as_json=as_json)
    found = _call_local_server(lambda server: server.status())
    if not found.running:
        raise _not_running(found)
    address = _find_owner_address() if owner else found.dsn
    if not show_password:
        address = _without_password(address)
    terminal.data({"url": address}, of_run=True)
    if show_password:
        terminal.reveal(address)
    else:
        terminal.show(address)
    return Exit.OK


def migrate(
    app_role: Annotated[
        str,
        typer.Option(
            "--app-role",
            metavar="NAME",
            help="A role that gets the rows and nothing else; made, without a password, if need be.",
        ),
    ] = "",
    print_sql: Annotated[
        bool, typer.Option("--print-sql", help="Print what --app-role would be given; do nothing.")
    ] = False,
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Bring the tables up to date, as the role that owns them."""
    from cinatra_sdk.local_postgres.cluster import APP
    from cinatra_sdk.postgres import migration
    from cinatra_sdk.postgres.connection import connect
    from cinatra_sdk.store.runs.layouts import describe_layouts, list_other_layouts

    terminal = Terminal.open(as_json=as_json)
    if print_sql:
        return _print_sql(terminal, app_role or APP)
    address = db or os.environ.get("DATABASE_URL", "")
    if not address:
        _call_local_server(lambda server: server.start())
        address, app_role = _find_owner_address(), app_role or APP
    done = migration.migrate(address, app_role=app_role)
    with connect(address) as connection:
        layouts = list_other_layouts(connection)
    terminal.data(
        {
            "database": done.database,
            "role": done.role,
            "applied": list(done.applied),
            "granted": list(done.granted),
            "created": done.created,
            "other_layouts": _record_layouts(layouts),
        }
    )
    what = ", ".join(done.applied)
    terminal.show(f"applied {what}" if what else "the tables were up to date")
    for role in done.granted:
        terminal.show(f"  the role '{clean(role)}' has rows only")
    if done.created:
        terminal.note(
            f"the role '{done.created}' was made without a password: give it one before it connects"
        )
    if not done.granted:
        terminal.note(
            f"the role '{done.role}' owns the tables and could change what is append-only; "
            "--app-role NAME makes a role that cannot"
        )
    for sentence in describe_layouts(layouts):
        terminal.note(clean(sentence))
    return Exit.OK


def pooler(
    print_sql: Annotated[
        bool,
        typer.Option(
            "--sql", help="Statements instead: for session mode, and for any other pooler."
        ),
    ] = False,
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Print what PgBouncer is told, so that flows run through it; see docs/poolers.md.

    --db: the server's own address, with the role that runs flows.  No connection is made.
    """
    from cinatra_sdk.postgres.pooler import write_ini, write_sql

    terminal = Terminal.open(as_json=as_json)
    address = db or os.environ.get("DATABASE_URL", "")
    text = write_sql(address) if print_sql else write_ini(address)
    terminal.data({"sql": text} if print_sql else {"ini": text})
    terminal.show(unbroken(Text(text)))
    return Exit.OK


def archive(
    *,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="AGE", help="Runs that ended that long ago: 90d, 12h."
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be removed; do nothing.")
    ] = False,
    dead_letters: Annotated[
        bool,
        typer.Option("--dead-letters", help="Also failed runs that only a person would resume."),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many runs, the oldest first; default: all.")
    ] = None,
    by: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Who archives; default: your user name."),
    ] = "",
    where: StoreOptions,
) -> Exit:
    """Remove what only going on needs of runs that have ended.

    That are checkpoints, and results of calls.  Runs, decisions, gates with what they showed, calls
    with their hashes, selections and events stay.  An archived run cannot be resumed.
    """
    from oas_compiler.cli.host import resources

    terminal = where.open_terminal()
    age, who = duration(older_than, "--older-than"), resources.person(by)
    with resources.store(terminal, where.db) as opened:
        done = resources.act_as(opened, who, where.tenant).archive(
            older_than=age, tenant=where.owner, by=who, dead_letters=dead_letters, limit=limit,
            dry_run=dry_run,
        )  # fmt: skip
    counted = asdict(done)
    terminal.data({**counted, "dry_run": dry_run})
    left = counted.pop("left")
    what = ", ".join(
        say_number(number, name.removesuffix("s"), name)
        for name, number in counted.items()
        if name != "runs"
    )
    verb = "would be archived" if dry_run else "archived"
    runs = say_number(done.runs, "run")
    terminal.show(f"{runs} {verb}: {what}" if done.runs else f"{runs} {verb}")
    if left:
        terminal.show(f"{left} left, because their rows are damaged")
    return Exit.OK


def adopt(
    by: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Who says so; default: your user name."),
    ] = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Say that a restored or cloned database takes the place of the original: its runs go on here.

    Until then a copy can be read, and nothing is done in it.  As the role that owns the tables.
    Make sure that the original runs no more: both would send.  Also after a failover that was looked into,
    so that the next one is noticed.
    """
    return _settle_home("adopt", by, db, as_json)


def disown(
    by: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Who says so; default: your user name."),
    ] = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Say that a database is a copy: nothing is done in it until somebody adopts it.

    For a copy of a server's files (a base backup, a snapshot), which cannot be told from the original, before
    anything opens it.  As the role that owns the tables.
    """
    return _settle_home("disown", by, db, as_json)


def _settle_home(act: Literal["adopt", "disown"], by: str, db: str, as_json: bool) -> Exit:
    from cinatra_sdk.postgres import home
    from oas_compiler.cli.host import resources

    terminal, who = Terminal.open(as_json=as_json), resources.person(by)
    address = find_owner(db)
    found = home.adopt(address, by=who) if act == "adopt" else home.disown(address, by=who)
    terminal.data(
        {
            "database": found.database,
            "is_copy": found.is_copy,
            "by": found.by,
            "timeline": found.timeline,
        },
        of_run=True,
    )
    name = clean(found.database)
    terminal.show(
        f"the database {name} is a copy, in which nothing is done until oasflow db adopt"
        if found.is_copy
        else f"the database {name} lives here, and its runs go on here"
    )
    return Exit.OK


def find_owner(db: str) -> str:
    """The address of the role that owns the tables: `--db`, DATABASE_URL, else of the local server, which is
    started.  Raises: `Halt`.
    """
    address = db or os.environ.get("DATABASE_URL", "")
    if address:
        return address
    _call_local_server(lambda server: server.start())
    return _find_owner_address()


def _print_sql(terminal: Terminal, role: str) -> Exit:
    from cinatra_sdk.postgres import migration

    text = migration.rights_of(role).as_string()
    terminal.data({"sql": text})
    terminal.show(text)
    return Exit.OK


def _find_owner_address() -> str:
    """Raises: `Halt`."""
    return _call_local_server(lambda server: server.owner_dsn())


def _without_password(address: str) -> str:
    """Our own address, of the form `postgresql://role:password@/…`."""
    head, _, rest = address.rpartition("@")
    return f"{head.rpartition(':')[0]}:***@{rest}"


def _inspect_tables(address: str) -> dict[str, Any]:
    """The state of the tables, and the rights of this address's role."""
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.postgres.connection import connect
    from cinatra_sdk.postgres.role_rights import look

    try:
        with connect(address) as connection:
            found = look(connection)
    except StoreError as error:
        return {"error": str(error)}
    return {
        "role": found.role,
        "database": found.database,
        "missing": list(found.missing),
        "newer": list(found.newer),
        "has_rights": found.may_look,
        "could_rewrite": list(found.powers),
        "own_settings": list(found.own_settings),
    }


def _call_local_server(act: Callable[[LocalServer], T]) -> T:
    """Raises: `Halt`, which says what the server could not do."""
    from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError

    try:
        return act(LocalServer())
    except LocalServerError as error:
        raise Halt(str(error), exit=Exit.UNREACHABLE, code="local_server") from None


def _report_status(
    terminal: Terminal,
    found: LocalStatus,
    tables: dict[str, Any] | None = None,
    *,
    not_running: str = "not running",
) -> Exit:
    """not_running: the message for a server that does not run."""
    record: dict[str, Any] = {
        "running": found.running,
        "folder": str(found.folder),
        "version": found.version,
        "pid": found.pid,
        "url": found.url,
    }
    terminal.data(record if tables is None else record | {"tables": tables})
    if found.running:
        terminal.show(f"running  PostgreSQL {found.version}, pid {found.pid}", f"  {found.url}")
    else:
        terminal.show(not_running)
    terminal.show(f"  {clean(str(found.folder))}")
    for line in _said_of(tables or {}):
        terminal.show(f"  {clean(line)}")
    return Exit.OK if found.running else Exit.UNREACHABLE


def _said_of(tables: dict[str, Any]) -> list[str]:
    from cinatra_sdk.postgres.migration import RESTART

    if not tables:
        return []
    if "error" in tables:
        return [f"tables: {tables['error']}"]
    role, missing, newer = tables["role"], tables["missing"], tables["newer"]
    if not tables["has_rights"]:
        state = f"the role '{role}' has no rights on them; see oasflow db migrate --app-role"
    elif newer:
        state = f"made by a newer version ({', '.join(newer)})"
    elif missing:
        state = f"missing {', '.join(missing)}; oasflow db migrate brings them there"
    else:
        state = "up to date"
    could = tables["could_rewrite"]
    power = (
        f"the role '{role}' could change what is append-only: it {', '.join(could)}"
        if could
        else f"the role '{role}' cannot change what is append-only"
    )
    is_local = not os.environ.get("DATABASE_URL")
    own = [_describe_own_settings(tables, is_local)] if tables["own_settings"] else []
    return [f"tables: {state}", power, *own, *([RESTART] if could and is_local else [])]


def _describe_own_settings(tables: dict[str, Any], is_local: bool) -> str:
    """What they are, and how to undo them.

    The role itself cannot undo all of them: one of a transaction (`transaction_read_only`) is reset by a
    superuser only, and the beginning of a connection may be what it has spoiled.
    """
    role, database = (_quote_name(tables[name]) for name in ("role", "database"))
    told = (
        f"the role {role} has settings of its own ({', '.join(tables['own_settings'])}), which may "
        "slow it down; to undo them"
    )
    if is_local:
        return f"{told}: oasflow db stop, then oasflow db start"
    return (
        f"{told}, as a superuser: begin read write; alter role {role} reset all; "
        f"alter role {role} in database {database} reset all; commit"
    )


def _quote_name(name: str) -> str:
    """A name as it stands in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _say_which(terminal: Terminal) -> None:
    if os.environ.get("DATABASE_URL"):
        terminal.note("DATABASE_URL is set: the other commands use that database, not this server")


def _not_running(found: LocalStatus) -> Halt:
    message = f"the local server in {found.folder} is not running; oasflow db start starts it"
    return Halt(message, exit=Exit.UNREACHABLE, code="not_running")


# ----------------------------------------------------------------------------
# `oasflow doctor`: what is wrong with a store; changes nothing.


def doctor(where: StoreOptions) -> Exit:
    """Look at the store for what needs doing: exit code 0 when nothing does, 1 when something does.

    Runs that can go on and that nobody works on, what needs a person (gates, calls to settle, failed
    runs), the tables, the role and its rights, and the difference of the clocks.  Changes nothing.
    """
    from cinatra_sdk.store.health import examine

    terminal = where.open_terminal()
    found = examine(_find_address(where.db), tenant=where.owner)
    given = where.given
    whole = _find_options(terminal, found, given)
    terminal.data(_record(found, whole), of_run=True)
    terminal.show(f"database {clean(found.database)}, PostgreSQL {clean(found.server_version)}")
    if found.is_pooled:
        terminal.show(
            "through a pooler: news of runs takes a second, and the runs of a process that dies are taken "
            "over once their leases have run out"
        )
    terminal.show(f"role {clean(found.role)}")
    _show_needs(terminal, found, given, whole)
    for finding in found.findings:
        terminal.note(clean(finding))
    if not found.findings:
        terminal.show("nothing needs doing")
    return Exit.FINDINGS if found.findings else Exit.OK


def _find_options(
    terminal: Terminal, found: Examination, given: GivenOptions
) -> dict[str, GivenOptions]:
    """Run id → the options of the commands on it that are printed.

    A store is opened only where runs were found, so that its tables are up to date: it changes nothing.
    """
    from oas_compiler.cli.host import resources
    from oas_compiler.cli.host.run_requirements import options_of_runs

    runs = [call.run_id for call in found.calls]
    runs += [letter.run_id for letter in found.dead_letters]
    if not runs:
        return {}
    with resources.store(terminal, given.db) as store:
        return options_of_runs(store, runs, given)


def _show_needs(
    terminal: Terminal,
    found: Examination,
    given: GivenOptions,
    whole: Mapping[str, GivenOptions],
) -> None:
    """What runs wait for, each with the commands that answer."""
    from cinatra_sdk.store.health import count_gates
    from oas_compiler.cli.view.needs_view import ways_to_answer
    from oas_compiler.cli.view.run_view import command_line

    everything = given.command_on("resume", [], "--all")
    for reason, number in sorted(found.due.items()):
        terminal.show(unbroken(Text(f"  {number} {reason}; {everything} goes on with them")))
    if found.gates_total:
        listed = f"{given.command_on('gates', [])} lists them"
        terminal.show(unbroken(Text(f"  {count_gates(found.gates_total)}; {listed}")))
    for call in found.calls:
        terminal.show(f"  a call may have happened, or not ({clean(call.content)}); which it is:")
        for line in ways_to_answer(call, whole[call.run_id]):
            terminal.show(Indented(command_line(line), by=2))
    for letter in found.dead_letters:
        (line,) = ways_to_answer(letter, whole[letter.run_id])
        terminal.show(unbroken(Text(f"  failed ({clean(letter.code)}); {line}")))


def _find_address(db: str) -> str:
    """Raises: `Halt` where the local server does not run: a look does not start it."""
    address = db or os.environ.get("DATABASE_URL", "")
    if address:
        return address
    status = _call_local_server(lambda server: server.status())
    if not status.running:
        raise Halt(
            f"the local server in {status.folder} is not running; oasflow db start starts it, or set "
            "DATABASE_URL to a PostgreSQL server of your own",
            exit=Exit.UNREACHABLE,
            code="local_server",
        )
    return status.dsn


def _record_layouts(found: Iterable[OtherLayout]) -> list[dict[str, Any]]:
    return [
        {"id": run.run_id, "tenant": run.tenant, "layout": run.layout, "kind": run.kind}
        for run in found
    ]


def _record(found: Examination, whole: Mapping[str, GivenOptions]) -> dict[str, Any]:
    from oas_compiler.cli.view.needs_view import ways_to_answer

    def list_commands(need: CallToSettle | DeadLetter) -> dict[str, Any]:
        lines = ways_to_answer(need, whole[need.run_id])
        return {"command": lines[0], "commands": lines}

    return {
        "database": found.database,
        "server_version": found.server_version,
        "role": found.role,
        "pooled": found.is_pooled,
        "clock_ahead": found.clock_ahead,
        "tables": {
            "missing": list(found.missing),
            "newer": list(found.newer),
            "lacks": list(found.lacks),
            "could_rewrite": list(found.powers),
        },
        "home": {"is_copy": found.is_copy, "was_taken_over": found.was_taken_over},
        "due": dict(found.due),
        "dead_letters": {
            "total": found.dead_letters_total,
            "oldest": [
                {
                    "id": letter.run_id,
                    "tenant": letter.tenant,
                    "code": letter.code,
                    "since": letter.since.isoformat(timespec="milliseconds"),
                    **list_commands(letter),
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
                    **list_commands(call),
                }
                for call in found.calls
            ],
        },
        "other_layouts": _record_layouts(found.layouts),
        "findings": list(found.findings),
    }
