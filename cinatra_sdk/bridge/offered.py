"""The models that a host offers to its bridge; the first one answers where nobody prefers another.

    Offer.of([read_model_name("openai:gpt-5-mini"), read_model_name("anthropic:claude-sonnet-4-6")])

The list is also the list of what may be asked: a flow cannot name a model that the host does not offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.models.choosing import ApiKeyFor, Models, ask_key, choose_model
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

    def connect(self, model: OfferedModel, call: RouteCall, agent_id: str | None) -> Any:
        """The chat model itself.  Raises: `NotConfigured`."""
        if model.lend is not None:
            return model.lend(call, agent_id)
        return choose_model(model.config, self.lent, ask_key(model.config, self.api_key_for))

    def secrets(self, model: OfferedModel) -> tuple[str, ...]:
        """What no error may show."""
        return tuple(one for one in (*model.config.secrets, find_key(model.config)) if one)


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
