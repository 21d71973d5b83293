"""The models that a host offers to its bridge; the first answers where nobody prefers another.

    Offer.of([read_model_name("openai:gpt-5-mini"), read_model_name("anthropic:claude-sonnet-4-6")])

The list is also a permission: a flow cannot name a model that the host does not offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.host.bridge.request_body import BridgeBody, PreferredLlm
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.models.clients import (
    PROVIDERS,
    ApiKeyFor,
    Models,
    ask_key,
    choose_model,
    find_key,
    find_lent,
)
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.routes import RouteCall, RouteError

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


# ----------------------------------------------------------------------------
# Which of the host's models answers a request, or why none does.
#
#     choose(offer, body)    ChosenModel(model=…, warning="anthropic is not offered here: …")
#
# * `model_id` names a model of the offer, or the request is refused.
# * A preferred provider that is not offered gives way to the default, with a warning; where a capability
#   is required, the request is refused instead.
# * A required capability is looked for among the models that remain.
#
# Source: the provider dispatch of Cinatra's bridge.


_UNAVAILABLE = 503


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """The model that answers."""

    model: OfferedModel
    capability: str
    """`provider/model`, as usage and errors name it."""
    warning: str = ""
    """Where it is another one than the author prefers."""


def choose(offer: Offer, body: BridgeBody) -> ChosenModel:
    """Raises: `RouteError` 400 `UNKNOWN_MODEL_ID`; 503 with a sentence for whoever runs the flow."""
    wish = body.cinatra_llm or PreferredLlm()
    if not offer.models:
        raise RouteError(
            _UNAVAILABLE,
            "NO_LLM_PROVIDER",
            "No language model is connected. Start the platform with --model provider:model.",
        )
    if body.model_id is not None:
        named = _find_named(offer, body.model_id)
        _require_capability(named, wish, [named])
        return _make_choice(named, wish, body.model_id)
    stand_in = next((one for one in offer.models if one.stands_in), None)
    if stand_in is not None:
        return _make_choice(stand_in, wish, wish.preferred_model)
    return _choose_preferred(offer, wish)


def _choose_preferred(offer: Offer, wish: PreferredLlm) -> ChosenModel:
    of_provider = [one for one in offer.models if one.provider == wish.preferred_provider]
    if wish.preferred_provider is not None and not of_provider:
        if wish.capability_required is not None:
            raise RouteError(
                _UNAVAILABLE,
                "PREFERRED_PROVIDER_UNAVAILABLE",
                f"This agent needs {wish.capability_required} of {wish.preferred_provider}, "
                f"which is not connected. Connect {wish.preferred_provider}, then run it again.",
            )
        default = offer.models[0]
        warning = f"{wish.preferred_provider} is not connected; {_label(default)} answers"
        return _make_choice(default, wish, None, warning)
    allowed = of_provider or list(offer.models)
    able = [one for one in allowed if _has_capability(one, wish)]
    if not able:
        _require_capability(allowed[0], wish, list(offer.models))
    preferred = next((one for one in able if one.name == wish.preferred_model), None)
    if preferred is not None:
        return _make_choice(preferred, wish, None)
    return _make_choice(able[0], wish, None, _warn_of_another(allowed, able[0], wish))


def _warn_of_another(allowed: list[OfferedModel], found: OfferedModel, wish: PreferredLlm) -> str:
    """Why another model answers than the one that the author prefers; empty where none is named."""
    asked = wish.preferred_model
    if not asked:
        return ""
    is_offered = any(one.name == asked for one in allowed)
    why = f"does not do {wish.capability_required}" if is_offered else "is not offered"
    return f"{asked} {why}; {_label(found)} answers"


def _find_named(offer: Offer, model_id: str) -> OfferedModel:
    for one in offer.models:
        if model_id in (one.name, f"{one.provider}/{one.name}", one.config.name) or one.stands_in:
            return one
    names = [one.name for one in offer.models]
    nearest = did_you_mean(model_id, names)
    raise RouteError(
        400,
        "UNKNOWN_MODEL_ID",
        f"model_id is not one of the models of this platform: {', '.join(names)}"
        + (f"; {nearest}" if nearest else ""),
    )


def _has_capability(model: OfferedModel, wish: PreferredLlm) -> bool:
    return wish.capability_required is None or wish.capability_required in model.capabilities


def _require_capability(
    model: OfferedModel, wish: PreferredLlm, offered: list[OfferedModel]
) -> None:
    if _has_capability(model, wish):
        return
    able = [_label(one) for one in offered if _has_capability(one, wish)]
    instead = f" {able[0]} can." if able else " No connected model can."
    raise RouteError(
        _UNAVAILABLE,
        "CAPABILITY_UNSATISFIABLE",
        f"This agent needs {wish.capability_required}, which {_label(model)} does not do.{instead}",
    )


def _make_choice(
    model: OfferedModel, wish: PreferredLlm, name: str | None, warning: str = ""
) -> ChosenModel:
    """name: what a stand-in stands for; None where nobody named it."""
    label = _label(model)
    if model.stands_in and (name or wish.preferred_provider):
        of = f"{wish.preferred_provider}/" if wish.preferred_provider else ""
        label = f"{model.provider}/{of}{name or '*'}"
    return ChosenModel(model=model, capability=label, warning=warning)


def _label(model: OfferedModel) -> str:
    return f"{model.provider}/{model.name}"
