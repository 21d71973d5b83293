"""Real agents and our own examples: no error, and exactly the warnings that were read by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from oas_compiler import check

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT.parent / "shared" / "corpus" / "cinatra"
EXAMPLES = ROOT / "examples"

WARNINGS = {
    # gateSteps, an answer schema, a picker and a gate name renderers that hitlScreens lacks;
    # one gate of 8 has no riskClass
    "email-outreach-agent": {"OAS176": 1, "OAS177": 3},
    # a gate with a renderer, and no hitlScreens at all
    "reviewer-agent": {"OAS177": 1},
}
AGENTS = [
    "author-agent", "blog-draft-writer-agent", "context-selection-agent", "email-drafting-agent",
    "email-outreach-agent", "email-test-delivery-agent", "media-feed-lister-agent",
    "project-manager-agent", "reviewer-agent", "trigger-agent",
]  # fmt: skip


def guide(folder: Path) -> Counter[str]:
    findings = [found for found in check(folder) if "OAS170" <= found.code <= "OAS199"]
    assert [found for found in findings if found.severity == "error"] == []
    return Counter(found.code for found in findings)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
@pytest.mark.parametrize("name", AGENTS)
def test_a_real_agent_has_no_error_and_only_known_warnings(name):
    # the corpus holds no SKILL.md of any agent
    assert guide(CORPUS / name) == Counter({"OAS179": 1, **WARNINGS.get(name, {})})


@pytest.mark.parametrize(
    "name",
    ["newsletter-agent", "notify-agent", "onboarding-agent", "revision-loop-agent", "tools-agent"],
)
def test_our_examples_keep_to_the_guide(name):
    assert guide(EXAMPLES / name) == Counter(WARNINGS.get(name, {}))
