"""No credential is written into a request, a header or a prompt.

    "headers": {"Authorization": "Bearer sk-…"}     ->  OAS204
    "headers": {"Authorization": "Bearer {{ api_key }}"}

The finding says what kind of credential it is and where; it never repeats it.
"""

from __future__ import annotations

from oas_compiler.checks.credentials.value_shapes import credential, known_credential, stands_under
from oas_compiler.checks.subject import Subject, Text
from oas_compiler.findings.rule import Report, rule

_SENT = frozenset(
    {
        "body", "data", "config", "headers", "params", "system_prompt", "prompt_template",
        "message", "system", "user",
    }
)  # fmt: skip
"""Members whose text leaves the flow."""


@rule(
    code="OAS204",
    name="literal-credential",
    severity="error",
    summary="A credential is written out in a request, a header, a message or a prompt.",
    fix="Remove it, make it invalid where it was issued, and let the platform add it at run time.",
    source="Cinatra V17",
    needs="document",
    conceals=True,
    aliases=("V17", "literal_credential_detected"),
    bad='"headers": {"Authorization": "Bearer ya29.…"}',
    good='"headers": {}',
)
def literal_credential(subject: Subject, report: Report) -> None:
    for text in subject.texts:
        if is_sent(text) and (kind := credential(text.value)):
            report(
                f'"{safe_name(text.keys[-1])}" holds {kind}, written out',
                subject.place(text.pointer),
                hint="remove it and make it invalid; the platform authenticates the calls of a flow",
            )


def is_sent(text: Text) -> bool:
    """Whether the text stands under one of the members; names of definitions do not count."""
    return not _SENT.isdisjoint(text.keys) and stands_under(text.keys, _SENT)


def safe_name(name: str) -> str:
    """The name of a member for a message; a name that is a credential itself is not shown."""
    return "…" if known_credential(name)[0] else name[:80]
