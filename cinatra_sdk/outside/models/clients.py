"""A `ModelConfig` in, a LangChain chat model out: the only module that names providers' packages.

    connect_model(ModelConfig(type="OpenAiConfig", provider="openai", model="gpt-5"))

`init_chat_model` of the package `langchain` makes the model; each provider is an extra of oasflow.

Keys: the provider's variable of the environment is for the provider's address alone.  For a file that names
another address, the key comes from the file, or from the host for this config.  Otherwise the author of the
file could have the provider's key sent to any server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governed.secret_values import long_enough
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.models.config import ModelConfig

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


NO_KEY: Final = "none"
"""Sent where a server wants no key: the client of OpenAI does not start without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    extra: str
    """The extra of oasflow that installs it."""
    package: str
    url: str = ""
    """The argument that takes an address; empty: it has only its own."""
    key: str = ""
    """The argument that takes a key; empty: it has none."""
    variable: str = ""
    """The variable of the environment that holds its key."""
    known: Mapping[str, str]
    """Generation parameter → the argument that takes it."""
    others: str = ""
    """The argument that takes generation parameters that are not known; empty: refused."""


_USUAL: Final = {"temperature": "temperature", "max_tokens": "max_tokens", "top_p": "top_p"}
_OPENAI: Final = {
    **_USUAL,
    **{
        name: name
        for name in ("presence_penalty", "frequency_penalty", "seed", "logprobs", "top_logprobs")
    },
    "stop": "stop_sequences",
    "reasoning_effort": "reasoning_effort",
}
_PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(
        extra="openai",
        package="langchain_openai",
        url="base_url",
        key="api_key",
        variable="OPENAI_API_KEY",
        known=_OPENAI,
        others="extra_body",
    ),
    "anthropic": _Provider(
        extra="anthropic",
        package="langchain_anthropic",
        url="base_url",
        key="api_key",
        variable="ANTHROPIC_API_KEY",
        known={**_USUAL, "top_k": "top_k", "stop": "stop_sequences"},
    ),
    "google_genai": _Provider(
        extra="google",
        package="langchain_google_genai",
        key="api_key",
        variable="GOOGLE_API_KEY",
        known={"temperature": "temperature", "max_tokens": "max_output_tokens", "top_p": "top_p",
               "top_k": "top_k"},
    ),
    "ollama": _Provider(
        extra="ollama",
        package="langchain_ollama",
        url="base_url",
        known={"temperature": "temperature", "max_tokens": "num_predict", "top_p": "top_p",
               "top_k": "top_k", "seed": "seed", "stop": "stop", "num_ctx": "num_ctx",
               "repeat_penalty": "repeat_penalty"},
    ),
    "bedrock_converse": _Provider(
        extra="bedrock",
        package="langchain_aws",
        known={**_USUAL, "stop": "stop_sequences"},
        others="additional_model_request_fields",
    ),
}  # fmt: skip
PROVIDERS: Final[Mapping[str, str]] = {
    **{name: name for name in _PROVIDERS},
    "google": "google_genai", "gemini": "google_genai", "bedrock": "bedrock_converse",
    "aws": "bedrock_converse", "aws_bedrock": "bedrock_converse", "vllm": "openai",
    "openai_compatible": "openai", "openai-compatible": "openai",
}  # fmt: skip
"""What files call a provider → LangChain's provider."""
_COMPATIBLE: Final = frozenset({"OpenAiCompatibleConfig", "VllmConfig"})
_REFUSED: Final[Mapping[str, str]] = {
    "OciGenAiConfig": "it needs Oracle's own client and its credentials",
    "DbmsVectorChainLlmConfig": "the model is asked inside an Oracle database",
    "GeminiVertexAIAuthConfig": "it needs Google Cloud credentials",
}
_TRANSPORT: Final = re.compile(
    r"(?i)^(extra_|default_)|key|url|header|client|proxy|base|host|endpoint|token_provider|credential"
)
"""Names of parameters that would steer the request instead of the answer."""


def find_key(config: ModelConfig) -> str:
    """The key in the file, else that of the environment where the file names no address."""
    if config.api_key or config.url:
        return config.api_key
    variable = find_key_variable(config)
    return os.environ.get(variable, "") if variable else ""


def find_key_variable(config: ModelConfig) -> str:
    """The variable of the environment with the key, where the file has none; empty: there is none."""
    provider = _PROVIDERS.get(PROVIDERS.get(config.provider.lower(), ""))
    return "" if provider is None or config.url else provider.variable


def connect_model(config: ModelConfig, api_key: str = "") -> BaseChatModel:
    """The chat model of a config.

    api_key: the host's; empty: what `find_key` finds.

    Raises: `NotConfigured`, which names the extra to install or the part to lend.
    """
    name, provider = _find_provider(config)
    arguments: dict[str, Any] = {
        **_read_parameters(config, provider),
        **_make_connection(config, provider, api_key or find_key(config)),
        **_bound_attempts(config, name),
    }
    init_chat_model = _import_langchain(config, provider)
    problem = ""
    try:
        model: BaseChatModel = init_chat_model(config.model, model_provider=name, **arguments)
    except Exception as error:  # noqa: BLE001 - a provider's own code; its text may hold the key
        problem = _describe_refusal(provider, error)
    else:
        return model
    raise NotConfigured(f"{_label(config)} cannot be connected: {problem}", hint=_hint(provider))


