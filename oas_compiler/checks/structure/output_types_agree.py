"""An EndNode's value can become a value of the flow's output of that name.

flow output "count": integer, EndNode output "count": string   ->   OAS069
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode
from oas_compiler.ir.printout import contrast
from oas_compiler.port_types import castable


@rule(
    code="OAS069",
    name="output-types-agree",
    severity="error",
    summary="An EndNode gives an output that could never be of the flow's type.",
    fix="Make the two types agree.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='flow: {"title": "count", "type": "integer"}   EndNode: {"title": "count", "type": "string"}',
    good='flow: {"title": "count", "type": "string"}   EndNode: {"title": "count", "type": "string"}',
)
def output_types_agree(subject: Subject, report: Report) -> None:
    strict = subject.document.is_plain
    for flow in subject.flows:
        wanted = {port.title: port for port in flow.outputs}
        for end in flow.nodes:
            if not isinstance(end, EndNode):
                continue
            for out in end.outputs:
                port = wanted.get(out.title)
                if port is None or castable(out.type, port.type, strict=strict):
                    continue
                wants, gives = contrast(port.type, out.type)
                report(
                    f'the flow\'s output "{port.title}" is {wants}, "{end.id}" gives {gives}',
                    out.place,
                    hint="declare one type in both places",
                )
