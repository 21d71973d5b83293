"""The fields of the language models that a file may configure.

Source: Agent Spec, LlmConfig and its subtypes; of a DbmsVectorChainLlmConfig nothing is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.component.fields import COMPONENT_FIELDS, Field
from oas_compiler.ir import JsonValue


def _names_file(value: JsonValue) -> bool:
    """Whether a certificate is named; a reference is what SDKs export in its place."""
    return isinstance(value, str) and bool(value)


_LLM: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    "model_id": Field("text", "The provider's name of the model.", required=True),
    "provider": Field("text", "Who made the model."),
    "api_provider": Field("text", "Who serves the model: `openai`, `anthropic`, `ollama`."),
    "api_type": Field("text", "The protocol: `chat_completions` or `responses`."),
    "url": Field("text", "Address of the server."),
    "api_key": Field("text", "The key; better left out, so that the host gives it."),
    "default_generation_parameters": Field(
        "object", "How answers are made: `temperature`, `max_tokens`, `top_p` and others."
    ),
    "retry_policy": Field("object", "How a question that failed is asked again."),
}
_COMPATIBLE: Final[Mapping[str, Field]] = {
    **_LLM,
    "url": Field("text", "Address of the server.", required=True),
    **{
        name: Field("text", words, is_read=False, refused=_names_file)
        for name, words in (
            ("key_file", "File of the client's private key."),
            ("cert_file", "File of the client's certificate."),
            ("ca_file", "File of the authorities that are trusted."),
        )
    },
}
MODEL_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    "LlmConfig": _LLM,
    "OpenAiConfig": _LLM,
    "OpenAiCompatibleConfig": _COMPATIBLE,
    "VllmConfig": _COMPATIBLE,
    "OllamaConfig": _COMPATIBLE,
    "GeminiConfig": {
        **_LLM,
        "auth": Field("component", "How the provider knows the caller.", required=True),
    },
    "OciGenAiConfig": {
        **_LLM,
        "compartment_id": Field("text", "The compartment of the model.", required=True),
        "serving_mode": Field("text", "`ON_DEMAND` or `DEDICATED`."),
        "client_config": Field("component", "How the client reaches the cloud.", required=True),
        "conversation_store_id": Field("text", "Where conversations are kept."),
    },
}
"""By component type."""
MODEL_TYPES: Final = frozenset({*MODEL_FIELDS, "DbmsVectorChainLlmConfig"})
"""What an LlmNode may ask."""
MODEL_WORDS: Final[Mapping[str, str]] = {
    "LlmConfig": "A language model of any provider.",
    "OpenAiConfig": "A model of OpenAI.",
    "OpenAiCompatibleConfig": "A model behind a server that speaks OpenAI's protocol.",
    "VllmConfig": "A model that vLLM serves.",
    "OllamaConfig": "A model that Ollama serves.",
    "GeminiConfig": "A model of Google.",
    "OciGenAiConfig": "A model in Oracle's cloud; a host has to lend it.",
}
