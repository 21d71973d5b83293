"""An output that one of several EndNodes leaves out has a default.

"draft" at the EndNode "done" but not at "stopped", no default   ->   OAS070 (warning)
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Final

from oas_compiler.checks.lookup.edges import Gaps
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode

_MOST_SHOWN: Final = 5
"""EndNodes in a message."""


@rule(
    code="OAS070",
    name="outputs-at-every-end",
    severity="warning",
    summary="An output is missing when a run ends at some EndNodes.",
    fix="Give the flow's output a default.",
    source="Agent Spec, data flow",
    needs="flow",
    bad='flow: "outputs": [{"title": "draft"}]\n'
    'EndNodes: done with {"title": "draft"}, stopped without',
    good='flow: "outputs": [{"title": "draft", "default": ""}]\n'
    'EndNodes: done with {"title": "draft"}, stopped without',
)
def outputs_at_every_end(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        ends = [node for node in flow.nodes if isinstance(node, EndNode)]
        if any(map(Gaps(flow).hides_ports, ends)):
            continue
        titles = {end.id: {out.title for out in end.outputs} for end in ends}
        count = Counter(title for having in titles.values() for title in having)
        for port in flow.outputs:
            if port.default is not None or not 0 < count[port.title] < len(titles):
                continue
            lacking = (f'"{name}"' for name, having in titles.items() if port.title not in having)
            first = list(islice(lacking, _MOST_SHOWN))
            more = len(titles) - count[port.title] - len(first)
            report(
                f'the output "{port.title}" is missing when a run ends at {", ".join(first)}'
                + (f" and {more} more" if more else ""),
                port.place,
                hint="give the flow's output a default",
            )
