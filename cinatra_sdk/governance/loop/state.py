"""What the loop knows between two of its nodes.

One sealed JSON object (`loop`) goes from node to node.  Its `next` names the node whose turn it is, so
that a jump into the middle of the loop does nothing.  What never changes stands in `admitted` and
`compiled`, which are written once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final

from typing_extensions import TypedDict

from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.gateway import GateApproval
from cinatra_sdk.governance.story import NAMED
from cinatra_sdk.governance.usage import RunUsage, Used
from cinatra_sdk.governed.state import GovernedState, HostOnly, Latest, seal

NODES: Final = (
    "admit",
    "compile",
    "plan",
    "verify",
    "step",
    "gate",
    "score",
    "consolidate",
    "record",
    "escalated",
)
GATE: Final = "gate"
"""The node that asks a person."""
WAITING: Final = "call"
"""Member of `pending`: the call that a person is asked about, as a record tells it."""
REQUEST: Final = "request"
"""The one input: the invokeAgent envelope."""


class LoopInput(TypedDict):
    """What a caller sends."""

    request: dict[str, Any]


class LoopOutput(TypedDict, total=False):
    """What a caller receives."""

    status: str
    outputs: dict[str, Any]


class LoopState(GovernedState):
    request: dict[str, Any]
    input_params: Annotated[dict[str, Any], HostOnly]
    admitted: Annotated[dict[str, Any], HostOnly]
    """`{"envelope", "run", "book", "attachments", "at"}`."""
    compiled: Annotated[dict[str, Any], HostOnly]
    loop: Annotated[dict[str, Any], Latest]
    outputs: Annotated[dict[str, Any], HostOnly]


def begin_loop() -> dict[str, Any]:
    """The loop before its first node."""
    return {
        "seq": 0,
        "version": NAMED,
        "next": "admit",
        "attempt": 0,
        "findings": [],
        "plan": None,
        "cursor": 0,
        "pending": None,
        "calls": [],
        "done": {},
        "approvals": [],
        "retries": {},
        "verify": None,
        "score": None,
        "status": "",
        "outcome": None,
        "outputs": {},
        "reason": "",
        "proposals": [],
        "gate_visits": 0,
        "used": asdict(Used()),
    }


def go_to(loop: Mapping[str, Any], node: str, **changed: Any) -> dict[str, Any]:
    """The update that passes the turn on."""
    made = {**copy.deepcopy(dict(loop)), **changed, "next": node, "seq": loop["seq"] + 1}
    return {"loop": seal(made)}


def read_usage(loop: Mapping[str, Any]) -> RunUsage:
    return RunUsage(Used(**loop["used"]))


def list_approvals(loop: Mapping[str, Any]) -> list[GateApproval]:
    return [
        GateApproval(
            gate_id=one["gate_id"], approver=one["approver"], snapshot_hash=one["snapshot_hash"]
        )
        for one in loop["approvals"]
        if one["decision"] == "approved"
    ]


def list_recorded(loop: Mapping[str, Any]) -> dict[str, Evidence]:
    """Results of calls, as evidence for the next ones: the oldest first."""
    return {
        one["ref"]: Evidence(one["ref"], one["sha256"])
        for one in loop["calls"]
        if one["result"]["status"] in ("ok", "completed")
    }
