"""`metadata.cinatra.llm` of the root flow has the keys and values that the host knows.

{"preferedModel": "gpt-5.5"}        ->   OAS113 did you mean "preferredModel"?
{"preferredProvider": "mistral"}    ->   OAS113
"""

from __future__ import annotations

from oas_compiler.checks.lookup.api_calls import VALUES
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS113",
    name="llm-metadata",
    severity="error",
    summary="metadata.cinatra.llm has a key or a value that the host does not know.",
    fix="Use preferredProvider (openai, anthropic, gemini), preferredModel and capabilityRequired (media_input, function_tools, native_mcp) only.",
    source="Cinatra V20",
    needs="cinatra",
    aliases=("V20", "OAS-LLM-001"),
    bad='"llm": {"preferredProvider": "gpt", "temperature": 0.2}',
    good='"llm": {"preferredProvider": "openai"}',
)
def llm_metadata(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None or root.cinatra.get("llm") is None:
        return
    llm = root.cinatra["llm"]
    if not isinstance(llm, dict):
        place = subject.place(root.at("metadata", "cinatra", "llm"))
        report(f"metadata.cinatra.llm must be an object, not {describe(llm)}", place)
        return
    for key, value in llm.items():
        place = subject.place(root.at("metadata", "cinatra", "llm", key))
        known = VALUES.get(key)
        if known is None:
            hint = report.nearest(key[:80], VALUES) or f"its keys are {', '.join(VALUES)}"
            report(f'metadata.cinatra.llm has no key "{key[:80]}"', place, hint=hint)
        elif not isinstance(value, str):
            report(f"{key} must be a string, not {describe(value)}", place)
        elif known and value not in known:
            hint = (
                report.nearest(value[:80].casefold(), known) or f"it is one of {', '.join(known)}"
            )
            report(f'"{value[:80]}" is not a {key} of the host', place, hint=hint)


def llm_text(root: Written | None, key: str) -> str:
    """A string of `metadata.cinatra.llm`; empty where there is none."""
    llm = root.cinatra.get("llm") if root is not None else None
    value = llm.get(key) if isinstance(llm, dict) else None
    return value if isinstance(value, str) else ""
