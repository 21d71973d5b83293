"""A gate in a loop has a limit of visits.

ask → send → ask, "ask" without maxGateVisits     ->  OAS203 (warning) at "ask"
"metadata": {"cinatra": {"maxGateVisits": 25}}

A misspelt `maxGateVisits` is OAS133.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.lookup.value_flaws import meant_keys
from oas_compiler.checks.subject import Subject
from oas_compiler.control.openings import Openings, find_loops, has_limit, walk_flows
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import InputMessageNode, Node


@rule(
    code="OAS203",
    name="gate-without-limit",
    severity="warning",
    summary="A gate in a loop has no maxGateVisits, so that a run fails at the host's own limit of 100 visits.",
    fix="Write how often the gate may ask into metadata.cinatra.maxGateVisits.",
    source="Cinatra, re-entrant gates (maxGateVisits)",
    needs="cinatra",
    bad='"ask": {"component_type": "InputMessageNode", "metadata": {"cinatra": {}}}',
    good='"ask": {"component_type": "InputMessageNode", "metadata": {"cinatra": {"maxGateVisits": 25}}}',
)
def gate_without_limit(subject: Subject, report: Report) -> None:
    if subject.flow is None:
        return
    openings = Openings(stops=has_limit)
    reported: set[str] = set()
    slips: frozenset[tuple[str, str]] | None = None
    for flow, _ in walk_flows(subject.flow):
        for loop in find_loops(flow, openings):
            gate = next(_iterate_unlimited_gates(loop.members), None)
            if gate is not None and gate.place.pointer not in reported:
                reported.add(gate.place.pointer)
                slips = meant_keys(subject) if slips is None else slips
                if (gate.place.pointer, "maxGateVisits") in slips:
                    continue  # OAS133
                report(
                    f'the gate "{gate.id[:80]}" is in a loop and has no maxGateVisits: a run '
                    "fails when it asks more than 100 times",
                    gate.place,
                    hint='say how many rounds are meant: "maxGateVisits": 25',
                )


def _iterate_unlimited_gates(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """The gates without a limit among the nodes and in the flows that they run, outermost first."""
    waiting = list(nodes)
    seen: set[str] = set()
    for node in waiting:
        if isinstance(node, InputMessageNode) and not has_limit(node):
            yield node
        for flow in node.subflows:
            if flow.place.pointer not in seen:
                seen.add(flow.place.pointer)
                waiting.extend(flow.nodes)
