"""What the evidence of a run is good for: `oasflow upgrade`, `verify` and `export`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.commands.governance import read_key_file, write_export
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import DriveOptions
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean

if TYPE_CHECKING:
    from cinatra_sdk.governance.records.record_maker import Signer
    from cinatra_sdk.store.runs.rebuilding import Forecast
    from oas_compiler.cli.terminal.streams import Terminal

_WORDS: Final = {
    "unchanged": ("goes on unchanged", "go on unchanged"),
    "asks again": ("asks a gate again", "ask a gate again"),
    "cannot": ("cannot go on", "cannot go on"),
}


def upgrade(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Say what would become of each run, and change nothing.")
    ] = False,
    lent: DriveOptions,
) -> Exit:
    """Bring the runs that another version of oasflow left into the form of this one.

    Each is carried out again in memory from what is stored of it, without any call.  A gate that shows what it
    showed waits on; one that shows something else asks again.
    A run that is not upgraded here is upgraded by whoever works on it next.
    """
    given = lent.lend()
    terminal = lent.open_terminal()
    with resources.store(terminal, lent.db, given.own) as store:
        found = (
            store.foretell_upgrades(tenant=lent.owner)
            if check
            else store.upgrade(tenant=lent.owner)
        )
    _show(terminal, found)
    return Exit.CONFLICT if any(one.outcome == "cannot" for one in found) else Exit.OK


def _show(terminal: Terminal, found: Sequence[Forecast]) -> None:
    for one in found:
        if one.outcome != "unchanged":
            terminal.show(clean(_describe(one)))
    terminal.show(_count(found))
    terminal.data({"runs": [_list_members(one) for one in found]})


def _describe(one: Forecast) -> str:
    if one.outcome == "cannot":
        return f"{one.run_id}  cannot go on: {one.reason}"
    return (
        f"{one.run_id}  asks again, because what it shows has changed: {', '.join(one.asks_again)}"
    )


def _count(found: Sequence[Forecast]) -> str:
    """`14 runs of other versions: 12 go on unchanged, 1 asks a gate again, 1 cannot go on`."""
    if not found:
        return "no run of another version is open"
    number = Counter[str](one.outcome for one in found)
    parts = [
        f"{number[outcome]} {words[number[outcome] != 1]}"
        for outcome, words in _WORDS.items()
        if number[outcome]
    ]
    return f"{say_number(len(found), 'run')} of other versions: {', '.join(parts)}"


def _list_members(one: Forecast) -> dict[str, Any]:
    return {
        "id": one.run_id,
        "outcome": one.outcome,
        "asks_again": list(one.asks_again),
        "reason": one.reason,
    }


def verify(run: options.RunId, *, lent: DriveOptions) -> Exit:
    """Carry a run out again from its evidence alone, and compare it with what is stored.

    The evidence is the file, the inputs, the results of calls and the decisions.  Nothing is called, and nothing
    changes.  The exit code is 1 where something differs.
    """
    options.refuse_empty_run(run)
    given = lent.lend()
    terminal = lent.open_terminal()
    with resources.store(terminal, lent.db, given.own) as store:
        found = store.verify(store.find(run, tenant=lent.owner), tenant=lent.owner)
    if found.is_equal:
        terminal.show(
            clean(f"run {found.run_id} ({found.status}) is what its evidence makes of it")
        )
    for difference in found.differences:
        terminal.show(clean(f"run {found.run_id}: {difference}"))
    terminal.data(
        {"id": found.run_id, "status": found.status, "differences": list(found.differences)}
    )
    return Exit.OK if found.is_equal else Exit.FINDINGS


# ----------------------------------------------------------------------------
# `oasflow export`: what the approvals of a run prove, as a file that anybody can verify.


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What is exported, and as what."""

    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Where to write it; - is stdout.")
    ] = "-"
    key: Annotated[
        str,
        typer.Option(
            "--key",
            metavar="KID=FILE",
            help="Sign it: with an Ed25519 private key (PEM), or a shared secret.",
        ),
    ] = ""
    transcripts: Annotated[
        bool,
        typer.Option("--transcripts", help="With what each decision record was made from."),
    ] = False


def export(run: options.RunId, *, wanted: ExportOptions, lent: DriveOptions) -> Exit:
    """Export what the approvals of a run prove: one signed file, governed or not.

    What each gate showed, who decided, under which policy and flow, and what was then done; of a governed run
    its decision records too.  Results of calls are not in it, only their hashes.
    Without --key the signer of --host signs.  Verify it with: oasflow records --verify FILE.
    """
    options.refuse_empty_run(run)
    signer = _read_signer(wanted.key) if wanted.key else None
    given = lent.lend()
    terminal = lent.open_terminal()
    with resources.store(terminal, lent.db, given.own) as store:
        if signer is not None:
            store.lend_signer(signer)
        found = store.find(run, tenant=lent.owner)
        lines = store.export(found, tenant=lent.owner, transcripts=wanted.transcripts)
        return write_export(terminal, wanted.out, lines)


def _read_signer(given: str) -> Signer:
    """given: `KID=FILE`.  Raises: `Halt`; `NotConfigured` where the package for Ed25519 is missing."""
    from cinatra_sdk.governance.records.record_maker import Signer

    kid, _, file = given.partition("=")
    if not kid or not file:
        raise Halt(f"--key {clean(given)}: give the key a name, --key KID=FILE")
    try:
        content = read_key_file(file)
        if b"-----BEGIN" in content:
            return Signer.ed25519(kid, content)
        return Signer.hmac(kid, content)
    except (ValueError, TypeError) as error:
        raise Halt(
            f"--key {clean(kid)}: {clean(file)} is no key to sign with: {clean(str(error))}"
        ) from None
