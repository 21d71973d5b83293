"""What conditions can read: every fact of a run and of a call, by its name."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.governance.conditions.condition import read_condition
from tests.governance.packs import RECORDED, RUN, make_gateway, make_refund

URN = "agent:contextos/support-refund@1.2.0"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("intent", "support.refund"),
        ("tenant_id", "tenant_acme_prod"),
        ("session_id", "sess_42f1"),
        ("mode", "stream"),
        ("safety_mode", "delegated"),
        ("agent.agent_urn", URN),
        ("agent.scopes", ["tools:read"]),
        ("user.user_id", "usr_771"),
        ("capability", "adp_payments.issue_refund"),
        ("adapter", "adp_payments"),
        ("args.amount_inr", 4200),
        ("approval_mode", "destructive"),
        ("nothing", None),
        ("user.delegation", None),  # no token and no name of one
    ],
)
def test_a_condition_reads_the_fact(name: str, value: Any) -> None:
    facts = make_gateway().examine(make_refund(), RECORDED).facts
    assert read_condition({"var": name}).value(facts) == value


def test_the_scopes_of_a_person_are_those_that_the_person_delegated() -> None:
    gateway = make_gateway()
    facts = gateway.examine(make_refund(), RECORDED).facts
    delegation = gateway.run.user.delegation
    assert delegation is not None
    assert facts["user"]["scopes"] == list(delegation.scopes) != []
    assert RUN not in str(facts["user"])