def _find_provider(config: ModelConfig) -> tuple[str, _Provider]:
    why = _REFUSED.get(config.type) or _REFUSED.get(str(config.settings.get("auth_type", "")))
    if why:
        raise NotConfigured(
            f"{_label(config)} is not connected by oasflow: {why}",
            hint="lend a chat model for it: HostParts(models={…})",
        )
    wanted = config.provider.lower()
    name = PROVIDERS.get(wanted, "")
    if not name:
        raise NotConfigured(
            f'{_label(config)} names the provider "{config.provider[:80]}", '
            f"and known are {', '.join(sorted(PROVIDERS))}",
            hint="correct it, or lend a chat model for it: HostParts(models={…})",
        )
    return name, _PROVIDERS[name]


def _import_langchain(config: ModelConfig, provider: _Provider) -> Any:
    try:
        import_module(provider.package)
        found = import_module("langchain.chat_models")
    except ImportError as error:
        missing = error.name or provider.package
    else:
        return found.init_chat_model
    raise NotConfigured(
        f"{_label(config)} needs the package {missing}, which is not installed",
        hint=f"pip install 'oasflow[{provider.extra}]'",
    )


def _read_parameters(config: ModelConfig, provider: _Provider) -> dict[str, Any]:
    """The generation parameters as arguments; unknown ones go into the body of the request."""
    arguments: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in config.parameters.items():
        if value is None:
            continue
        # A server that speaks the older protocol knows only this name for the bound.
        if name == "max_tokens" and config.type in _COMPATIBLE:
            others[name] = value
        elif name in provider.known:
            arguments[provider.known[name]] = value
        elif not provider.others or _TRANSPORT.search(name):
            raise NotConfigured(
                f'{_label(config)} has the generation parameter "{name[:80]}", which is not taken',
                hint=f"known are {', '.join(sorted(provider.known))}",
            )
        else:
            others[name] = value
    if others:
        arguments[provider.others] = others
    return arguments


def _make_connection(config: ModelConfig, provider: _Provider, key: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if config.url:
        if not provider.url:
            raise NotConfigured(
                f"{_label(config)} names an address, which its provider does not take",
                hint="leave out url, or lend a chat model for it: HostParts(models={…})",
            )
        arguments[provider.url] = read_address(config)
        if provider.extra == "openai":
            arguments["stream_usage"] = True
    if provider.key and (key or config.url):
        # With an address of the file's own, the provider's variable must not be read: see above.
        arguments[provider.key] = key or NO_KEY
    if provider.extra == "openai" and config.api_type == "responses":
        arguments["use_responses_api"] = True
    region = config.settings.get("region")
    if provider.extra == "bedrock" and isinstance(region, str):
        arguments["region_name"] = region
    return arguments


def read_address(config: ModelConfig) -> str:
    """The address as the provider's client wants it.

    Agent Spec's SDK takes `host:8000` and `http://host:8000` for servers whose protocol is below `/v1`.
    """
    url = config.url.rstrip("/")
    url = url if "://" in url else f"http://{url}"
    name = PROVIDERS.get(config.provider.lower(), "")
    if name == "ollama":
        return url.removesuffix("/v1")
    if name == "openai" and url.count("/") == 2:
        return f"{url}/v1"
    return url


def _bound_attempts(config: ModelConfig, name: str) -> dict[str, Any]:
    """One attempt for each call: this project counts and spaces them itself."""
    seconds = config.retry.request_timeout
    match name:
        case "ollama":
            return {} if seconds is None else {"client_kwargs": {"timeout": seconds}}
        case "bedrock_converse":
            return {}
        case "google_genai":
            return {"max_retries": 1} | ({} if seconds is None else {"timeout": seconds})
    return {"max_retries": 0} | ({} if seconds is None else {"timeout": seconds})


def _describe_refusal(provider: _Provider, error: Exception) -> str:
    """Never its words: a client's error may quote what it was given."""
    if provider.variable and provider.variable.lower() in str(error).lower():
        return f"it has no key ({provider.variable} is not set)"
    return f"its client raises {type(error).__name__}"


def _hint(provider: _Provider) -> str:
    if provider.variable:
        return f"set {provider.variable}, or give HostParts(api_key_for=…)"
    return "lend a chat model for it: HostParts(models={…})"


def _label(config: ModelConfig) -> str:
    return f'the {config.type} "{config.name or config.id or config.model}"'


# ----------------------------------------------------------------------------
# Which chat model answers for a config: one that the host lends, else one that is connected.
#
# find_lent(config, {"Writer": model, "*": other})        ->  model
# choose_model(config, models=None, api_key_for=None)     ->  what `connect_model` makes


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
