"""Some node reads the answer of a gate that asks a question.

    "city" (message "Where do you live?", output "said"), and no edge from "said"     ->  OAS222 at "city"
    setup (inputMessageSchema with a site), and no edge from its output               ->  OAS222 at "setup"
    sign (riskClass approval), and no edge from its output: its yes is enough

Every InputMessageNode has an output, so the unread output of an approval is no mistake: a gate with
metadata.cinatra and without a schema of its answer is an approval, whatever its message says.  The answer
goes into the conversation too, so it is not lost where an agent comes after the gate.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject
from oas_compiler.control.gates import is_read, is_selector
from oas_compiler.control.graph import link_level
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, InputMessageNode, Node
from oas_compiler.kinds.registry import kind_of

_HEARING = frozenset({"step", "subflow", "agent", "llm_config"})
"""What the nodes have as shape or behind them that may read the conversation: agents, models, and
what runs flows.  Other calls, messages and branches read their inputs alone.
"""


@rule(
    code="OAS222",
    name="gate-output-unread",
    severity="warning",
    summary="A gate asks for a text or for data, and nothing reads what a person answers.",
    fix="Lead the gate's output to the node that needs it, or ask for an approval.",
    source="this project",
    needs="flow",
    bad='the gate "city" asks "Where do you live?", and no data edge leaves it',
    good='"said" of the gate "city" → "city" of "write"',
)
def gate_output_unread(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in _list_asking(flow):
            if is_read(flow, node) or _is_heard(flow, node):
                continue
            report(
                f'nothing reads what a person answers at "{node.id[:80]}"',
                subject.place(node.place.pointer),
                hint="lead its output on by a data edge; an approval needs no message and no schema",
            )


def _list_asking(flow: FlowIR) -> Iterator[InputMessageNode]:
    """The gates that ask for more than a yes, and whose outputs are known."""
    for node in flow.by_id.values():
        if not isinstance(node, InputMessageNode) or is_selector(node.renderer):
            continue
        if node.id not in flow.unread_ports and _asks_for_more(node):
            yield node


def _asks_for_more(node: InputMessageNode) -> bool:
    if node.answer_schema is None:
        return not node.cinatra.mapping() and bool(node.message)
    asked = node.answer_schema.mapping()
    parts = asked.get("properties")
    return not isinstance(parts, dict) or [*parts] != ["approved"]


def _is_heard(flow: FlowIR, gate: Node) -> bool:
    """Whether a node after the gate may read the conversation, or could not be read itself."""
    after = (
        flow.by_id.get(one) for one in link_level(flow).reach_from([gate.id]) if one != gate.id
    )
    return any(node is None or _hears(node) for node in after)


def _hears(node: Node) -> bool:
    kind = kind_of(node)
    return kind.shape in _HEARING or kind.behind in _HEARING
