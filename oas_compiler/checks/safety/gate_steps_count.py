"""`gateSteps` has exactly one entry for each gate that it is written for.

    "gateSteps": [{"name": "Pick"}]  over the gates "pick" and "check"
        ->  OAS230 (warning): "check" is shown as "Pick" too

These gates stand directly in the FlowNode's subflow; a context selection does not count.
"""

from __future__ import annotations

from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.checks.subject import Subject
from oas_compiler.control.gates import entry_gates
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowNode
from oas_compiler.text.marks import child


@rule(
    code="OAS230",
    name="gate-steps-count",
    severity="warning",
    summary="The entries of gateSteps are not as many as the gates that they are written for.",
    fix="Write one entry for each gate that stands directly in the subflow, in their order.",
    source="Cinatra, gateSteps",
    needs="flow",
    bad='"gateSteps": [{"name": "Pick"}, {"name": "Check"}]    (the subflow has one gate)',
    good='"gateSteps": [{"name": "Pick"}]',
)
def gate_steps_count(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if isinstance(node, FlowNode) and node.gate_steps:
                _compare_gate_steps(node, subject, report)


def _compare_gate_steps(node: FlowNode, subject: Subject, report: Report) -> None:
    gates = entry_gates(node)
    slots = [
        entry for entry in node.gate_steps for _ in range(min(entry.gate_count, len(gates) + 1))
    ]
    place = node.place.pointer
    for key in ("metadata", "cinatra", "gateSteps"):
        place = child(place, key)
    if len(slots) < len(gates):
        last = slots[-1].name or node.name or node.id
        names = ", ".join(f'"{gate.id[:80]}"' for gate in gates[len(slots) :])
        report(
            f'gateSteps of the FlowNode "{node.id[:80]}" has no entry for {names}: '
            f'shown as the last entry, "{last[:80]}"',
            subject.place(place),
            hint=f"write {say_number(len(gates), 'entry', 'entries')}, one for each gate of the subflow, in their order",
        )
    elif len(slots) > len(gates):
        one = slots[len(gates)]
        index = node.gate_steps.index(one)
        name = f'"{one.name[:80]}" ' if one.name else ""
        report(
            f'entry {index + 1} {name}of gateSteps of the FlowNode "{node.id[:80]}" '
            f"shows a gate that the subflow does not have: it has {len(gates)} of its own",
            subject.place(child(place, str(index))),
            hint="remove the entry, or lower its gateCount; a context selection takes none, and a gate "
            "of a FlowNode inside takes its entry from the gateSteps of that FlowNode",
        )
