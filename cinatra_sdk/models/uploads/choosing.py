"""The client that uploads files for a model, with the key under which the model is asked.

    open_provider_files(ModelConfig(provider="openai", model="gpt-5"), "sk-…")   ->   OpenAiFiles(…)
    open_provider_files(ModelConfig(provider="vllm", model="llama"), "")         ->   None

Bytes go to the provider that answers, and to no other: where the client of the provider is led to another
address, its key is not the provider's, and nothing is uploaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from cinatra_sdk.attachments import find_provider
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.models.uploads.anthropic_files import AnthropicFiles
from cinatra_sdk.models.uploads.file import ProviderFiles
from cinatra_sdk.models.uploads.gemini_files import GeminiFiles
from cinatra_sdk.models.uploads.openai_files import OpenAiFiles


@dataclass(frozen=True, slots=True)
class _Provider:
    files: Callable[[str], ProviderFiles]
    elsewhere: tuple[str, ...]
    """Variables by which the provider's client is led to another address."""


_PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(OpenAiFiles, ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": _Provider(AnthropicFiles, ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL")),
    "gemini": _Provider(GeminiFiles, ("GOOGLE_GEMINI_BASE_URL",)),
}


def open_provider_files(config: ModelConfig, key: str) -> dict[str, ProviderFiles]:
    """The client under the provider's name in the rules; empty where nothing can be uploaded."""
    provider = find_provider(config.provider)
    known = _PROVIDERS.get(provider)
    if known is None or config.url or not key:
        return {}
    if any(os.environ.get(name) for name in known.elsewhere):
        return {}
    try:
        return {provider: known.files(key)}
    except ValueError:  # a key that no header takes
        return {}
