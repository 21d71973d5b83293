"""A node pauses only once: LangGraph shows only the first interrupt of a node.

def review(state):                        def review_recipients(state):
    interrupt(recipients)                     return interrupt(recipients)
    interrupt(drafts)   ->  OAS193        def review_drafts(state):
                                              return interrupt(drafts)

An interrupt in a loop counts as several; a gate of build_hitl_gate counts as an interrupt.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.program_calls import Pause, gates_run, in_a_loop, interrupts
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS193",
    name="two-interrupts",
    severity="error",
    summary="A function of a graph pauses twice, or in a loop: by interrupt or by a gate.",
    fix="Make one node per gate, with build_hitl_gate.",
    source="agent guide, pitfall P1; LangGraph issue 6208",
    needs="package",
    aliases=("pitfall-P1",),
    bad="def review(state):\n    interrupt(recipients)\n    interrupt(drafts)",
    good="def review_recipients(state):\n    return interrupt(recipients)\n\ndef review_drafts(state):\n    return interrupt(drafts)",
)
def two_interrupts(subject: Subject, report: Report) -> None:
    for script, file in subject.scripts:
        seen: dict[int, list[tuple[str, Pause]]] = {}
        pauses = [("interrupt", pause) for pause in interrupts(script)]
        for what, pause in pauses + [("a gate", pause) for pause in gates_run(script)]:
            if pause.function is not None:
                seen.setdefault(id(pause.function), []).append((what, pause))
        for found in seen.values():
            second = _find_second_pause(found)
            if second is not None:
                pause, message = second
                report(
                    message.format(first=script.at_node(found[0][1].call).line),
                    script.at_node(pause.call),
                    hint="one node per gate: build each with build_hitl_gate",
                    file=file,
                )


def _find_second_pause(found: list[tuple[str, Pause]]) -> tuple[Pause, str] | None:
    """The call by which a function pauses again, and its description."""
    if len(found) > 1:
        what, pause = found[1]
        return (
            pause,
            f"{pause.function_name} calls {what} a second time, the first is in line {{first}}",
        )
    what, pause = found[0]
    if in_a_loop(pause):
        return pause, f"{pause.function_name} calls {what} in a loop"
    return None
