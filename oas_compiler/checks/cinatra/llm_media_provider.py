"""Only one provider takes audio and video.

"capabilityRequired": "media_input", "preferredProvider": "openai"   ->   OAS116

Without a preferred provider the host chooses a provider itself, so there is no finding.
"""

from __future__ import annotations

from oas_compiler.checks.cinatra.llm_metadata import llm_text
from oas_compiler.checks.lookup.api_calls import VALUES
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS116",
    name="llm-media-provider",
    severity="error",
    summary="media_input is required of a provider that does not offer it.",
    fix='Write "preferredProvider": "gemini", or do not require media_input.',
    source="Cinatra V23",
    needs="cinatra",
    aliases=("V23", "OAS-LLM-004"),
    bad='"llm": {"preferredProvider": "openai", "capabilityRequired": "media_input"}',
    good='"llm": {"preferredProvider": "gemini", "capabilityRequired": "media_input"}',
)
def llm_media_provider(subject: Subject, report: Report) -> None:
    root = subject.root
    provider = llm_text(root, "preferredProvider")
    if root is None or llm_text(root, "capabilityRequired") != "media_input":
        return
    # a provider that nobody knows is OAS113
    if provider in VALUES["preferredProvider"] and provider != "gemini":
        report(
            f"{provider} does not take media, which capabilityRequired asks for",
            subject.place(root.at("metadata", "cinatra", "llm", "capabilityRequired")),
            hint='media_input needs "preferredProvider": "gemini"',
        )
