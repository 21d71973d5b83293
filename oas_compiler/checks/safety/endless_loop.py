"""A loop of a Cinatra flow has a gate.

    fetch → check → fetch, no gate on the way      ->  OAS201 at the edge that closes it
    ask → send → ask, where "ask" is a gate

In Cinatra only a gate counts its visits (`maxGateVisits`), so nothing else bounds a loop.  A send
in a loop needs a gate too: one approval must not allow repeated sends.  A loop that cannot be left
at all is OAS049's finding.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.openings import Loop, Openings, asks_a_person, find_loops, walk_flows
from oas_compiler.control.risk_classes import counted_class, may_send
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place


@rule(
    code="OAS201",
    name="endless-loop",
    severity="error",
    summary="A loop of a Cinatra flow has no gate in it, so nothing bounds how often it goes round.",
    fix="Let the loop lead back to an InputMessageNode with maxGateVisits, as a re-entrant gate does.",
    source="Cinatra, re-entrant gates (maxGateVisits)",
    needs="cinatra",
    bad=(
        "from_node: {$component_ref: check}\n"
        "from_branch: again\n"
        "to_node: {$component_ref: call}  # which leads to check"
    ),
    good=(
        "from_node: {$component_ref: check}\n"
        "from_branch: again\n"
        "to_node: {$component_ref: gate}  # which leads to call"
    ),
)
def endless_loop(subject: Subject, report: Report) -> None:
    control = subject.control
    if control is None:
        return
    openings = Openings(stops=asks_a_person)
    reported: set[Place] = set()
    for flow, waived in walk_flows(control.flow, control.waived):
        for loop in find_loops(flow, openings, waived):
            if not loop.flow.doubled.isdisjoint(node.id for node in loop.members):
                continue  # OAS027: with a repeated id, an edge may mean another node
            if loop.can_end and not loop.is_bounded and loop.back not in reported:
                reported.add(loop.back)
                report(
                    f"{described(loop)} goes round without a gate{_describe_send(loop)}",
                    loop.back,
                    hint="lead it through an InputMessageNode with maxGateVisits",
                )


def described(loop: Loop) -> str:
    """`the loop a → b → a`."""
    return f"the loop {' → '.join((*loop.way, loop.way[0]))}"


def _describe_send(loop: Loop) -> str:
    for node in loop.members:
        if may_send(node) and not node.behind.asks_person:
            return f', and "{node.id[:80]}" ({counted_class(node)[:80]}) is in it'
    return ""
