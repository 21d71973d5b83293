"""Begin the refund by hand: it is stored, runs to its gate, and waits for finance.

    cd examples/refund
    export PYTHONPATH=.:../.. OASFLOW_TENANT=tenant_acme_prod OASFLOW_HOST=host:lend
    python begin.py            ->  refund-881 is waiting: oasflow approve refund-881/… --shown … --as user_finance_lead_77

In: the id of the run, `refund-881` where none is named.  Out: how the run stands.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import host

from cinatra_sdk import FlowError, RunStore

HERE = Path(__file__).parent
TENANT = "tenant_acme_prod"
CUSTOMER_DESK = "usr_771"
"""Whoever is signed in at the desk: the request has to be for this very person."""
LEAD = "user_finance_lead_77"


def main(run_id: str = "refund-881") -> int:
    parts = host.lend()
    request = json.loads((HERE / "request.json").read_text(encoding="utf-8"))
    try:
        with RunStore.open(host=parts) as store:
            about = {"tenant": TENANT, "by": CUSTOMER_DESK}
            run = store.start(parts.graphs[0], {"request": request}, run_id, **about)  # type: ignore[arg-type]  # a flow
    except FlowError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    asked = "".join(
        f": oasflow approve {run.id}/{gate.id} --shown {gate.shown[:16]} --as {LEAD}"
        for gate in run.waiting
    )
    sys.stdout.write(f"{run.id} is {run.status}{asked}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
