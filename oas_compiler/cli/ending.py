"""The decision record of a governed run that a command ends without its flow: who signs it.

with opening.store(terminal, db, signer=find_signer(terminal, host)) as store:
    store.stop(run_id)
    tell_unsigned(terminal, store, run_id)    "the decision record dr_r1_3 is not signed, …"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cinatra_sdk.errors import HostRefused
from oas_compiler.cli.hosting import find_parts
from oas_compiler.cli.safe import clean

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from oas_compiler.cli.terminal import Terminal


def lend_signer(terminal: Terminal, store: RunStore, option: str) -> None:
    """Lend the store the signer of the host, if it has one, and no other part of it.

    No mistake of a host prevents the end of a run: it is told.
    """
    try:
        parts = find_parts(option)
    except HostRefused as refused:
        terminal.note(f"the host is not used: {clean(str(refused))}")
        return
    if parts is None or parts.governance is None:
        return
    from cinatra_sdk.governance.governance import Governance
    from cinatra_sdk.governance.signing import Signer

    governance: object = parts.governance  # a factory may put anything there
    signer: object = governance.ports.signer if isinstance(governance, Governance) else None
    if isinstance(signer, Signer):
        store.lend_signer(signer)


def tell_unsigned(terminal: Terminal, store: RunStore, run_id: str) -> None:
    """Say that a run's last record has no signature; a run that no pack governs has no record."""
    from cinatra_sdk.store.records import DecisionRecords

    last = DecisionRecords(store.database).page(run_id=run_id, limit=1).items
    if last and last[0].record.signature is None:
        terminal.note(
            f"the decision record {clean(last[0].record.record_id)} is not signed, and verifying it "
            "with keys names it: --host MODULE:FACTORY (or OASFLOW_HOST) lends a signer"
        )
