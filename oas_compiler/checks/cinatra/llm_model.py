"""The preferred model is one of the preferred provider's.

"preferredProvider": "anthropic", "preferredModel": "gpt-5.5"   ->   OAS114 that is one of openai

The host has a list of models per provider, which changes with the host and is not known here.
So the family decides: a name that begins as none of the provider's models do is on no such list.
"""

from __future__ import annotations

import re

from oas_compiler.checks.cinatra.llm_metadata import llm_text
from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule

FAMILIES: dict[str, tuple[re.Pattern[str], str]] = {
    "openai": (re.compile(r"gpt-|chatgpt-|codex-|o\d"), 'begins with "gpt-" or "o" and a digit'),
    "anthropic": (re.compile(r"claude-"), 'begins with "claude-"'),
    "gemini": (re.compile(r"gemini-"), 'begins with "gemini-"'),
}
"""How the names of a provider's models begin."""


@rule(
    code="OAS114",
    name="llm-model",
    severity="error",
    summary=(
        "preferredModel is not a model of preferredProvider; the list of models is the host's, "
        "here the family of the name decides."
    ),
    fix="Name a model of that provider, or the provider of that model.",
    source="Cinatra V21",
    needs="cinatra",
    aliases=("V21", "OAS-LLM-002"),
    bad='"llm": {"preferredProvider": "anthropic", "preferredModel": "gpt-5.5"}',
    good='"llm": {"preferredProvider": "openai", "preferredModel": "gpt-5.5"}',
)
def llm_model(subject: Subject, report: Report) -> None:
    root = subject.root
    provider, model = llm_text(root, "preferredProvider"), llm_text(root, "preferredModel")
    if root is None or not model or provider not in FAMILIES:
        return
    own, form = FAMILIES[provider]
    if own.match(model):
        return
    other = next((name for name, (family, _) in FAMILIES.items() if family.match(model)), "")
    report(
        f'"{model[:80]}" is not a model of {provider}',
        subject.place(root.at("metadata", "cinatra", "llm", "preferredModel")),
        hint=f'its provider is "{other}"' if other else f"a model of {provider} {form}",
    )
