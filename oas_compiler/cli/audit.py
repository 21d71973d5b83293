"""`oasflow records` and `oasflow replay`: what runs came to, for whoever audits them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cinatra_sdk.errors import FlowError, RunNotFound
from cinatra_sdk.text.files import read_named, replace_file
from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.governance.registry import PackRegistry
    from cinatra_sdk.store.records import DecisionRecords, StoredRecord
    from cinatra_sdk.store.run_store import RunStore

MOST_BYTES: Final = 2_000_000_000
"""Of an export."""
Named = Annotated[
    str, typer.Argument(metavar="[RECORD|RUN]", help="A record, or all records of a run.")
]
Packs = Annotated[
    Path | None,
    typer.Option(
        "--packs", metavar="DIR", help="Where the packs are; default: those in the database."
    ),
]


class RecordStatusName(StrEnum):
    DECIDED = "DECIDED"
    DEFERRED = "DEFERRED"
    REJECTED = "REJECTED"
    ESCALATED = "ESCALATED"
    IN_FLIGHT = "IN_FLIGHT"
    CLOSED = "CLOSED"


def records(
    name: Named = "",
    *,
    status: Annotated[
        RecordStatusName | None, typer.Option(help="Only records of this status.")
    ] = None,
    export: Annotated[
        str,
        typer.Option(
            "--export", metavar="FILE", help="Write whole chains as JSON Lines; - is stdout."
        ),
    ] = "",
    transcripts: Annotated[
        bool, typer.Option("--transcripts", help="With what each record was made from.")
    ] = False,
    verify: Annotated[
        Path | None, typer.Option("--verify", metavar="FILE", help="Verify an export.")
    ] = None,
    verifier: Annotated[
        bool,
        typer.Option("--verifier", help="Print the program that verifies exports by itself."),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 50,
    after: options.After = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List the decision records of governed runs, show one, export or verify them.

    A record says what a run came to, who approved it, on which evidence and under which rules.
    """
    terminal = Terminal.open(as_json=as_json)
    if verifier:
        return _print_verifier(terminal)
    if verify is not None:
        return _verify_export(terminal, verify)
    with opening.store(terminal, db) as store:
        found = _open_records(store)
        if export:
            run = store.find(name, tenant=tenant or None) if name else None
            lines = found.export(run_id=run, tenant=tenant or None, transcripts=transcripts)
            return _write_export(terminal, export, lines)
        if name.startswith("dr_"):
            return _show_record(terminal, found.get(name, tenant=tenant or None))
        run = store.find(name, tenant=tenant or None) if name else None
        page = found.page(
            run_id=run,
            status=None if status is None else status.value,
            tenant=tenant or None,
            limit=limit,
            after=after,
        )
        now = store.database.now()
    from oas_compiler.cli.audit_view import list_records, records_table

    listed = {"records": list_records(page.items), "next": page.next or None}
    terminal.data(listed | options.list_unreadable(page), of_run=True)
    if page.items:
        terminal.show(records_table(page.items, now))
    elif not page.unreadable:
        terminal.say("no decision records: only governed runs have them")
    options.tell_unreadable(terminal, page)
    options.tell_more(terminal, page.next)
    return Exit.OK


def _open_records(store: RunStore) -> DecisionRecords:
    from cinatra_sdk.store.records import DecisionRecords

    return DecisionRecords(store.database)


def _show_record(terminal: Terminal, stored: StoredRecord) -> Exit:
    from oas_compiler.cli.audit_view import record_view

    terminal.data(stored.record.to_json(), of_run=True)
    terminal.show(record_view(stored))
    return Exit.OK


def _write_export(terminal: Terminal, export: str, lines: Iterable[str]) -> Exit:
    if export == "-":
        for line in lines:
            terminal.reveal(line.rstrip("\n"))
        return Exit.OK
    content = "".join(lines).encode()
    try:
        replace_file(export, content)
    except OSError as error:
        raise Halt(f"{export} cannot be written: {error.strerror}") from None
    count = content.count(b"\n") - 1
    terminal.data({"records": count, "file": export})
    terminal.show(f"{count} records in {clean(export)}")
    terminal.say("verify them with: oasflow records --verify FILE, or the program of --verifier")
    return Exit.OK


def _print_verifier(terminal: Terminal) -> Exit:
    from cinatra_sdk.governance import verifier

    terminal.reveal(inspect.getsource(verifier).rstrip("\n"))
    return Exit.OK


def _verify_export(terminal: Terminal, file: Path) -> Exit:
    from cinatra_sdk.governance.verifier import find_problems

    text = read_export(file)
    lines = [f"{line}\n" for line in text.split("\n") if line]
    problems = list(find_problems(lines, {}))
    told = [{"line": at, "problem": problem} for at, problem in problems]
    terminal.data({"records": max(0, len(lines) - 1), "problems": told})
    for at, problem in problems:
        terminal.show(f"line {at}: {clean(problem)}")
    if not problems:
        terminal.show(f"{len(lines) - 1} records: hashes and chains hold")
    return Exit.FINDINGS if problems else Exit.OK


def read_export(file: Path) -> str:
    """Raises: `Halt`."""
    try:
        content = read_named(file, MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise Halt(f"{clean(str(file))} has more than {MOST_BYTES:,} bytes", code="too_large")
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
    raise Halt(f"{clean(str(file))} cannot be read: {why}")


def replay(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="A decision record, dr_….")],
    *,
    packs: Packs = None,
    packet: Annotated[
        bool, typer.Option("--packet", help="Print the ReplayPacket of the record instead.")
    ] = False,
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Derive a decision record again from what was recorded, and say what differs.

    Nothing is called.  The rules are those of the packs, by the references in the record.
    """
    from cinatra_sdk.governance.replaying import make_replay_packet
    from cinatra_sdk.governance.replaying import replay as replay_record
    from oas_compiler.cli.audit_view import describe_replay, replay_view

    terminal = Terminal.open(as_json=as_json or packet)
    if packs is not None and not packs.is_dir():
        raise Halt(f"--packs {clean(str(packs))} is no folder")
    with opening.store(terminal, db) as store:
        stored = _find_record(store, record, tenant)
        if packet:
            made = make_replay_packet(stored.record, stored.transcript)
            terminal.data(made.to_json(), of_run=True)
            return Exit.OK
        registry = _open_packs(store, packs)
        replayed = replay_record(stored.record, stored.transcript, registry=registry)
    terminal.data(describe_replay(replayed), of_run=True)
    terminal.show(replay_view(replayed))
    if any("PACK_NOT_FOUND" in str(one.derived) for one in replayed.differences):
        where = "the database" if packs is None else clean(str(packs))
        terminal.say(
            f"the packs of the record are not in {where}: give their folder with --packs DIR, or "
            "publish them with oasflow packs publish FILE"
        )
    return Exit.FINDINGS if replayed.differences else Exit.OK


def _find_record(store: RunStore, name: str, tenant: str) -> StoredRecord:
    """Raises: `Halt` for the name of a run, `RunNotFound`."""
    try:
        return _open_records(store).get(name, tenant=tenant or None)
    except RunNotFound as error:
        if name.startswith("dr_"):
            raise
        missing = error
    try:
        run = store.find(name, tenant=tenant or None)
    except FlowError:
        raise missing from None
    raise Halt(f"'{run}' is a run, and no record: its records are in oasflow records {run}")


def _open_packs(store: RunStore, folder: Path | None) -> PackRegistry:
    from cinatra_sdk.governance.registry import FolderRegistry
    from cinatra_sdk.store.packs import StoredPacks

    return StoredPacks(store.database) if folder is None else FolderRegistry(folder)
