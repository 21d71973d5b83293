"""An LlmConfig as Agent Spec writes it -> the `ModelConfig` that is connected.

{"component_type": "VllmConfig", "model_id": "llama", "url": "http://host:8000"}
    ->  ModelConfig(type="VllmConfig", provider="vllm", model="llama", url=…)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.values.json_text import Json
from cinatra_sdk.values.retry_policy import CallRetryPolicy, read_retry_policy
from cinatra_sdk.values.sensitive import read_name

_PROVIDERS: Final = {
    "OpenAiConfig": "openai",
    "OpenAiCompatibleConfig": "openai_compatible",
    "VllmConfig": "vllm",
    "OllamaConfig": "ollama",
    "GeminiConfig": "google_genai",
    "OciGenAiConfig": "oci",
}
"""Component types that name their provider."""
_NO_SECRETS: Final[Mapping[str, Any]] = {}
_SETTINGS: Final = ("region", "compartment_id")
_T = TypeVar("_T")


def read_model_config(
    llm_config: Json, secrets: Mapping[str, Any] | None = _NO_SECRETS
) -> ModelConfig:
    """The config; secrets: the host's values of sensitive fields.  A key without a value there is
    looked for in the environment.  What the file says wrongly was found when it was checked, and counts as absent.
    """
    fields = llm_config.mapping()
    kind = _read(fields, "component_type", str, "LlmConfig")
    named = _read(fields, "api_provider", str, "") or _read(fields, "provider", str, "")
    auth: dict[str, Any] = _read(fields, "auth", dict, {})
    return ModelConfig(
        type=kind,
        id=_read(fields, "id", str, ""),
        name=_read(fields, "name", str, ""),
        provider=_PROVIDERS.get(kind) or named,
        model=_read(fields, "model_id", str, ""),
        url=_read(fields, "url", str, ""),
        api_type=_read(fields, "api_type", str, ""),
        parameters=_read(fields, "default_generation_parameters", dict, {}),
        retry=read_retry_policy(fields.get("retry_policy"))[0] or CallRetryPolicy(),
        api_key=_read_key(fields, secrets or {}) or _read_key(auth, secrets or {}),
        settings={
            "auth_type": _read(auth, "component_type", str, ""),
            **{name: fields[name] for name in _SETTINGS if name in fields},
        },
    )


def _read_key(fields: Mapping[str, Any], secrets: Mapping[str, Any]) -> str:
    """A key that stands there, or that the host lends; the name of a placeholder is none."""
    key = fields.get("api_key")
    name = read_name(key)
    if name:
        key = secrets.get(name)
    return key if isinstance(key, str) and "{{" not in key else ""


def _read(fields: Mapping[str, Any], name: str, kind: Any, usual: _T) -> _T:
    value = fields.get(name)
    if isinstance(value, bool) and kind is not bool:
        return usual
    return value if isinstance(value, kind) else usual
