"""Which files a provider's model reads."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cinatra_sdk.attachments import (
    RULES,
    CapabilityRule,
    NotReadable,
    find_capability,
    find_provider,
    resolve_attachments,
)
from tests.attachments.samples import RecordingPorts, ref, vectors


@pytest.mark.parametrize("row", vectors("capabilities"))
def test_each_row_of_the_vectors_is_decided_as_it_says(row: dict[str, Any]) -> None:
    provider, model, mime, *size = row["ask"]
    found = find_capability(provider, model, ref(mime=mime, size=size[0] if size else None))
    if "reason" in row:
        assert found == NotReadable(reason=row["reason"])
    else:
        assert isinstance(found, CapabilityRule)
        assert found.native_kind == row["kind"]
        assert found.max_bytes == row["max"]
        assert found.ttl == timedelta(hours=row["ttl_hours"])


def test_a_host_may_give_rules_of_its_own_and_the_first_that_fits_decides() -> None:
    narrow = CapabilityRule(
        provider="openai",
        models="gpt-5",
        mimes=("text/plain",),
        max_bytes=3,
        native_kind="openai_input_file",
        ttl=timedelta(minutes=1),
    )
    ports = RecordingPorts()
    refs = [ref(mime="text/plain", size=4), ref(mime="text/plain", size=3), ref()]
    resolved = resolve_attachments(refs, "openai", "gpt-5", ports, rules=(narrow, *RULES))
    assert [part.ref for part in resolved.parts] == [refs[1]]
    assert [file.reason for file in resolved.unreadable] == [
        "the file has 4 bytes, and openai takes 3 at most",
        'openai reads no files of the type "application/pdf"',
    ]
    assert ports.calls[-1] == ["put", "a1", "openai", "file-a1", 1 / 60]


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai", "openai"), ("OpenAI", "openai"), ("anthropic", "anthropic"), ("google", "gemini"),
        ("google_genai", "gemini"), ("gemini", "gemini"), ("vllm", "vllm"),
        ("openai_compatible", "openai_compatible"),
    ],
)  # fmt: skip
def test_the_names_of_a_provider_lead_to_its_rules_and_no_lookalike_does(
    name: str, provider: str
) -> None:
    assert find_provider(name) == provider
