from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import INTO, OUT, selecting, slotted, writing
from tests.checks.rule_case import findings, found

CODE = "OAS157"
AT = "/$referenced_components/write/data/user"


def prompted(text, *edges):
    return slotted(selecting(), writing(data={"user": text}), edges=[*INTO, *edges])


@pytest.mark.parametrize(
    "text",
    [
        "Write for {{ context_brand.contextRefs }}.",
        "{{context_brand.contextSlotBindings|tojson}}",
        "{{ contextSlotBindings }} {{ context_brand ['contextRefs'] }}",
    ],
)
def test_a_prompt_alone_does_not_bind(text):
    (finding,) = findings(prompted(text), CODE)
    assert finding.pointer == AT
    assert "contextSlotBindings" in finding.hint
    assert found(prompted(text, OUT), CODE) == []


@pytest.mark.parametrize(
    "text",
    ["{{ contextSlotBindings }}", "context_brand.contextRefs", "{{ other.context_brand.x }}",
     "{{ my_context_brand.x }}", "{{ context_brand }}", "{{ context_brand"],
)  # fmt: skip
def test_other_texts_do_not_name_the_selection(text):
    assert found(prompted(text), CODE) == []
