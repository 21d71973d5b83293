"""A language model as a flow file names it, ready to be connected.

    ModelConfig(type="OpenAiConfig", name="Writer", provider="openai", model="gpt-5",
                parameters={"temperature": 0.2})

Source: Agent Spec, LlmConfig and its subtypes; read from the file by the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from cinatra_sdk.values.json_text import JsonValue
from cinatra_sdk.values.retry_policy import CallRetryPolicy


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
