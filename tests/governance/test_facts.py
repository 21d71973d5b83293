"""What conditions can read: every fact of a run and of a call, by its name."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.governance.conditions.condition import read_condition
from cinatra_sdk.governance.gateway.facts import complete_call, describe_effect, star_request
from cinatra_sdk.outside.effects.effect import Effect
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


TOKENS = "https://bob:Sommer9@h.example/x?token=Sommernacht1&to=ann&token=Wintertag22x"


def test_no_token_of_a_request_is_a_fact() -> None:
    given: Any = {
        "method": "POST",
        "url": TOKENS,
        "query": {"token": ["Sommernacht1", 837492], "to": "eve"},
        "headers": {"X-Api-Key": 8374928374928371, "Cookie": ["sid=Wintertag22x"]},
        "body": "send to https://bob:Sommer9@h.example/",
    }
    call = describe_effect(
        Effect(
            kind="http",
            capability="POST https://h.example/x",
            node="n",
            path="n",
            arguments=given,
            key="k",
        )
    )
    assert call["url"] == "https://h.example/x"
    assert call["query"] == {"token": ["***"] * 4, "to": ["ann", "eve"]}
    assert call["headers"] == {"x-api-key": "***", "cookie": ["***"]}
    assert call["body"] == "send to https://h.example/"
    args = star_request(given)
    assert args["url"] == "https://h.example/x?token=***&to=ann&token=***"
    assert args["query"] == {"token": ["***", "***"], "to": "eve"}


@pytest.mark.parametrize(
    ("args", "starred"),
    [
        ({"token": 837492}, {"token": "***"}),
        ({"tokens": ["a", {"b": 1}, [2.5]]}, {"tokens": ["***", "***", [2.5]]}),
        ({"a": [{"password": {"value": "x"}}]}, {"a": [{"password": "***"}]}),
        ({"passwort": "x", "credentials": {"u": "x"}}, {"passwort": "***", "credentials": "***"}),
        (
            {"max_tokens": 500, "token_count": 3, "pass": True, "signature": False, "secret": None},
            {"max_tokens": 500, "token_count": 3, "pass": True, "signature": False, "secret": None},
        ),
    ],
)
def test_whatever_stands_under_the_name_of_a_token_is_starred(args: Any, starred: Any) -> None:
    assert complete_call({"kind": "tool", "tool": "x"}, args)["arguments"] == starred
