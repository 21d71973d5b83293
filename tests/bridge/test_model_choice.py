"""Which of the host's models answers."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.host.bridge.model_offers import Offer, choose, read_model_name
from cinatra_sdk.host.bridge.request_body import BridgeBody
from cinatra_sdk.outside.routes import RouteError

NAMES = (
    "openai:gpt-5-mini",
    "openai:gpt-5.5",
    "anthropic:claude-x",
    "gemini:gemini-3",
    "ollama:llama",
)
OFFER = Offer.of([read_model_name(name) for name in NAMES])


def wish(**llm: str) -> BridgeBody:
    return BridgeBody.model_validate({"user": "hi", "cinatra_llm": llm})


@pytest.mark.parametrize(
    ("llm", "chosen", "warning"),
    [
        ({}, "openai/gpt-5-mini", ""),
        ({"preferredProvider": "openai"}, "openai/gpt-5-mini", ""),
        ({"preferredProvider": "openai", "preferredModel": "gpt-5.5"}, "openai/gpt-5.5", ""),
        ({"preferredProvider": "anthropic"}, "anthropic/claude-x", ""),
        ({"preferredProvider": "gemini", "capabilityRequired": "media_input"}, "gemini/gemini-3", ""),
        ({"capabilityRequired": "media_input"}, "gemini/gemini-3", ""),
        ({"preferredModel": "llama"}, "ollama/llama", ""),
        ({"preferredProvider": "openai", "preferredModel": "gpt-9"}, "openai/gpt-5-mini", "gpt-9 is not offered; openai/gpt-5-mini answers"),
        ({"preferredModel": "llama", "capabilityRequired": "media_input"}, "gemini/gemini-3", "llama does not do media_input; gemini/gemini-3 answers"),
    ],
)  # fmt: skip
def test_a_wish_is_met_as_far_as_the_host_offers(llm: Any, chosen: str, warning: str) -> None:
    found = choose(OFFER, wish(**llm))
    assert (found.capability, found.warning) == (chosen, warning)


@pytest.mark.parametrize("name", ["gpt-5.5", "openai/gpt-5.5", "openai:gpt-5.5"])
def test_model_id_names_a_model_by_its_name_or_with_its_provider(name: str) -> None:
    body = BridgeBody(user="hi", model_id=name)
    assert choose(OFFER, body).capability == "openai/gpt-5.5"


def test_model_id_does_not_go_around_a_capability_that_is_required() -> None:
    given = {
        "user": "hi",
        "model_id": "llama",
        "cinatra_llm": {"capabilityRequired": "media_input"},
    }
    with pytest.raises(RouteError) as raised:
        choose(OFFER, BridgeBody.model_validate(given))
    assert raised.value.code == "CAPABILITY_UNSATISFIABLE"


def test_a_capability_of_another_provider_is_named_as_the_way_out() -> None:
    with pytest.raises(RouteError) as raised:
        choose(OFFER, wish(preferredProvider="openai", capabilityRequired="media_input"))
    assert raised.value.message == (
        "This agent needs media_input, which openai/gpt-5-mini does not do. gemini/gemini-3 can."
    )


@pytest.mark.parametrize("name", ["", "gpt-5", "openai:", ":gpt-5", "acme:gpt-5"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"provider:model|there is no provider"):
        read_model_name(name)
