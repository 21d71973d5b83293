"""The preferred model has a name like the models of its provider.

"preferredProvider": "anthropic", "preferredModel": "sonnet"           ->   OAS134
"preferredProvider": "gemini", "preferredModel": "models/gemini-3"     ->   fine

A warning: the host's list of models is not known here.  A model of another provider is OAS114.
"""

from __future__ import annotations

from oas_compiler.checks.cinatra.llm_metadata import llm_text
from oas_compiler.checks.cinatra.llm_model import FAMILIES, provider_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS134",
    name="llm-model-family",
    severity="warning",
    summary="preferredModel has a name that no provider gives to its models; the host has the list of models.",
    fix="Write the full name of the model, as its provider does.",
    source="Cinatra V21",
    needs="cinatra",
    also=("V21", "OAS-LLM-002"),
    bad='"llm": {"preferredProvider": "anthropic", "preferredModel": "sonnet"}',
    good='"llm": {"preferredProvider": "anthropic", "preferredModel": "claude-sonnet-4-6"}',
)
def llm_model_family(subject: Subject, report: Report) -> None:
    root = subject.root
    provider, model = llm_text(root, "preferredProvider"), llm_text(root, "preferredModel")
    if root is None or not model or provider not in FAMILIES or provider_of(model):
        return
    report(
        f'"{model[:80]}" is called like no model of {provider}',
        subject.place(root.at("metadata", "cinatra", "llm", "preferredModel")),
        hint=f"a model of {provider} {FAMILIES[provider][1]}",
    )
