"""The preferred model belongs to the preferred provider.

"preferredProvider": "anthropic", "preferredModel": "gpt-5.5"   ->   OAS114 that is one of openai

The host has a list of models per provider, which changes with the host and is not known here.  So
the family decides: a name that begins like another provider's models is not on the provider's list.
A name of an unknown family may be on it: that is OAS134, a warning.
"""

from __future__ import annotations

import re
from typing import Final

from oas_compiler.checks.cinatra.llm_metadata import llm_text
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

FAMILIES: Final[dict[str, tuple[re.Pattern[str], str]]] = {
    "openai": (
        re.compile(
            r"gpt-|chatgpt-|codex-|computer-use-|text-(?!bison|unicorn|multilingual)"
            r"|(?:davinci|babbage|whisper|tts|dall-e|sora|omni-moderation)-|o\d"
        ),
        'begins with "gpt-" or "o" and a digit',
    ),
    "anthropic": (re.compile(r"claude-"), 'begins with "claude-"'),
    "gemini": (
        re.compile(
            r"gemini-|gemma-|learnlm-|imagen-|veo-|text-(?:bison|unicorn|multilingual)|aqa\Z"
        ),
        'begins with "gemini-"',
    ),
}
"""How the names of a provider's models begin."""
_BEFORE: Final = re.compile(r"(?:models/|tunedModels/|ft:)")
"""Possible prefixes of a name: the path of a Gemini model, a tuned model."""


@rule(
    code="OAS114",
    name="llm-model",
    severity="error",
    summary="preferredModel is a model of another provider than preferredProvider.",
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
    other = provider_of(model)
    if other and other != provider:
        report(
            f'"{model[:80]}" is not a model of {provider}',
            subject.place(root.at("metadata", "cinatra", "llm", "preferredModel")),
            hint=f'its provider is "{other}"',
        )


def provider_of(model: str) -> str:
    """The provider of a model's family; empty for an unknown family."""
    before = _BEFORE.match(model)
    name = model[before.end() :] if before else model
    return next((name_ for name_, (family, _) in FAMILIES.items() if family.match(name)), "")
