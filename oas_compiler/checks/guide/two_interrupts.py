"""One node pauses once: LangGraph shows the first interrupt of a node and no other.

def review(state):                        def review_recipients(state):
    interrupt(recipients)                     return interrupt(recipients)
    interrupt(drafts)   ->  OAS193        def review_drafts(state):
                                              return interrupt(drafts)
"""

from __future__ import annotations

from oas_compiler.checks.interrupt_calls import Pause, interrupts
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS193",
    name="two-interrupts",
    severity="error",
    summary="A function of a graph calls interrupt twice.",
    fix="Make one node per gate, with build_hitl_gate.",
    source="agent guide (seed 003), pitfall P1; LangGraph issue 6208",
    needs="package",
    aliases=("pitfall-P1",),
    bad="def review(state):\n    interrupt(recipients)\n    interrupt(drafts)",
    good="def review_recipients(state):\n    return interrupt(recipients)\n\ndef review_drafts(state):\n    return interrupt(drafts)",
)
def two_interrupts(subject: Subject, report: Report) -> None:
    package = subject.agent
    for script in package.scripts if package is not None else ():
        seen: dict[int, list[Pause]] = {}
        for pause in interrupts(script):
            if pause.function is not None:
                seen.setdefault(id(pause.function), []).append(pause)
        for pauses in seen.values():
            if package is not None and len(pauses) > 1:
                first = script.at_node(pauses[0].call)
                report(
                    f"{pauses[1].function_name} calls interrupt a second time, the first is in line {first.line}",
                    script.at_node(pauses[1].call),
                    hint="one node per gate: build each with build_hitl_gate",
                    file=package.name_of(script.file),
                )
