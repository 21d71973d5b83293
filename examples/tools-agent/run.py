"""A host that embeds a flow: Python functions as its tools, runs in Postgres, its own policy.

In: nothing but a database (DATABASE_URL, else the embedded server).  Out: three stories, printed.

    python examples/tools-agent/run.py

The command line runs the flow with what `lend` returns:

    cd examples/tools-agent && oasflow run . --set order_id=A-17 --host run:lend
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from cinatra_sdk import Decision, HostParts, PolicyInvalid, Run, RunStore
from oas_compiler import Flow, compile_flow

AGENT = Path(__file__).parent
ORDERS = {"A-17": ("Mira Okafor", 240), "A-18": ("Jon Berg", 9)}
SMALL_AMOUNT = 20
"""In euro; refunds up to here need nobody's approval in this shop."""


def look_up_order(order_id: str) -> dict[str, str | int]:
    customer, amount = ORDERS[order_id]
    return {"customer": customer, "amount_euro": amount}


def refund_order(order_id: str, amount_euro: int, note: str) -> str:
    print(f"  refund_order pays {amount_euro} euro for {order_id}, note: {note}")
    return f"receipt-{order_id}"


TOOLS: Mapping[str, Callable[..., object]] = {
    "look_up_order": look_up_order,
    "refund_order": refund_order,
}


def lend() -> HostParts:
    """What this process lends to runs: the two tools."""
    return HostParts(tools=TOOLS)


def shop_policy(order_id: str) -> dict[str, list[dict[str, int | bool]]]:
    """Step 1 is the gate "Approve the refund"; the shop waives it for small amounts."""
    _customer, amount = ORDERS[order_id]
    return {"steps": [{"stepNumber": 1, "requiresApproval": amount > SMALL_AMOUNT}]}


def begin(store: RunStore, flow: Flow, order_id: str, policy: object) -> Run:
    """Start a run under the host's word: whose run it is, and which policy governs it."""
    run_id = f"refund-{order_id}-{uuid.uuid4().hex[:6]}"
    context = flow.context(tenant="shop-1", approval_policy=policy)
    return store.start(flow, {"order_id": order_id}, run_id, context=context)


def a_person_approves(store: RunStore, flow: Flow) -> None:
    print("A refund that a person approves")
    run = begin(store, flow, "A-17", shop_policy("A-17"))
    (gate,) = run.waiting
    print(f"  {gate.name}: {gate.values['customer']}, {gate.values['amount_euro']} euro")
    # The value is the text that the gate puts out, which the next tool gets as its note; the reason
    # is for the record of decisions alone.
    decision = Decision.approve(
        by="ann@example.org", value="arrived broken", reason="the photo shows it"
    )
    run = store.answer(run.id, gate.id, decision)
    print(f"  {run.status}: {run.outputs}")


def the_policy_waives(store: RunStore, flow: Flow) -> None:
    print("A small refund, waived by the shop's policy")
    run = begin(store, flow, "A-18", shop_policy("A-18"))
    for row in store.decisions(run.id):
        print(f"  {row['gate_id']}: {row['kind']} by {row['decided_by']}")
    print(f"  {run.status}: {run.outputs}")


def a_policy_with_a_hole_is_refused(store: RunStore, flow: Flow) -> None:
    print("A policy that forgets the gate before a payment")
    try:
        begin(store, flow, "A-17", {"steps": []})
    except PolicyInvalid as refusal:
        print(f"  not started: {refusal}")


def main() -> None:
    flow = compile_flow(AGENT, host=lend())
    with RunStore.open(host=lend()) as store:
        a_person_approves(store, flow)
        the_policy_waives(store, flow)
        a_policy_with_a_hole_is_refused(store, flow)


if __name__ == "__main__":
    main()
