"""Only the boolean `false` waives a gate of a subflow; any other type waives nothing.

    "gateSteps": [{"requiresApproval": "false"}]     ->  OAS216: the gate still asks
    "gateSteps": [{"requiresApproval": false}]

`null` counts as a missing key.  The same key of an AgentNode is OAS110.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

_KEY = "requiresApproval"


@rule(
    code="OAS216",
    name="gate-waiver-type",
    severity="error",
    summary="requiresApproval of an entry of gateSteps is neither true nor false, and is not read.",
    fix="Write true or false, without quotes.",
    source="Cinatra, gateSteps",
    needs="cinatra",
    bad='"gateSteps": [{"name": "review", "requiresApproval": "false"}]',
    good='"gateSteps": [{"name": "review", "requiresApproval": false}]',
)
def gate_waiver_type(subject: Subject, report: Report) -> None:
    for component in subject.components:
        steps = component.cinatra.get("gateSteps")
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            flag = step.get(_KEY) if isinstance(step, dict) else None
            if flag is not None and not isinstance(flag, bool):
                report(
                    f"{_KEY} in gateSteps of {component.label} must be a boolean, true or false, "
                    f"not {describe(flag)}: the gate still asks",
                    subject.place(component.at("metadata", "cinatra", "gateSteps", index, _KEY)),
                    hint=_format_hint(flag),
                )


def _format_hint(flag: JsonValue) -> str:
    word = str(flag).strip().casefold() if isinstance(flag, (str, int, float)) else ""
    meant = {
        "false": "false",
        "0": "false",
        "no": "false",
        "true": "true",
        "1": "true",
        "yes": "true",
    }
    return f"write {meant[word]} without quotes" if word in meant else "write true or false"
