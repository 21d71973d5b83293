"""The IR in, findings out: what lowering relies on, one module per concern.

Every rule looks at one flow; `run_checks` shows it every flow, subflows first met included.

    RULES = (ids, entry, branches, reach, data_edges, required_inputs, outputs, authority)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from oas_compiler.checks.authority import authority
from oas_compiler.checks.branches import branches
from oas_compiler.checks.data_edges import data_edges
from oas_compiler.checks.entry import entry
from oas_compiler.checks.ids import ids
from oas_compiler.checks.outputs import outputs
from oas_compiler.checks.reach import reach
from oas_compiler.checks.required_inputs import required_inputs
from oas_compiler.checks.tools import registered_tools
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import FlowIR, FlowNode

Rule = Callable[[FlowIR, Diagnostics], None]

RULES: tuple[Rule, ...] = (
    ids,
    entry,
    branches,
    reach,
    data_edges,
    required_inputs,
    outputs,
    authority,
)
"""In the order in which a reader would ask; findings are sorted by place afterwards."""


def run_checks(flow: FlowIR, findings: Diagnostics, tools: Collection[str] | None = None) -> None:
    """Apply every rule to the flow and to each of its subflows once.

    `tools`: names of the registered server tools, `None` when they are not known.
    """
    for current in _flows(flow):
        for rule in RULES:
            rule(current, findings)
        if tools is not None:
            registered_tools(current, findings, tools)


def _flows(flow: FlowIR) -> Iterator[FlowIR]:
    waiting, seen = [flow], {id(flow)}
    while waiting:
        current = waiting.pop()
        yield current
        for node in current.nodes:
            if isinstance(node, FlowNode) and id(node.subflow) not in seen:
                seen.add(id(node.subflow))
                waiting.append(node.subflow)
