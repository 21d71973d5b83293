"""`agent_run_hitl_prompts_list`: what people answered at the gates of the calling run, in order.

agent_run_hitl_prompts_list({})
    ->  {"prompts": [{"runId": "r1", "stepKey": "review", "message": "Shorter", …}]}

Of more than `MOST_LISTED` answers the last are listed, and `leftOut` says how many came before them.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.passthrough.named import NamedCall, NamedTool
from cinatra_sdk.postgres.connection import every
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import RouteError
from cinatra_sdk.store.gate_decision import GateDecision

MOST_LISTED: Final = 500
"""Answers of one list."""
_WORDS: Final = ("approvalNote", "userResponse")
"""Members of an answer that are a person's own words, the first that is a text wins."""
_ALL: Final = {"after_at": None, "after_gate": "", "after_sha256": "", "limit": None}


def prompts_tool(database: Database) -> NamedTool:
    def run(call: NamedCall) -> dict[str, JsonValue]:
        call.require_tenant()
        named = call.input.get("runId") or call.owner.run_id
        if named != call.owner.run_id:
            raise RouteError(403, "run_mismatch", "a run lists the answers of itself alone")
        with database.connection() as connection:
            rows = every(connection, "list_decisions", {"run_id": call.owner.run_id, **_ALL})
        given = [one for one in map(GateDecision.of, rows) if one.kind != "auto_skipped"]
        listed: dict[str, JsonValue] = {"prompts": [_describe(one) for one in given[-MOST_LISTED:]]}
        left_out = len(given) - MOST_LISTED
        return listed | ({"leftOut": left_out} if left_out > 0 else {})

    return NamedTool(name="agent_run_hitl_prompts_list", run=run)


def _describe(decision: GateDecision) -> dict[str, JsonValue]:
    answer: dict[str, Any] = dict(decision.answer)
    words = (answer.get(name) for name in _WORDS)
    return {
        "runId": decision.run_id,
        "stepKey": decision.gate_id,
        "decision": decision.kind,
        "message": next(
            (text for text in words if isinstance(text, str) and text), decision.reason
        ),
        "submittedValues": answer,
        "decidedBy": decision.decided_by,
        "decidedAt": decision.decided_at.isoformat(),
    }
