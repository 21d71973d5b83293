"""`oasflow reconcile` and `oasflow erase`: after a failover or a restore, and a person's values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import StoreOptions
from oas_compiler.cli.terminal.argument_values import duration
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean

if TYPE_CHECKING:
    from cinatra_sdk.postgres.home import Home
    from cinatra_sdk.store.evidence.erasure import Erasure
    from cinatra_sdk.store.evidence.reconciliation import Disagreement, Receipt, Reconciliation
    from oas_compiler.cli.terminal.streams import Terminal

_WORDS: Final = {
    "lost start": "a run that was started is not here",
    "lost decision": "a decision is not here",
    "lost settlement": "a person's word on a call is not here",
    "lost effect": "a call that was made is not here",
    "effect without decision": "a call that a person approved has no decision",
    "gate without decision": "a gate counts as decided and has no decision",
    "decision not carried out": "a decision waits to be carried out (oasflow resume --all)",
    "effect unknown": "nobody knows whether a call was made (oasflow settle)",
}


@dataclass(frozen=True, kw_only=True)
class ReceiptOptions:
    """Who knows what was there before."""

    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="URL",
            help="The database before: what it has and this one has not is listed.",
        ),
    ] = ""
    receipts: Annotated[
        list[str] | None,
        typer.Option(
            "--receipts",
            metavar="FILE",
            help='What others know, a JSON object a line: {"run"}, {"run","gate"}, {"key"}.',
        ),
    ] = None
    newer_than: Annotated[
        str,
        typer.Option(
            "--newer-than",
            metavar="AGE",
            help="Of --against only what happened within that time: 30min, 2h, 3d.",
        ),
    ] = ""

    def refuse_contradiction(self) -> None:
        """Raises: `Halt`."""
        if self.newer_than and not self.against:
            raise Halt("--newer-than is about what --against lists")

    def list_receipts(self, tenant: str | None) -> Iterator[Receipt] | tuple[()]:
        """Raises: `Halt` for what cannot be read."""
        from itertools import chain

        from cinatra_sdk.store.evidence.reconciliation import list_receipts, read_receipts

        parts = [read_receipts(_read_lines(file)) for file in self.receipts or []]
        if self.against:
            age = duration(self.newer_than, "--newer-than") if self.newer_than else None
            parts.append(list_receipts(self.against, newer_than=age, tenant=tenant))
        return chain.from_iterable(parts) if parts else ()


def reconcile(*, asked: ReceiptOptions, where: StoreOptions) -> Exit:
    """List what a failover or a restore may have lost; exit code 0 when nothing is found, 1 otherwise.

    A standby that takes over lacks the last transactions of its predecessor, if it followed asynchronously.
    They left no trace in it: ask the predecessor (--against), or those who were told of them (--receipts):
    callers of starts and decisions, and receivers of calls, by their Idempotency-Key.
    Also listed: calls that a person approved and that have no decision, decisions that nobody carried out, and
    calls of which nobody knows.  Changes nothing.
    """
    asked.refuse_contradiction()
    terminal = where.open_terminal()
    told = asked.list_receipts(where.owner)
    with resources.store(terminal, where.db) as store:
        found = store.reconcile(told, tenant=where.owner)
    terminal.data(_list_members(found), of_run=True)
    _show_findings(terminal, found, has_receipts=bool(told))
    return Exit.OK if found.is_clean else Exit.FINDINGS


def _show_findings(terminal: Terminal, found: Reconciliation, *, has_receipts: bool) -> None:
    for line in _describe_home(found.home):
        terminal.show(clean(line))
    for one in found.findings:
        terminal.show(clean(_describe_finding(one)))
    looked = say_number(found.receipts, "receipt")
    number = say_number(len(found.findings), "finding")
    terminal.show(f"{number}, {looked} looked up" if has_receipts else number)


MOST_RECEIPTS: Final = 500_000_000
"""Bytes of a file of receipts."""


def _read_lines(file: str) -> list[str]:
    """Raises: `Halt`."""
    from cinatra_sdk.data.text.author_files import read_named

    try:
        content = read_named(file, MOST_RECEIPTS + 1)
        if len(content) <= MOST_RECEIPTS:
            return content.decode("utf-8").splitlines()
        why = f"it has more than {MOST_RECEIPTS:,} bytes"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
    raise Halt(f"--receipts {file} cannot be read: {why}")


def _describe_home(home: Home) -> list[str]:
    told = []
    if home.is_copy:
        told.append("this database is a copy, in which nothing is done until oasflow db adopt")
    if home.was_taken_over:
        told.append(
            f"another server took over since the database was adopted (timeline {home.timeline}, now "
            f"{home.timeline_now}): what its predecessor had not sent is lost; oasflow db adopt notes "
            "that somebody has looked"
        )
    return told


def _describe_finding(one: Disagreement) -> str:
    where = "/".join(part for part in (one.run_id, one.name) if part)
    about = ", ".join(
        part for part in (one.what, one.at.isoformat(timespec="seconds") if one.at else "") if part
    )
    return f"{where}  {_WORDS[one.kind]}{f' ({about})' if about else ''}"


def _list_members(found: Reconciliation) -> dict[str, Any]:
    home = found.home
    return {
        "database": home.database,
        "is_copy": home.is_copy,
        "was_taken_over": home.was_taken_over,
        "timeline": home.timeline,
        "timeline_now": home.timeline_now,
        "receipts": found.receipts,
        "findings": [
            {
                "kind": one.kind,
                "run": one.run_id,
                "name": one.name,
                "what": one.what,
                "at": one.at.isoformat(timespec="milliseconds") if one.at else None,
            }
            for one in found.findings
        ],
    }


Subject: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--subject",
        metavar="VALUE",
        help="The person's name as runs have it; again for each other value of the person's.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ErasureOptions(options.Printing):
    """Whether a person's values are erased, who erases them, and where."""

    yes: Annotated[
        bool, typer.Option("--yes", help="Erase; without it, what would change is counted.")
    ] = False
    reason: options.Reason = ""
    by: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Who erases; default: your user name."),
    ] = ""
    db: options.Db = ""
    as_json: options.Json = False


