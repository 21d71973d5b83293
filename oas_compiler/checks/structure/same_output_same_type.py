"""An output that several EndNodes give has one type.

"count": integer at the EndNode "done", string at "stopped"   ->   OAS072 at the second
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, Port
from oas_compiler.ir.printout import contrast


@rule(
    code="OAS072",
    name="same-output-same-type",
    severity="error",
    summary="Two EndNodes of a flow give one output with different types.",
    fix="Give the output the same type at both EndNodes.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='done: {"title": "count", "type": "integer"}   stopped: {"title": "count", "type": "string"}',
    good='done: {"title": "count", "type": "integer"}   '
    'stopped: {"title": "count", "type": "integer"}',
)
def same_output_same_type(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        first: dict[str, tuple[str, Port]] = {}
        for end in flow.nodes:
            if not isinstance(end, EndNode):
                continue
            for out in end.outputs:
                other, port = first.setdefault(out.title, (end.id, out))
                if port.type != out.type:
                    here, there = contrast(out.type, port.type)
                    report(
                        f'the output "{out.title}" is {here} at "{end.id}" and {there} at '
                        f'"{other}"',
                        out.place,
                        hint="declare one type at both",
                    )
