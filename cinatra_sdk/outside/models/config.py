"""A language model as a flow file names it, ready to be connected.

    ModelConfig(type="OpenAiConfig", name="Writer", provider="openai", model="gpt-5",
                parameters={"temperature": 0.2})

Source: Agent Spec, LlmConfig and its subtypes; read from the file by the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from cinatra_sdk.data.author_json import Json, JsonValue
from cinatra_sdk.data.retry_policy import CallRetryPolicy, read_retry_policy
from cinatra_sdk.data.sensitive_fields import read_name
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelConfig:
    """One LlmConfig of a file; prints neither its key nor a password of its address."""

    type: str
    """Its component type: `OpenAiConfig`."""
    id: str = ""
    name: str = ""
    provider: str = ""
    """The provider as LangChain names it (`openai`, `google_genai`), or as the file does."""
    model: str
    """The provider's name of the model."""
    url: str = field(default="", repr=False)
    """Address of the server, where the file names one."""
    api_type: str = ""
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    """`default_generation_parameters`, as written."""
    retry: CallRetryPolicy = field(default_factory=CallRetryPolicy)
    api_key: str = field(default="", repr=False)
    """A key that stands in the file; empty where it only names one."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    """Other fields that a provider needs: certificates, a project, a location."""

    def __post_init__(self) -> None:
        for name in ("parameters", "settings"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def capability(self) -> str:
        """What an effect of the model is called: `openai/gpt-5`, without address and key."""
        return f"{self.provider or self.type}/{self.model}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which a host may lend the model, the closest first."""
        return tuple(dict.fromkeys(one for one in (self.id, self.name, self.model) if one))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown: the key, and the password of the address."""
        return tuple(one for one in (self.api_key, _read_password(self.url)) if one)

    @property
    def origin(self) -> str:
        """Scheme, host and port of the address; empty where the file names none."""
        if not self.url:
            return ""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def _read_password(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""


# ----------------------------------------------------------------------------
# An LlmConfig as Agent Spec writes it -> the `ModelConfig` that is connected.
#
# `{"component_type": "VllmConfig", "model_id": "llama", "url": "http://host:8000"}`
#     ->  ModelConfig(type="VllmConfig", provider="vllm", model="llama", url=…)


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
