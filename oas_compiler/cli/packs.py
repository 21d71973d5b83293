"""`oasflow packs`: the packs of governed runs, in the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cinatra_sdk.text.files import read_named
from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.governance.registry import Published

MOST_BYTES = 4_000_000


def publish(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="NAME@VERSION.json.")],
    *,
    by: Annotated[
        str,
        typer.Option(
            "--as", "--by", metavar="NAME", help="Who publishes; default: your user name."
        ),
    ] = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Publish packs and catalogs of decisions; a version never changes afterwards."""
    from cinatra_sdk.store.packs import StoredPacks

    terminal = Terminal.open(as_json=as_json)
    who = opening.person(by)
    read = [_read_pack(file) for file in files]
    with opening.store(terminal, db) as store:
        packs = StoredPacks(store.database)
        done = [(one.ref, packs.publish(one, by=who)) for one in read]
    terminal.data(
        {
            "published": [ref for ref, new in done if new],
            "known": [ref for ref, new in done if not new],
        }
    )
    for ref, new in done:
        terminal.show(f"{clean(ref)} {'published' if new else 'was there already'}")
    return Exit.OK


def _read_pack(file: Path) -> Published:
    """Raises: `Halt`; `GovernanceRefused`."""
    from cinatra_sdk.governance.registry import read_published

    try:
        text = read_named(file, MOST_BYTES + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise Halt(f"{clean(str(file))} cannot be read: {why}") from None
    if len(text) > MOST_BYTES:
        raise Halt(f"{clean(str(file))} has more than {MOST_BYTES:,} bytes")
    return read_published(file.name.removesuffix(".json"), text)


def list_(
    *,
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List the packs in the database."""
    from cinatra_sdk.store.packs import StoredPacks
    from oas_compiler.cli.audit_view import packs_table

    terminal = Terminal.open(as_json=as_json)
    with opening.store(terminal, db) as store:
        found = StoredPacks(store.database).list_entries(tenant=tenant or None)
        now = store.database.now()
    terminal.data(
        {
            "packs": [
                {"ref": one.ref, "tenant": one.tenant, "sha256": one.sha256, "by": one.published_by,
                 "at": one.published_at.isoformat()}
                for one in found
            ]
        }
    )  # fmt: skip
    if found:
        terminal.show(packs_table(found, now))
    else:
        terminal.say("no packs: publish some with oasflow packs publish FILE…")
    return Exit.OK
