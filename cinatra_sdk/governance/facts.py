"""What conditions may read: the facts of a run, and of one call in it, as plain JSON.

intent, tenant_id, session_id, mode, channel, locale, safety_mode
input       {"intent", "message", "channel", "locale", "context"}: what was asked
context     input.context: facts that the caller gives; its word, and no proof
user        the claims about the person, with `scopes`, without any token
agent       {"agent_id", "agent_urn", "role", "scopes"}
capability  "adp_payments.issue_refund"; adapter "adp_payments"; args {…}; approval_mode "destructive"
call        the whole call: method, url, path, query, headers and body, or model, tool and arguments
evidence    references to evidence of the call
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cinatra_sdk.governance.call_facts import complete_call
from cinatra_sdk.governance.canonical import spell_integers
from cinatra_sdk.governance.contracts.invoke import AgentInput
from cinatra_sdk.governance.contracts.run_context import VOUCHED, RunContext


def make_run_facts(run: RunContext, asked: AgentInput, *, mode: str = "batch") -> dict[str, Any]:
    """The facts that are the same for every call of a run."""
    claims = run.user.to_json()
    delegation = claims.pop("delegation", None) or {}
    given = asked.to_json()
    return {
        "intent": asked.intent,
        "tenant_id": run.tenant_id,
        "session_id": run.session_id,
        "mode": mode,
        "channel": asked.channel,
        "locale": asked.locale or run.locale,
        "safety_mode": run.safety_mode,
        "input": given,
        "context": given.get("context") or {},
        "user": {**claims, "scopes": list(delegation.get("scopes", ()))},
        "agent": _describe_agent(run),
    }


def _describe_agent(run: RunContext) -> dict[str, Any]:
    """As far as somebody vouches for it; runs of earlier releases do not say who, and are told whole."""
    claim, voucher = run.agent.identity_claim, run.metadata.get(VOUCHED, "host")
    return {
        "agent_id": run.agent.agent_id if voucher == "host" else None,
        "agent_urn": run.agent.agent_urn if voucher else None,
        "role": run.agent.role,
        "scopes": [] if claim is None else list(claim.scopes),
    }


def replace_context(run_facts: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a run in which something else is given, as in the flow inside of another."""
    given = spell_integers(context)
    return {**run_facts, "input": {**run_facts["input"], "context": given}, "context": given}


def make_call_facts(
    run_facts: Mapping[str, Any],
    *,
    capability: str,
    args: Any,
    approval_mode: str,
    evidence: Iterable[str],
    about: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The facts of one call.

    about: what `call_facts` says of it; None: of a record of an earlier release, whose rules did not
    read it.
    """
    whole = {} if about is None else {"call": complete_call(about, args)}
    return {
        **whole,
        **run_facts,
        "capability": capability,
        "adapter": capability.partition(".")[0],
        "args": spell_integers(args),
        "approval_mode": approval_mode,
        "evidence": list(evidence),
    }
