"""Packs and requests for tests: the refund of the example, with parts replaced."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cinatra_sdk.governance.contracts.context_pack import ContextPack, DecisionCatalog
from cinatra_sdk.governance.contracts.invocation import UserClaims
from cinatra_sdk.governance.gateway.admission import Admitted, HostWord, admit, make_claim
from cinatra_sdk.governance.gateway.call_proposal import GovernedCall
from cinatra_sdk.governance.gateway.facts import make_run_facts
from cinatra_sdk.governance.gateway.gateway import Gateway
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.governance.run.budgets import RunUsage
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from tests.sources import ROOT

EXAMPLE = ROOT / "examples" / "refund"
TENANT = "tenant_acme_prod"
USER = "usr_771"
VERIFIED = UserClaims.read({"user_id": USER, "identity_verified": True})
"""As the host of the example knows the user."""
RUN = "run_a1b2c3d4e5f60718"
NOW = datetime(2026, 5, 4, 9, 31, 42, tzinfo=UTC)
ORDER_REF = "kg:order:ord_881#snapshot_kg_2026_05_03_T0930"
KEY = "ik_2x9k4j7m1q8w0p3z"
ARGS: dict[str, Any] = {
    "order_id": "ord_881", "amount_inr": 4200, "currency": "INR", "idempotency_key": KEY,
}  # fmt: skip
RECORDED = {
    ref: Evidence(ref, "sha256:" + digit * 64)
    for ref, digit in (
        ("tool:adp_orders.lookup:order", "1"),
        ("tool:adp_policy.eval:policy", "2"),
    )
}


def read_example(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLE / name).read_text(encoding="utf-8"))
    return found


def read_pack() -> dict[str, Any]:
    return read_example("packs/ctxpack.support@5.2.0.json")


def read_catalog() -> dict[str, Any]:
    return read_example("packs/decision-catalog.support@2.1.0.json")


def put(value: dict[str, Any], path: str, new: Any) -> dict[str, Any]:
    """A copy with another value at `a/b/0/c`; `...` takes the member out."""
    made = copy.deepcopy(value)
    *parents, last = path.split("/")
    place: Any = made
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if isinstance(place, list):
        place[int(last)] = new
    elif new is ...:
        del place[last]
    else:
        place[last] = new
    return made


def make_registry(pack: Mapping[str, Any] | None = None, *others: Any) -> MemoryRegistry:
    made = ContextPack.read(pack or read_pack(), code="PACK_INVALID")
    return MemoryRegistry([made, DecisionCatalog.read(read_catalog()), *others])


def make_ports(**changed: Any) -> GovernancePorts:
    given: dict[str, Any] = {
        "evidence": {"kg": lambda ref, run: Evidence(ref, tenant=run.tenant_id)},
        "claim_holds": lambda _claim: True,
        "delegation_for": lambda user, _delegation: f"tok_{user}",
        "delegation_holds": lambda _user, _delegation: True,
        "roles_of": lambda _tenant, person: {"finance_lead"} if "finance" in person else (),
        "clock": lambda: NOW,
    }
    return GovernancePorts(**{**given, **changed})


def make_request(**changed: Any) -> dict[str, Any]:
    """The request of the example with a claim; members are replaced by their paths, `a__b`."""
    made = read_example("request.json")
    urn = made["agent"]["agent_urn"]
    made["agent"]["identity_claim"] = make_claim(RUN, TENANT, urn, ("tools:read",)).to_json()
    for path, new in changed.items():
        made = put(made, path.replace("__", "/"), new)
    return made


def make_word(**said: Any) -> HostWord:
    """What the host of the example says of whoever asks: it vouches for the user of the request."""
    given: dict[str, Any] = {
        "tenant": TENANT, "run_id": RUN, "user": VERIFIED, "started_by": USER,
    }  # fmt: skip
    return HostWord(**{**given, **said})


def admit_example(
    pack: Mapping[str, Any] | None = None,
    ports: GovernancePorts | None = None,
    *,
    word: HostWord | None = None,
    **changed: Any,
) -> Admitted:
    host = word or make_word()
    return admit(make_request(**changed), host, make_registry(pack), ports or make_ports())


def make_gateway(
    pack: Mapping[str, Any] | None = None,
    ports: GovernancePorts | None = None,
    *,
    usage: RunUsage | None = None,
    word: HostWord | None = None,
    **changed: Any,
) -> Gateway:
    doors = ports or make_ports()
    admitted = admit_example(pack, doors, word=word, **changed)
    facts = make_run_facts(admitted.run, admitted.envelope.input, mode=admitted.envelope.mode)
    return Gateway(admitted.book, admitted.run, facts, ports=doors, usage=usage or RunUsage())


def make_refund(**changed: Any) -> GovernedCall:
    given: dict[str, Any] = {
        "capability_id": "adp_payments.issue_refund",
        "args": ARGS,
        "tool_call_id": "refund",
        "idempotency_key": KEY,
        "mode_requested": "destructive",
        "evidence_refs": (ORDER_REF,),
    }
    return GovernedCall(**{**given, **changed})
