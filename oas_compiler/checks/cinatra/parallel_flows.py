"""A ParallelFlowNode names itself and at least one flow to run.

{"component_type": "ParallelFlowNode", "name": "both", "subflows": []}   ->   OAS106

In a node that the flow lists, a missing or wrong field is OAS022 or OAS023; the host also checks
nodes that no flow lists.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import Unread
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS106",
    name="parallel-flow-form",
    severity="error",
    summary="A ParallelFlowNode has no name, no subflows, or ports that are no list.",
    fix="Give it a name and a non-empty list of subflows, each a $component_ref or a Flow.",
    source="Cinatra S10",
    needs="cinatra",
    aliases=("S10",),
    bad='{"component_type": "ParallelFlowNode", "name": "both", "subflows": []}',
    good='{"component_type": "ParallelFlowNode", "name": "both",\n "subflows": [{"$component_ref": "first"}, {"$component_ref": "second"}]}',
)
def parallel_flows(subject: Subject, report: Report) -> None:
    told = {flaw: subject.unread(flaw) for flaw in (Unread.KIND_OF_VALUE, Unread.MISSING)}
    for node in subject.of_type("ParallelFlowNode"):
        for pointer, problem, flaw in _find_node_problems(node):
            if flaw is None or pointer not in told[flaw]:
                report(f"{node.label} {problem}", subject.place(pointer))


def _find_node_problems(node: Written) -> Iterator[tuple[str, str, Unread | None]]:
    """Pointer, sentence, and the flaw that a node which is read has there already."""
    name, subflows = node.value.get("name"), node.value.get("subflows")
    if name is None:
        yield node.pointer, "needs a name", None
    elif not isinstance(name, str):
        yield (
            node.at("name"),
            f"must have a string as its name, not {describe(name)}",
            Unread.KIND_OF_VALUE,
        )
    if subflows is None:
        yield node.pointer, "needs a list of subflows", Unread.MISSING
    elif not isinstance(subflows, list):
        yield node.at("subflows"), "must have a list of subflows", Unread.KIND_OF_VALUE
    elif not subflows:
        yield node.at("subflows"), "needs at least one subflow", None
    for index, subflow in enumerate(node.items("subflows")):
        if not isinstance(subflow, dict):
            what = f"lists {describe(subflow)} as a subflow; it is a $component_ref or a Flow"
            yield node.at("subflows", index), what, Unread.KIND_OF_VALUE
    for field in ("inputs", "outputs"):
        ports = node.value.get(field)
        if ports is not None and not isinstance(ports, list):
            what = f"must have a list or null as {field}, not {describe(ports)}"
            yield node.at(field), what, Unread.KIND_OF_VALUE
