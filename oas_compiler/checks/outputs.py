"""A flow's outputs come from the EndNode that a run reaches.

an output that no EndNode has, without a default       ->   OAS066
an EndNode whose value could never be of that type     ->   OAS069
an output that one of several EndNodes leaves out      ->   OAS070 (warning)
"""

from __future__ import annotations

from oas_compiler.casting import castable, shown
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import EndNode, FlowIR, Port
from oas_compiler.spelling import nearest


def outputs(flow: FlowIR, findings: Diagnostics) -> None:
    ends = [node for node in flow.nodes if isinstance(node, EndNode)]
    if not ends:
        return
    for port in flow.outputs:
        having = [end for end in ends if any(out.title == port.title for out in end.outputs)]
        if not having and port.default is None:
            findings.error(
                "OAS066",
                f'no EndNode of the flow "{flow.id}" has the output "{port.title}"',
                port.place,
                hint=nearest(
                    port.title, [out.title for end in ends for out in end.outputs], findings
                ),
            )
        elif len(having) < len(ends) and port.default is None:
            lacking = ", ".join(f'"{end.id}"' for end in ends if end not in having)
            findings.warning(
                "OAS070",
                f'the output "{port.title}" is missing when a run ends at {lacking}',
                port.place,
                hint="give the flow's output a default",
            )
        for end in having:
            _check_type(port, end, findings)


def _check_type(port: Port, end: EndNode, findings: Diagnostics) -> None:
    for out in end.outputs:
        if out.title == port.title and not castable(out.type, port.type):
            findings.error(
                "OAS069",
                f'the flow\'s output "{port.title}" is {shown(port.type)}, '
                f'"{end.id}" gives {shown(out.type)}',
                out.place,
            )