def erase(*, subject: Subject, told: ErasureOptions) -> Exit:
    """Erase a person's values from runs, gates, decisions, events, calls and records.

    Each value becomes a hash that nobody can undo, in every table; records keep their place in their chain, and
    their hash.  Runs that have a value must have ended; their checkpoints go.  As the role that owns the tables.
    The erasure itself is kept, without the values.  Exit code 1 where a value had to stay: in a key, in the
    bytes of a flow, or in a longer word.
    """
    from cinatra_sdk.store.evidence.erasure import erase_person
    from oas_compiler.cli.commands.database import find_owner

    terminal, who, is_dry = told.open_terminal(), resources.person(told.by), not told.yes
    reason = options.drop_placeholder(terminal, told.reason)
    done = erase_person(find_owner(told.db), subject, by=who, reason=reason, dry_run=is_dry)
    terminal.data({"dry_run": is_dry, **_list_erased(done)}, of_run=True)
    _show_erasure(terminal, done, is_dry=is_dry)
    return Exit.FINDINGS if done.left or done.active else Exit.OK


def _list_erased(done: Erasure) -> dict[str, Any]:
    return {
        "token": done.token,
        "runs": list(done.runs),
        "active": list(done.active),
        "changed": dict(done.changed),
        "left": dict(done.left),
    }


def _show_erasure(terminal: Terminal, done: Erasure, *, is_dry: bool) -> None:
    verb = "would be changed" if is_dry else "changed"
    rows = say_number(sum(done.changed.values()), "row")
    terminal.show(f"{rows} of {say_number(len(done.runs), 'run')} {verb}")
    for table, number in done.changed.items():
        terminal.show(f"  {clean(table)} {number:,}")
    for place, number in done.left.items():
        terminal.note(f"{number:,} left in {place}: a key, the bytes of a flow, or a longer word")
    for run in done.active:
        terminal.note(f"run {run} has not ended: nothing is erased before it has (oasflow stop)")
    if is_dry:
        terminal.show("nothing was changed; --yes erases")
