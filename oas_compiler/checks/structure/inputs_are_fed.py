"""Every input without a default is fed by a data edge.

an ApiNode input "topic" without default and edge   ->   OAS063

A StartNode is fed by whoever starts the flow.  An EndNode's value may also come from the
default of the flow's output of that name, and in a file of Cinatra from the StartNode's input of
that name (build.py makes that edge).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.checks.lookup.edges import Gaps, Turned, is_vague, meant_by
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import EndNode, FlowIR, Node, Port, StartNode

_RUN: Final = frozenset({"subflow", "subflows", "tool", "agent"})
"""Fields that hold what a node runs."""


@rule(
    code="OAS063",
    name="inputs-are-fed",
    severity="error",
    summary="An input has neither a data edge nor a default.",
    fix="Connect an output to the input, or give it a default.",
    source="Agent Spec, data flow",
    needs="flow",
    also=("V27", "V28", "OAS-RUNTIME-004", "OAS-RUNTIME-005"),
    bad='"inputs": [{"title": "tone", "type": "string"}]   and no edge to   "tone"',
    good='"inputs": [{"title": "tone", "type": "string", "default": "plain"}]',
)
def inputs_are_fed(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        gaps = Gaps(flow)
        fed = _map_fed_inputs(flow)
        fallback = {port.title for port in flow.outputs if port.default is not None}
        turned: frozenset[tuple[str, str]] | None = None
        for node in flow.nodes:
            if isinstance(node, StartNode) or is_vague(node):
                continue
            for port in _find_unfed_ports(node, fed.get(node.id, set()), fallback):
                turned = _collect_reversed_inputs(flow) if turned is None else turned
                if (node.id, port.title) not in turned and not gaps.may_feed(node.id, port.title):
                    report(
                        f'the input "{port.title}" of "{node.id}" has no data edge and no default',
                        port.place if _is_own(node, port) else node.place,
                        hint=f'connect an output to it, or give "{port.title}" a default',
                    )


def _map_fed_inputs(flow: FlowIR) -> Mapping[str, set[str]]:
    """Node id -> names of the inputs that data edges lead to, existing or not."""
    found: dict[str, set[str]] = {}
    for edge in flow.data_edges:
        found.setdefault(edge.target, set()).add(edge.input)
    return found


def _collect_reversed_inputs(flow: FlowIR) -> frozenset[tuple[str, str]]:
    """Inputs that data edges would feed the other way round (OAS061, OAS062)."""
    return frozenset(
        (edge.source, title) for edge in Turned(flow).links for title in (edge.input, edge.output)
    )


def _find_unfed_ports(node: Node, fed: set[str], fallback: set[str]) -> list[Port]:
    """Ports that nothing feeds, but not those that a misspelt edge means."""
    unfed = [
        port
        for port in node.inputs
        if port.default is None
        and port.title not in fed
        and not (isinstance(node, EndNode) and port.title in fallback)
    ]
    if not unfed:
        return []
    wrong = fed.difference(port.title for port in node.inputs)
    meant = meant_by(wrong, [port.title for port in unfed])
    return [port for port in unfed if port.title not in meant]


def _is_own(node: Node, port: Port) -> bool:
    """Whether the port stands at the node itself, and not in the flow or tool that it runs."""
    above = f"{node.place.pointer}/"
    if not port.place.pointer.startswith(above):
        return False
    return port.place.pointer[len(above) :].split("/", 1)[0] not in _RUN
