"""Hand-written graphs that a test's graph server offers; the platform is the one of its environment.

by_hand   host → child (by hand: gate "review") → send
around    host → child (a compiled flow: gate "review") → send
selects   host → child (`context_selection`: its gate) → send
"""

from __future__ import annotations

import os
from typing import Annotated, Any

from langgraph.graph import StateGraph

from cinatra_sdk.blocks.host_node import seal_host_fields, terminal_node
from cinatra_sdk.blocks.llm_step import llm_step
from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.governed.state import HostOnly
from graphs.context_selection import context_selection
from graphs.platform import platform_of
from tests.attacks.nested import POLICY, TEXT, Input, Outer, hand_written_around, in_a_row


class Selecting(Outer):
    child_output: Annotated[dict[str, Any], HostOnly]


def hand_written_selecting(platform: Any) -> Any:
    """host → child → send → terminal, where a person selects inside `child`.

    A selection is no approval that `needs` could name: what holds `send` back is that it reads what
    was selected, from a key that no client writes.
    """
    builder = StateGraph(Selecting, context_schema=HostContext, input_schema=Input)
    nodes = {
        "host": seal_host_fields(POLICY),
        "child": context_selection(
            platform, node="child", slot_id="voice", package_name="@x/y", sealed=True
        ),
        "send": llm_step(
            platform,
            node="send",
            agent_id="@t/send",
            user="{{ child_output.contextRefs[0].slotId }}",
            outputs=TEXT,
            sealed=True,
        ),
        "terminal": terminal_node(requires=("send_output",)),
    }
    return in_a_row(builder, nodes).compile()


_PLATFORM = platform_of(os.environ)
by_hand = hand_written_around(_PLATFORM, "by hand", saver=False)
around = hand_written_around(_PLATFORM, "compiled", saver=False)
selects = hand_written_selecting(_PLATFORM)
