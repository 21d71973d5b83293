"""Which chat model answers for a config: one that the host lends, else one that is connected.

find_lent(config, {"Writer": model, "*": other})        ->  model
choose_model(config, models=None, api_key_for=None)     ->  what `connect_model` makes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governed.secret_forms import long_enough
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.models.connecting import connect_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Models: TypeAlias = (
    "Mapping[str, BaseChatModel] | Callable[[ModelConfig], BaseChatModel | None] | None"
)
"""Chat models by id, name or model of a config, `*` for every other; or a function of the config."""
ApiKeyFor: TypeAlias = "Callable[[ModelConfig], str] | None"


def find_lent(config: ModelConfig, models: Models) -> BaseChatModel | None:
    """The model that the host lends for the config; None where it lends none.

    Raises: `NotConfigured` where the host's function fails, or gives something else.
    """
    if models is None:
        return None
    if isinstance(models, Mapping):
        name = next((one for one in (*config.names, "*") if one in models), None)
        return None if name is None else _require_model(models[name], config)
    problem = ""
    try:
        found = models(config)
    except Exception as error:  # noqa: BLE001 - the host's own code; its words may name a key
        problem = type(error).__name__
    else:
        return None if found is None else _require_model(found, config)
    raise NotConfigured(
        f"the host's models fail with {problem} for the model {config.capability}",
        hint="mend models in its HostParts",
    )


def ask_key(config: ModelConfig, api_key_for: ApiKeyFor) -> str:
    """The key that the host gives for the config; empty where it gives none.

    Raises: `NotConfigured`.
    """
    if api_key_for is None:
        return ""
    problem = ""
    try:
        key = api_key_for(config)
        if not isinstance(key, str):
            problem = f"a {type(key).__name__}, not a string"
        else:
            long_enough("api_key", key)
    except Exception as error:  # noqa: BLE001 - the host's own code; its words may name the key
        problem = problem or type(error).__name__
    if problem:
        raise NotConfigured(
            f"the host's api_key_for gives {problem} for the model {config.capability}",
            hint="mend api_key_for in its HostParts",
        )
    return key


def choose_model(config: ModelConfig, models: Models, key: str) -> BaseChatModel:
    """The model that answers for the config.

    Raises: `NotConfigured`.
    """
    return find_lent(config, models) or connect_model(config, key)


def _require_model(found: object, config: ModelConfig) -> BaseChatModel:
    from langchain_core.language_models import BaseChatModel

    if isinstance(found, BaseChatModel):
        return found
    raise NotConfigured(
        f"the host lends a {type(found).__name__} as the model {config.capability}, and no chat model",
        hint="lend a BaseChatModel of LangChain",
    )
