"""A preferred model needs its provider beside it.

"llm": {"preferredModel": "gpt-5.5"}   ->   OAS115 add "preferredProvider": "openai"
"""

from __future__ import annotations

from oas_compiler.checks.cinatra.llm_metadata import llm_text
from oas_compiler.checks.cinatra.llm_model import provider_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS115",
    name="llm-model-provider",
    severity="error",
    summary="metadata.cinatra.llm names a model without its provider.",
    fix="Add preferredProvider.",
    source="Cinatra V22",
    needs="cinatra",
    aliases=("V22", "OAS-LLM-003"),
    bad='"llm": {"preferredModel": "gpt-5.5"}',
    good='"llm": {"preferredProvider": "openai", "preferredModel": "gpt-5.5"}',
)
def llm_model_provider(subject: Subject, report: Report) -> None:
    root = subject.root
    llm = root.cinatra.get("llm") if root is not None else None
    # a provider that is no string is OAS113
    if root is None or not isinstance(llm, dict) or llm.get("preferredProvider") is not None:
        return
    model = llm_text(root, "preferredModel")
    if model:
        provider = provider_of(model)
        report(
            f'preferredModel "{model[:80]}" stands without a preferredProvider',
            subject.place(root.at("metadata", "cinatra", "llm", "preferredModel")),
            hint=f'add "preferredProvider": "{provider}"' if provider else "",
        )
