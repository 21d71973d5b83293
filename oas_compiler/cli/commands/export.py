"""`oasflow export`: what the approvals of a run prove, as a file that anybody can verify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.commands.governance import read_key_file, write_export
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import DriveOptions
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean

if TYPE_CHECKING:
    from cinatra_sdk.governance.records.record_maker import Signer


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
