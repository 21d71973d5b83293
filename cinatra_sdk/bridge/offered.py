"""The models that a host offers to its bridge; the first one answers where nobody prefers another.

    Offer.of([read_model_name("openai:gpt-5-mini"), read_model_name("anthropic:claude-sonnet-4-6")])

The list is also the list of what may be asked: a flow cannot name a model that the host does not offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.models.choosing import ApiKeyFor, Models, ask_key, choose_model, find_lent
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.models.connecting import PROVIDERS, find_key
from cinatra_sdk.routed.call import RouteCall

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

PUBLIC_NAMES: Final = {"google_genai": "gemini"}
"""What the contract calls a provider that LangChain calls something else."""
_CAPABILITIES: Final = {
    "openai": frozenset({"function_tools", "native_mcp"}),
    "anthropic": frozenset({"function_tools", "native_mcp"}),
    "gemini": frozenset({"function_tools", "media_input"}),
}
_USUAL: Final = frozenset({"function_tools"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedModel:
    """A chat model, ready to be asked."""

    chat: Any = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedModel:
    """One model of the host."""

    config: ModelConfig
    stands_in: bool = False
    """Whether it answers in place of whatever a flow prefers: a script, or a test's double."""
    lend: Callable[[RouteCall, str | None], BaseChatModel] | None = field(default=None, repr=False)
    """Makes the model for a call and its `agent_id`; None: the host's, or the provider's own."""

    @property
    def provider(self) -> str:
        """As the contract names it: `openai`, `anthropic`, `gemini`, or LangChain's name."""
        name = PROVIDERS.get(self.config.provider.lower(), self.config.provider.lower())
        return PUBLIC_NAMES.get(name, name)

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.config.model

    @property
    def capabilities(self) -> frozenset[str]:
        if self.stands_in:
            return frozenset().union(*_CAPABILITIES.values())
        return _CAPABILITIES.get(self.provider, _USUAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a host offers, the default first."""

    models: tuple[OfferedModel, ...] = ()
    lent: Models = field(default=None, repr=False)
    """Chat models of the host's own, by name, as `HostParts.models`."""
    api_key_for: ApiKeyFor = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        configs: Iterable[ModelConfig | OfferedModel],
        *,
        lent: Models = None,
        api_key_for: ApiKeyFor = None,
    ) -> Offer:
        models = (
            one if isinstance(one, OfferedModel) else OfferedModel(config=one) for one in configs
        )
        return cls(models=tuple(models), lent=lent, api_key_for=api_key_for)

    def find_key(self, model: OfferedModel) -> str:
        """The key under which the model is asked; empty where the host's own model has it."""
        return ask_key(model.config, self.api_key_for) or find_key(model.config)

    def is_lent(self, model: OfferedModel) -> bool:
        """Whether the host's own chat model answers, whose provider and key nobody here knows."""
        return model.lend is not None or find_lent(model.config, self.lent) is not None

    def connect(self, model: OfferedModel, call: RouteCall, agent_id: str | None) -> OpenedModel:
        """The chat model itself, and what no error may show.  Raises: `NotConfigured`."""
        own = "" if model.lend is not None else ask_key(model.config, self.api_key_for)
        chat = (
            choose_model(model.config, self.lent, own)
            if model.lend is None
            else model.lend(call, agent_id)
        )
        secrets = (*model.config.secrets, own, find_key(model.config))
        return OpenedModel(chat=chat, secrets=tuple(one for one in secrets if one))


def read_model_name(text: str) -> ModelConfig:
    """The config of `provider:model`.

    Raises: `ValueError`, which says what a name looks like.
    """
    provider, colon, model = text.partition(":")
    if not colon or not provider.strip() or not model.strip():
        raise ValueError(
            f'a model is named "provider:model", such as openai:gpt-5-mini, not "{text[:80]}"'
        )
    if provider.lower() not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise ValueError(f'there is no provider "{provider[:80]}"; known are {known}')
    return ModelConfig(type="LlmConfig", name=text, provider=provider.lower(), model=model)
