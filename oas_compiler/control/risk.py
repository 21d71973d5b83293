"""The meaning of the risk classes of a flow: its sends, and the weight of each class.

In: a `riskClass` as an author wrote it, or a flow.  Out: its weight; the nodes of a send class.

    weight("read_only") < weight("write") < weight("approval") < weight("email_send")
    sends(flow) -> {("sender_flow", "send")}
"""

from __future__ import annotations

from cinatra_sdk.contract import is_send_class
from oas_compiler.ir import FlowIR, InputMessageNode, Node, Path, walk

READ, WRITE, APPROVAL, SEND = range(4)
_READ_CLASSES = frozenset({"", "read_only", "read"})


def is_send(node: Node) -> bool:
    """Whether the node itself acts on the world outside: its author gave it a send class.

    A gate never does: its class describes the nodes that it guards.  A FlowNode acts when its
    subflow has run.
    """
    return not isinstance(node, InputMessageNode) and is_send_class(node.risk_class)


def weight(risk_class: str) -> int:
    """How much care a risk class asks for: reading, writing, approving, sending.

    A class nobody knows weighs as much as writing: authors make their own (`draft_create`).
    """
    if is_send_class(risk_class):
        return SEND
    if risk_class == "approval":
        return APPROVAL
    return READ if risk_class in _READ_CLASSES else WRITE


def sends(flow: FlowIR) -> frozenset[Path]:
    """The nodes of `flow`, at any depth, that act on the world outside; never a gate."""
    return frozenset(path for path, node in walk(flow) if is_send(node))
