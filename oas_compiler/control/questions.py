"""Whether a gate asks a question, or for an approval.

    InputMessageNode "city", message "Where do you live?", its output feeds a node   ->  a question
    the same with "metadata": {"cinatra": {"riskClass": …}}                          ->  an approval
    the same, and no node reads its output                                           ->  an approval

In the words of Agent Spec an InputMessageNode asks for the next thing that a person says.  Cinatra makes
approvals of them, and says by `metadata.cinatra`, or by `gateSteps` of the FlowNode around, what is
approved: there a yes without a text goes on as `[Approved by operator]`.  A question has no such answer.
"""

from __future__ import annotations

from oas_compiler.control.gates import GateSpec, show_gate
from oas_compiler.ir import STRING, FlowIR, InputMessageNode


def asks_question(flow: FlowIR, node: InputMessageNode, spec: GateSpec) -> bool:
    """Whether a yes is no answer: the text of the gate goes on, and its author made it no approval.

    flow: in which the gate stands.  spec: the gate as the policy shows it.
    """
    is_step = spec != show_gate(node, spec.path, spec.step)
    return takes_text(node) and not node.cinatra.mapping() and not is_step and is_read(flow, node)


def takes_text(node: InputMessageNode) -> bool:
    """Whether a yes without a text would be a text of its own: the gate has no schema of its answer."""
    return node.answer_schema is None and bool(node.outputs) and node.outputs[0].type == STRING


def is_read(flow: FlowIR, node: InputMessageNode) -> bool:
    """Whether anything of the flow reads what the gate puts out."""
    return any((node.id, port.title) in flow.readers for port in node.outputs)


def list_readers(flow: FlowIR, node: InputMessageNode) -> list[str]:
    """What reads the output of a gate: `node.input`, in the order of the edges.

    An input with a default counts: the default stands where no edge feeds it, not for an approval.
    """
    edges = [edge for port in node.outputs for edge in flow.readers.get((node.id, port.title), ())]
    return [f"{edge.target}.{edge.input}" for edge in edges]
