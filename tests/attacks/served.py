"""Hand-written graphs that a test's graph server offers; the platform is the one of its environment.

by_hand   host → child (by hand: gate "review") → send
around    host → child (a compiled flow: gate "review") → send
selects   host → child (`context_selection`: its gate) → review (gate) → send
"""

from __future__ import annotations

import os
from typing import Annotated, Any

from langgraph.graph import StateGraph

from cinatra_sdk import build_hitl_gate
from cinatra_sdk.blocks.host_node import gate_once, keep_decision, seal_host_fields, terminal_node
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.langgraph_threads.state_channels import HostOnly
from graphs.context_selection import context_selection
from graphs.platform import platform_of
from tests.attacks.nested import POLICY, Input, Outer, asking, hand_written_around, in_a_row


class Selecting(Outer):
    child_output: Annotated[dict[str, Any], HostOnly]
    review_decision: Annotated[dict[str, Any], HostOnly]


def hand_written_selecting(platform: Any) -> Any:
    """host → child → review → send → terminal: a person selects inside `child`, then approves."""
    keep = keep_decision("review_decision", node="review", step_number=1)
    review = build_hitl_gate(step_number=1, node="review", write=keep)
    builder = StateGraph(Selecting, context_schema=HostContext, input_schema=Input)
    nodes = {
        "host": seal_host_fields(POLICY),
        "child": context_selection(
            platform, node="child", slot_id="voice", package_name="@x/y", sealed=True
        ),
        "review": gate_once("review_decision", review, requires=("child_output",)),
        "send": asking(platform, "send", needs=("review_decision",)),
        "terminal": terminal_node(requires=("send_output",)),
    }
    return in_a_row(builder, nodes).compile()


_PLATFORM = platform_of(os.environ)
by_hand = hand_written_around(_PLATFORM, "by hand", saver=False)
around = hand_written_around(_PLATFORM, "compiled", saver=False)
selects = hand_written_selecting(_PLATFORM)
