"""`oasflow memory`: what governed runs would like to be remembered, and the reviewer's word."""

from __future__ import annotations

from typing import Annotated

import typer

from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

By = Annotated[
    str, typer.Option("--as", "--by", metavar="NAME", help="Who reviews; default: your user name.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept for good.")]
ProposalId = Annotated[str, typer.Argument(metavar="PROPOSAL", help="mp_….")]


def list_(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Reviewed ones too.")] = False,
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List what runs propose to remember and nobody has reviewed."""
    from cinatra_sdk.store.memory import MemoryProposals
    from oas_compiler.cli.audit_view import proposals_table

    terminal = Terminal.open(as_json=as_json)
    with opening.store(terminal, db) as store:
        memory = MemoryProposals(store.database)
        page = memory.page(tenant=tenant or None, is_open=not everything)
        found = page.items
        now = store.database.now()
    terminal.data(
        {
            "proposals": [
                {
                    "run": one.run_id,
                    "proposal": one.proposal.to_json(),
                    "review": None if one.review is None else one.review.to_json(),
                }
                for one in found
            ],
            **options.list_unreadable(page),
        },
        of_run=True,
    )
    if found:
        terminal.show(proposals_table(found, now))
    elif not page.unreadable:
        terminal.say("no proposals")
    options.tell_unreadable(terminal, page)
    return Exit.OK


def promote(
    proposal: ProposalId,
    *,
    by: By = "",
    reason: Reason = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Say that a proposal is worth remembering; whoever keeps a pack puts it into the next version."""
    return _review(proposal, by, reason, tenant, db, promoted=True, as_json=as_json)


def decline(
    proposal: ProposalId,
    *,
    by: By = "",
    reason: Reason = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Say that a proposal is not to be remembered."""
    return _review(proposal, by, reason, tenant, db, promoted=False, as_json=as_json)


def _review(
    proposal: str, by: str, reason: str, tenant: str, db: str, *, promoted: bool, as_json: bool
) -> Exit:
    from cinatra_sdk.store.memory import MemoryProposals

    terminal = Terminal.open(as_json=as_json)
    who = opening.person(by)
    with opening.store(terminal, db) as store:
        MemoryProposals(store.database).review(
            proposal, promoted=promoted, by=who, reason=reason, tenant=tenant or None
        )
    verdict = "promoted" if promoted else "declined"
    terminal.data({"proposal": proposal, "verdict": verdict, "by": who})
    terminal.show(f"{clean(proposal)} {verdict}")
    return Exit.OK
