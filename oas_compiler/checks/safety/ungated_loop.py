"""A loop of a plain Agent Spec flow without a gate: allowed, but reported as a warning.

    ask_model → check → ask_model, no gate on the way     ->  OAS202 (warning)

Agent Spec allows loops without a bound; here a run ends with an error after 10,000 steps of one
level.  In a Cinatra flow the same loop is OAS201, an error.
"""

from __future__ import annotations

from oas_compiler.checks.safety.endless_loop import described
from oas_compiler.checks.subject import Subject
from oas_compiler.control.openings import Openings, asks_a_person, find_loops, walk_flows
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS202",
    name="ungated-loop",
    severity="warning",
    summary="A loop has no gate in it, so only the runtime's limit on steps ends one that goes wrong.",
    fix="Count the rounds and leave the loop, or lead it through an InputMessageNode.",
    source="Agent Spec, control flow: loops are allowed and unbounded",
    needs="flow",
    bad=(
        "from_node: {$component_ref: check}\n"
        "from_branch: again\n"
        "to_node: {$component_ref: ask_model}  # which leads to check"
    ),
    good=(
        "from_node: {$component_ref: check}\n"
        "from_branch: again\n"
        "to_node: {$component_ref: gate}  # which leads to ask_model"
    ),
)
def ungated_loop(subject: Subject, report: Report) -> None:
    if subject.flow is None or subject.is_cinatra:
        return
    openings = Openings(stops=asks_a_person)
    for flow, _ in walk_flows(subject.flow):
        for loop in find_loops(flow, openings):
            if loop.can_end and not loop.is_bounded:
                report(
                    f"{described(loop)} goes round without a gate: a run that never leaves it "
                    "fails at the limit on steps",
                    loop.back,
                    hint="lead it through an InputMessageNode, or make sure that a branch leaves it",
                )
