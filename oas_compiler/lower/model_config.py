"""The `llm_config` of a node in the IR -> the `ModelConfig` that the SDK connects.

{"component_type": "VllmConfig", "model_id": "llama", "url": "http://host:8000"}
    ->  ModelConfig(type="VllmConfig", provider="vllm", model="llama", url=…)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from cinatra_sdk.models.config import JITTERS, ModelConfig, RetryRules
from oas_compiler.ir import Json

_PROVIDERS: Final = {
    "OpenAiConfig": "openai",
    "OpenAiCompatibleConfig": "openai_compatible",
    "VllmConfig": "vllm",
    "OllamaConfig": "ollama",
    "GeminiConfig": "google_genai",
    "OciGenAiConfig": "oci",
}
"""Component types that name their provider."""
_SETTINGS: Final = ("region", "compartment_id")
_T = TypeVar("_T")


def read_model_config(llm_config: Json) -> ModelConfig:
    """The config; what the file says wrongly was found when it was checked, and counts as absent."""
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
        retry=read_retry_rules(_read(fields, "retry_policy", dict, {})),
        api_key=_read_key(fields) or _read_key(auth),
        settings={
            "auth_type": _read(auth, "component_type", str, ""),
            **{name: fields[name] for name in _SETTINGS if name in fields},
        },
    )


def read_retry_rules(fields: Mapping[str, Any]) -> RetryRules:
    """A RetryPolicy; a value of the wrong kind counts as absent."""
    usual = RetryRules()
    timeout = _read(fields, "request_timeout", (int, float), 0)
    jitter = fields.get("jitter", usual.jitter) or ""
    statuses = fields.get("recoverable_statuses")
    return RetryRules(
        max_attempts=max(0, _read(fields, "max_attempts", int, usual.max_attempts)),
        request_timeout=float(timeout) if timeout > 0 else None,
        initial_retry_delay=_read_seconds(fields, "initial_retry_delay", usual.initial_retry_delay),
        max_retry_delay=_read_seconds(fields, "max_retry_delay", usual.max_retry_delay),
        backoff_factor=_read_seconds(fields, "backoff_factor", usual.backoff_factor),
        jitter=jitter if jitter in JITTERS else usual.jitter,
        service_error_retry_on_any_5xx=_read(
            fields, "service_error_retry_on_any_5xx", bool, usual.service_error_retry_on_any_5xx
        ),
        recoverable_statuses=_read_statuses(statuses)
        if isinstance(statuses, dict)
        else usual.recoverable_statuses,
    )


def _read_statuses(statuses: Mapping[str, Any]) -> dict[int, tuple[str, ...]]:
    return {
        int(status): tuple(str(code) for code in codes) if isinstance(codes, list) else ()
        for status, codes in statuses.items()
        if status.isdecimal()
    }


def _read_key(fields: Mapping[str, Any]) -> str:
    """A key that stands there; a reference, or the name of a placeholder, is none."""
    key = fields.get("api_key")
    return key if isinstance(key, str) and "{{" not in key else ""


def _read_seconds(fields: Mapping[str, Any], name: str, usual: float) -> float:
    return max(0.0, float(_read(fields, name, (int, float), usual)))


def _read(fields: Mapping[str, Any], name: str, kind: Any, usual: _T) -> _T:
    value = fields.get(name)
    if isinstance(value, bool) and kind is not bool:
        return usual
    return value if isinstance(value, kind) else usual
