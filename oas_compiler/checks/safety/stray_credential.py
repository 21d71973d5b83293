"""No credential of a well-known shape stands anywhere else in the document either.

    "api_key": "sk-…", "sensitive_headers": {"X-Key": "AKIA…"}     ->  OAS205
    "api_key": {"$component_ref": "llm.api_key"}

The places that Cinatra looks at, and texts that only look random, are OAS204's.
"""

from __future__ import annotations

from oas_compiler.checks.credentials import known_credential
from oas_compiler.checks.safety.literal_credential import is_sent
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


@rule(
    code="OAS205",
    name="stray-credential",
    severity="error",
    summary="A credential of a well-known shape is written out in the document.",
    fix="Remove it, make it invalid where it was issued, and refer to it instead.",
    source="Agent Spec, sensitive fields",
    needs="document",
    conceals=True,
    bad='"api_key": "sk-…"',
    good='"api_key": {"$component_ref": "llm.api_key"}',
)
def stray_credential(subject: Subject, report: Report) -> None:
    for text in subject.texts:
        kind, _ = known_credential(text.value)
        if kind and not is_sent(text):
            name = f'"{text.keys[-1][:80]}"' if text.keys else "the document"
            report(
                f"{name} holds {kind}, written out",
                subject.place(text.pointer),
                hint="remove it and make it invalid; refer to it by a $component_ref or let the host supply it",
            )
